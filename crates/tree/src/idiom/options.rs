//! Options for how groups are marked.

/// How groups of members are marked in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idiom {
    /// Cacheline group markers, and in kernel trees a function run at startup that asserts their members.
    Groups,
    /// A comment above each group, and ____cacheline_aligned where that costs no byte (in kernel trees).
    Plain,
    /// Not at all: members move, and nothing is added.
    None,
}

/// Which groups are aligned to the cacheline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignGroups {
    /// Those the plan aligns.
    Plan,
    /// None.
    None,
    /// All that it costs nothing, where a cacheline has so many bytes.
    Where(u64),
}

/// Another name for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupName {
    /// The word that the plan calls it by.
    pub from: String,
    /// The word that stands for it.
    pub to: String,
}

/// A function that checks are called from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckIn {
    /// From the top of the tree.
    pub file: String,
    /// Its name.
    pub function: String,
}

/// How groups are marked.
#[derive(Clone, Debug)]
pub struct IdiomOptions {
    /// How groups of members are marked; if not given, comments in kernel trees, or groups where one must be aligned so that
    /// it stays on its lines in a build that was judged; else none.
    pub idiom: Option<Idiom>,
    /// Which groups [`Idiom::Groups`] aligns to the cacheline.
    pub align_groups: AlignGroups,
    /// Other names of groups than the plan's.
    pub group_names: Vec<GroupName>,
    /// The function that calls the checks of groups.
    pub check_in: Option<CheckIn>,
}
