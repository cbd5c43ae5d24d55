//! Planned structs that stand side by side in another one.

use super::arrangement::Arrangement;
use super::forecast::BeforeAfter;
use serde::{Deserialize, Serialize};

/// A struct that holds planned ones side by side, by value, and what their orders make of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// Its tag.
    pub holder: String,
    /// Its planned members, in declared order.
    pub parts: Vec<TogetherPart>,
    /// Size in bytes as declared.
    pub before: u64,
    /// Size in bytes with the chosen orders.
    pub after: u64,
    /// Bytes the kernel's allocator takes for it as declared.
    pub slab_before: u64,
    /// Bytes it takes with the chosen orders.
    pub slab_after: u64,
    /// Lines that a visit to the holder touches, by line size and build.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<TogetherLines>,
    /// Which orders were chosen.
    pub chosen: TogetherChoice,
    /// Why they were not judged together, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    /// Planned members that the holder's declaration aligns, in declared order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aligned: Vec<AlignedPart>,
    /// Why a part stays where it is that an alignment would serve, a sentence without its full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unaligned: Option<String>,
    /// The declaration that gets the alignments; none without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declaration: Option<HolderDeclaration>,
}

/// A planned struct that is aligned within its holder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlignedPart {
    /// The member of the holder.
    pub member: String,
    /// Alignment in bytes.
    pub to: u64,
    /// Bytes by which the holder is larger for it.
    pub padding: u64,
    /// Lines that a visit to the struct touches `before`, without the alignment, and `after`.
    pub lines: Vec<AlignedLines>,
}

/// Lines per visit of an aligned struct at one line size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlignedLines {
    /// Line size in bytes.
    pub line: u64,
    /// Line size in bytes the program is compiled for.
    pub build_line: u64,
    /// Without and with the alignment.
    #[serde(flatten)]
    pub lines: BeforeAfter,
}

/// A holder's declaration that the plan changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderDeclaration {
    /// [`fieldline_layout::Layout::fingerprint`] of the declared layout.
    pub fingerprint: u64,
    /// File that declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line that declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its layout as compiled.
    pub declared: Arrangement,
    /// Its layout with the planned orders and alignments.
    pub chosen: Arrangement,
}

/// A planned struct in its holder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TogetherPart {
    /// Its tag.
    pub name: String,
    /// The member of the holder.
    pub member: String,
    /// Offset in bytes as declared.
    pub from: u64,
    /// Offset in bytes with the chosen orders.
    pub to: u64,
}

/// Lines per visit of a holder at one line size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TogetherLines {
    /// Line size in bytes.
    pub line: u64,
    /// Line size in bytes the program is compiled for.
    pub build_line: u64,
    /// As declared, and with the chosen orders.
    #[serde(flatten)]
    pub lines: BeforeAfter,
    /// With each struct planned alone.
    pub alone: f64,
}

/// Which orders of structs side by side were chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TogetherChoice {
    /// Those of each struct planned alone: none found together costs less.
    #[default]
    Alone,
    /// Those that a search over all of them found.
    Together,
    /// Some planned alone and some declared: all of them planned alone cost more side by side.
    Some,
}
