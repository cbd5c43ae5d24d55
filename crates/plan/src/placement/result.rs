//! The best positions for a new member, as a serialisable value (`docs/formats.md`).

use crate::result::{Basis, BeforeAfter, SizeForecast};
use serde::{Deserialize, Serialize};

/// Value of [`PlacementReport::format`].
pub const FORMAT: &str = "fieldline-place";
/// Value of [`PlacementReport::version`].
pub const VERSION: u32 = 1;

/// The best positions for a new member of a struct.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlacementReport {
    /// Always [`FORMAT`].
    pub format: String,
    /// Format version.
    pub version: u32,
    /// The basis of the ranking.
    pub basis: Basis,
    /// Tag of the struct.
    pub name: String,
    /// [`fieldline_layout::Layout::fingerprint`] of the declared layout.
    pub fingerprint: u64,
    /// File that declares it, if debug info has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The new member.
    pub member: AddedMember,
    /// Members it is touched together with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// Whether it is rarely touched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// Line sizes in bytes that were judged.
    pub lines: Vec<u64>,
    /// Line size in bytes that the layout was compiled for.
    pub build_line: u64,
    /// Samples of the struct.
    pub samples: u64,
    /// Positions considered.
    pub considered: usize,
    /// Positions that are legal.
    pub legal: usize,
    /// Of these, those on the cachelines of the members it is touched together with.
    #[serde(default)]
    pub suitable: usize,
    /// Whether no legal position is on the cachelines of the members it is touched together with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub impossible: bool,
    /// Why there is none, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Pins that bar otherwise legal positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barred: Vec<String>,
    /// The best positions, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "spots")]
    pub placements: Vec<RankedPlacement>,
    /// Structs that hold this one by value, as far as the profile knows, and grow where it grows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<String>,
}

/// A member to be added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedMember {
    /// As the user declares it.
    pub declaration: String,
    /// Its name.
    pub name: String,
    /// Its type as C spells it.
    pub type_name: String,
    /// Size in bits.
    pub bit_size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A position, and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedPlacement {
    /// The member before it; absent at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many declared members come before it.
    pub index: usize,
    /// Line that declares the member before it.
    #[serde(default, with = "fieldline_layout::line_number")]
    pub line: Option<u32>,
    /// Byte offset of the new member.
    pub offset: u64,
    /// Bit offset, for a bit-field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_offset: Option<u64>,
    /// Bytes of holes or padding it uses.
    pub hole: u64,
    /// Sizes of the struct by line size, with what the allocator takes.
    pub sizes: Vec<SizeForecast>,
    /// Members whose offset changes.
    pub shifted: usize,
    /// Members that get to another cacheline or to another offset on it; with a profile, the touched ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushed: Vec<String>,
    /// Accesses to the cachelines it lies on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<LineHeat>,
    /// Lines that functions touch, each by itself, with the new member where it is touched together with
    /// others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<VisitChange>,
    /// Notes on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// All of it in a sentence.
    pub reason: String,
}

impl RankedPlacement {
    /// Whether the struct gets larger on any machine.
    pub fn grows(&self) -> bool {
        self.sizes.iter().any(|size| size.after > size.before)
    }
}

/// Accesses to the cachelines of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineHeat {
    /// Share of the struct's samples.
    pub share: f64,
    /// Whether that is more than the mean of the struct's cachelines.
    pub hot: bool,
    /// Loads sampled.
    pub loads: u64,
    /// Stores sampled.
    pub stores: u64,
    /// CPUs that stored.
    pub writers: usize,
    /// Samples that found the line lost to another CPU.
    pub lost: u64,
}

/// Lines a function touches on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitChange {
    /// Line size in bytes.
    pub line: u64,
    /// Before and after.
    pub lines: BeforeAfter,
    /// Lines of those after that a visit touches for the new member alone.
    pub own: f64,
}
