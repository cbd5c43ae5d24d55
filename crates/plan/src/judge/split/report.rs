//! Splits as a serialisable value (docs/formats.md).

use super::seeds::SplitReason;
use crate::result::{Arrangement, Interval};
use serde::{Deserialize, Serialize};

/// Splits of a struct, and what they are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitReport {
    /// Tag.
    pub name: String,
    /// Size in bytes as declared.
    pub size: u64,
    /// Samples of the struct.
    pub samples: u64,
    /// The best order of the whole struct.
    pub reorder: SplitLayout,
    /// Splits that were tried, the one of fewest lines first.
    pub splits: Vec<Split>,
    /// The index of the split that is advised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advised: Option<usize>,
    /// Why none is, or why this one.
    pub reason: String,
}

/// Members that leave, and what that changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Why these members.
    pub why: Vec<SplitReason>,
    /// Names of the members that leave, in declared order.
    pub members: Vec<String>,
    /// Their declared indices.
    pub indices: Vec<usize>,
    /// Bytes of what stays, with the pointer.
    pub stays: u64,
    /// Bytes of what leaves.
    pub leaves: u64,
    /// Share of the visits that touch what leaves.
    pub visits: f64,
    /// Its orders and figures.
    #[serde(flatten)]
    pub layout: SplitLayout,
}

/// Where members are in a layout, and what visits touch there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitLayout {
    /// Members of the declared struct by place. What leaves stands behind the border.
    pub placed: Arrangement,
    /// Where the border stands, in bytes; 0 if nothing leaves.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub border: u64,
    /// Where the pointer to what leaves stands, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<u64>,
    /// Lines that a visit touches, by line size.
    pub lines: Vec<SplitLines>,
    /// Lines that a visit loses to other CPUs, at the recorded machine's line size.
    pub lost: SplitFigure,
}

/// Lines of a visit at one line size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitLines {
    /// Line size in bytes.
    pub line: u64,
    /// Lines.
    #[serde(flatten)]
    pub figure: SplitFigure,
}

/// A figure as declared and afterwards, with its relative change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitFigure {
    /// As declared.
    pub before: f64,
    /// In this layout.
    pub after: f64,
    /// The relative change with its 95 % confidence interval, over time blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
