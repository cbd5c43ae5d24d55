//! What the source says of members, and what a user asks for.

/// What the source text says about a member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Members with equal numbers are one declaration (`u64 a, b;`) and move together if they are neighbours.
    pub unit: Option<u32>,
    /// Path of `#if` conditions around it, as a number; equal paths have equal numbers.
    pub guard: Option<u32>,
    /// Stretch of the text it may not leave, such as between `randomized_struct_fields_start` and `_end`.
    pub region: Option<u32>,
    /// Why its text can't be moved, if so.
    pub stuck: Option<String>,
}

/// A member and why it is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Declared index.
    pub member: usize,
    /// Where the wish comes from, for reports: a comment in the source, a line of the user's file.
    pub reason: String,
}

/// What is asked for beyond what the layout itself demands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// One for each declared member, or none if there is no source.
    pub notes: Vec<Note>,
    /// Members that come first, in this order.
    pub first: Vec<Pin>,
    /// Members that come last, in this order (before a flexible array).
    pub last: Vec<Pin>,
    /// Members that keep their offset.
    pub keep: Vec<Pin>,
    /// Members that neither move nor are passed: they end a range of bytes that the program copies or clears.
    pub held: Vec<Pin>,
    /// What is asked of cachelines.
    pub lines: Vec<LineWish>,
    /// Whether code asserts something about the struct's size.
    pub is_sized: bool,
}

/// What a wish asks of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// They lie on one cacheline, all their bytes.
    Same,
    /// No two of them have bytes on one cacheline.
    Apart,
    /// Nothing stands between them, and they take no more cachelines than their bytes need.
    Group,
}

/// A wish about members and cachelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineWish {
    /// What is asked.
    pub kind: LineKind,
    /// Declared indices.
    pub members: Vec<usize>,
    /// The wish and where it comes from, for reports.
    pub reason: String,
}

impl Wishes {
    /// Every member a wish names.
    pub(super) fn named(&self) -> impl Iterator<Item = usize> {
        let pins = self.first.iter().chain(&self.last).chain(&self.keep).chain(&self.held);
        let lines = self.lines.iter().flat_map(|wish| &wish.members);
        pins.map(|pin| pin.member).chain(lines.copied())
    }
}
