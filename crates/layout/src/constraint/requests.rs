//! Notes of the source on members, and requests of a user.

/// A member as the source text has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberNote {
    /// Members with equal numbers are one declaration (`u64 a, b;`) and move together if they are neighbours.
    pub unit: Option<u32>,
    /// Path of `#if` conditions around it, as a number; equal paths have equal numbers.
    pub guard: Option<u32>,
    /// Stretch of the text it may not leave, such as between `randomized_struct_fields_start` and `_end`.
    pub region: Option<u32>,
    /// Number of its paragraph: declarations below one another, without a blank line or a comment of its own lines
    /// between them.
    pub paragraph: Option<u32>,
    /// Whether a comment of its own lines heads the paragraph.
    pub is_under_comment: bool,
    /// Why its text can't be moved, if so.
    pub immovable: Option<String>,
}

/// A member and why it is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedMember {
    /// Declared index.
    pub member: usize,
    /// Where the request comes from, for reports: a comment in the source, a line of the user's file.
    pub reason: String,
}

/// Members that move as one: those between the first and the last too, in declared order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberRun {
    /// Declared index of the first.
    pub first: usize,
    /// Declared index of the last.
    pub last: usize,
    /// The code that demands it, for reports.
    pub reason: String,
}

/// Requests beyond what the layout itself demands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementRequests {
    /// One for each declared member, or none if there is no source.
    pub notes: Vec<MemberNote>,
    /// Members that come first, in this order.
    pub first: Vec<PinnedMember>,
    /// Members that come last, in this order (before a flexible array).
    pub last: Vec<PinnedMember>,
    /// Members that keep their offset.
    pub keep: Vec<PinnedMember>,
    /// Members that neither move nor are passed: they end a range of bytes that the program copies or clears.
    pub fixed: Vec<PinnedMember>,
    /// Members that code walks through one after the other.
    pub runs: Vec<MemberRun>,
    /// Members that keep their order among each other, and among those whose text can't be moved.
    pub ordered: Vec<PinnedMember>,
    /// Requests about cachelines.
    pub line_requests: Vec<CachelineRequest>,
    /// Configurations that lack some members: one for each condition of the declaration.
    pub configurations: Vec<SmallerConfiguration>,
    /// Whether code asserts something about the struct's size.
    pub size_is_asserted: bool,
    /// Whether code takes the struct's size for a number: orders of other sizes break it.
    pub size_is_kept: bool,
    /// Whether an order is wanted even if something beside the program knows the layout: if the struct is packed, or
    /// part of a user interface.
    pub is_shared_allowed: bool,
}

/// A configuration that lacks some of the members: in it, no order may take more bytes than the declared one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallerConfiguration {
    /// Its name in results, such as `without CONFIG_X`.
    pub name: String,
    /// Declared indices of the members that it lacks, in declared order.
    pub absent: Vec<usize>,
}

/// Kinds of [`CachelineRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachelineRequestKind {
    /// They lie on one cacheline, all their bytes.
    Same,
    /// No two of them have bytes on one cacheline.
    Separate,
    /// Nothing stands between them, and they take no more cachelines than their bytes need.
    Group,
}

/// A request about members and cachelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachelineRequest {
    /// Its kind.
    pub kind: CachelineRequestKind,
    /// Declared indices.
    pub members: Vec<usize>,
    /// The request and where it comes from, for reports.
    pub reason: String,
}

impl PlacementRequests {
    /// Every member that a request names.
    pub(super) fn requested_members(&self) -> impl Iterator<Item = usize> {
        let pins =
            self.first.iter().chain(&self.last).chain(&self.keep).chain(&self.fixed).chain(&self.ordered);
        let lines = self.line_requests.iter().flat_map(|request| &request.members);
        let runs = self.runs.iter().map(|run| run.last);
        pins.map(|pin| pin.member).chain(lines.copied()).chain(runs)
    }
}
