//! The cost of orders in human-readable figures, the groups on their lines, and notes on other builds.

use fieldline_layout::slab_class;
use serde::{Deserialize, Serialize};

/// An order to choose from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Members that move among the others.
    pub moved: usize,
    /// Places where neighbours stand under different `#if` conditions, beyond those of the declared order.
    #[serde(default)]
    pub split_blocks: usize,
    /// Declared neighbours that belong together (by name, comment, or as flags) and are neighbours no more.
    #[serde(default)]
    pub parted: usize,
    /// Shares of the best order's gain that it keeps, by line size of the recorded layout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptGain>,
    /// Its marks among the candidates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Lines that visits touch.
    pub forecasts: Vec<Forecast>,
    /// Sizes of the struct.
    pub sizes: Vec<SizeForecast>,
    /// Lines a visit loses to other CPUs because members share them, on the recorded machine.
    pub coherence: BeforeAfter,
    /// Declared indices of members by offset.
    pub order: Vec<usize>,
    /// The terms of the cost of the declared order and of this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
}

/// Shares of the best order's gain that another order keeps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptGain {
    /// Line size in bytes by which lines are counted.
    pub line: u64,
    /// Of the gain in lines per visit.
    pub lines: f64,
    /// Of the gain in lines where each visit counts as often as it misses the CPU's own caches.
    pub misses: f64,
}

/// A part of the cost by which orders are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The kind of cost.
    pub kind: TermKind,
    /// Line size in bytes by which lines are counted, of both lines of a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Line size in bytes that the struct is compiled for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_line: Option<u64>,
    /// Its cost in the declared order. All terms of an order sum up to what the search compares.
    pub cost_before: u64,
    /// Its cost in this order.
    pub cost_after: u64,
    /// How much there is of it: lines per visit, bytes, or pairs of neighbours.
    pub amount: BeforeAfter,
}

/// The kind of cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermKind {
    /// Lines that visits touch.
    Lines,
    /// Lines lost to other CPUs because members share them.
    Coherence,
    /// Pairs of adjacent lines that visits touch.
    LinePairs,
    /// Pairs of adjacent lines lost to other CPUs.
    PairCoherence,
    /// Bytes of the struct.
    Size,
    /// Bytes that no member fills; they cost as part of the size.
    Padding,
    /// Neighbours that aren't neighbours in the declared order.
    #[serde(rename = "seams")]
    Reordered,
    /// Neighbours under different `#if` conditions.
    Guards,
}

/// A candidate's mark among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// From here on each further moved member brings less than the mean (the knee of the front).
    Smallest,
    /// The least to read among those that keep most of what the best one gains.
    Recommended,
    /// No known order costs less.
    Best,
    /// The one the plan proposes.
    Chosen,
}

/// Lines a visit touches on average, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The build, if not the recorded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Line size in bytes by which lines are counted.
    pub line: u64,
    /// Line size in bytes that the struct is compiled for: alignments to the line follow it.
    pub build_line: u64,
    /// In visits of functions that run together.
    pub together: BeforeAfter,
    /// In visits as if each function ran alone.
    pub alone: BeforeAfter,
    /// No order touches fewer lines in the visits of `together`.
    pub bound: f64,
}

/// Lines that visits of a cohort touch, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CohortForecast {
    /// The cohort.
    pub cohort: String,
    /// Samples of the struct in it.
    pub samples: u64,
    /// Samples that judging by it needs.
    pub needed: u64,
    /// Whether the chosen order is worse than the declared one in some forecast, or in lines lost to other CPUs.
    pub is_worse: bool,
    /// Lines by line size and build; their bounds are 0, since no search was made for the cohort.
    pub forecasts: Vec<Forecast>,
    /// Lines a visit loses to other CPUs because members share them, on the recorded machine.
    pub coherence: BeforeAfter,
}

/// A number before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BeforeAfter {
    /// In the declared layout.
    pub before: f64,
    /// In the chosen one.
    pub after: f64,
}

impl BeforeAfter {
    /// Two numbers rounded to so many parts of one.
    pub(crate) fn round_to(before: f64, after: f64, parts: f64) -> Self {
        Self { before: rounded(before, parts), after: rounded(after, parts) }
    }
}

/// Size of the struct for one line size, before and after, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeForecast {
    /// The build, if not the recorded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Line size in bytes that the struct is compiled for.
    pub build_line: u64,
    /// In the declared layout.
    pub before: u64,
    /// In the chosen one.
    pub after: u64,
    /// Bytes the kernel's allocator takes for the declared layout.
    #[serde(default)]
    pub slab_before: u64,
    /// Bytes it takes for the chosen one.
    #[serde(default)]
    pub slab_after: u64,
}

impl SizeForecast {
    /// With the slab classes of both sizes.
    pub(crate) fn new(build: Option<String>, build_line: u64, before: u64, after: u64) -> Self {
        let (slab_before, slab_after) = (slab_class(before), slab_class(after));
        Self { build, build_line, before, after, slab_before, slab_after }
    }
}

/// Members meant to share a cacheline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// How it is used.
    pub kind: GroupKind,
    /// Declared indices by offset.
    pub members: Vec<usize>,
    /// Bytes from its first member to the end of its last.
    pub bytes: u64,
    /// Offset in bytes of its first member.
    pub first_offset: u64,
    /// Share of the visits that touch it.
    pub visits: f64,
    /// Share of stores among its accesses.
    pub stores: f64,
    /// Share of the struct's accesses.
    #[serde(default)]
    pub share: f64,
    /// Share of the visits that touch it which touch several of its members.
    #[serde(default)]
    pub together: f64,
    /// Whether a member came to it that was declared on another line than some other one.
    #[serde(default)]
    pub gathered: bool,
    /// Its purpose: a word that most of its accesses have in their functions' names, and others less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Functions with most of its accesses, each with its share of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<(String, f64)>,
    /// Other builds for lines of the same size in which it lies on more lines than in the recorded one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drifts: Vec<String>,
    /// Whether the source should align it.
    pub alignment: GroupAlignment,
    /// Why.
    pub why: String,
    /// Padding that aligning it costs; empty for a cold group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub padding: Vec<Padding>,
}

/// How a group is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// Touched often and mostly read.
    HotReadMostly,
    /// Touched often and written.
    HotWritten,
    /// Hardly touched.
    Cold,
}

/// How the source should align a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupAlignment {
    /// Not at all.
    None,
    /// To the cacheline (`__cacheline_group_begin_aligned`).
    Aligned,
    /// To the cacheline where that has as many bytes as the recorded machine's.
    Conditional,
}

/// Bytes the struct grows by if a group is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Padding {
    /// Line size in bytes it is compiled for.
    pub line: u64,
    /// If it is aligned on all machines.
    pub aligned: u64,
    /// If it is aligned only where a line is as long as the recorded machine's.
    pub conditional: u64,
}

/// Whether orders were judged in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildJudged {
    /// They were.
    Yes,
    /// It places every order like a build that is judged, so its figures are the same.
    #[serde(rename = "alike")]
    Equivalent,
    /// They weren't.
    No,
}

/// A note on another build of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildNote {
    /// Its name.
    pub build: String,
    /// Cacheline size in bytes it was compiled for.
    pub line: u64,
    /// Size of the struct as declared, in bytes; absent if the build doesn't have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether orders were judged in it.
    pub judged: BuildJudged,
    /// The build it is equivalent to, or why it wasn't judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Declared indices of members it doesn't have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<usize>,
    /// Members that only it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

/// Rounds a number to so many parts of one.
pub(crate) fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}
