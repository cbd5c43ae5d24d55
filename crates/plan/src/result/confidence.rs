//! The evidence for the visits of a struct, and how sure its plan is.

use super::forecast::BeforeAfter;
use serde::{Deserialize, Serialize};

/// How sure a plan of a struct is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Why nothing is known, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Blocks of time in the profile.
    pub blocks: usize,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Cross-validation: lines that orders planned without a fold touch in that fold.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "out_of_fold")]
    pub cross_validation: Vec<CrossValidation>,
    /// Cross-validation: share of the best order's gain in lines that the chosen one keeps, over all line sizes of the
    /// recorded layout; absent for the best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_gain: Option<f64>,
    /// Resamples of the block bootstrap, each planned with a warm start.
    pub resamples: usize,
    /// Change of the chosen order's lines over all configurations in the visits of the resamples, a 95 %
    /// confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Members on each line of the order found, and how often resamples group them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groupings: Vec<Grouping>,
    /// Members that the order found moves, and how often resamples repeat the move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Stability>,
    /// Members whose move was undone: too few resamples repeat it, and in too few does undoing it cost lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<usize>,
}

/// Lines that visits of the folds left out touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// Line size in bytes by which lines are counted.
    pub line: u64,
    /// Line size in bytes that the struct is compiled for.
    pub build_line: u64,
    /// Lines per visit, the mean over folds.
    pub together: BeforeAfter,
    /// The relative change, with what samples can't show of visits.
    pub interval: Interval,
    /// The same change, with an interval for the choice of samples alone.
    #[serde(default)]
    pub sampling: Interval,
    /// The relative change of the plan in the visits it was made from.
    pub in_sample: f64,
    /// In-sample bias: by how much that is better than in cross-validation.
    #[serde(rename = "optimism")]
    pub in_sample_bias: f64,
}

/// A relative change (after less before, as a share of before) and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The change.
    pub change: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

/// Touched members on one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// Indices in declared order.
    pub members: Vec<usize>,
    /// Share of resamples in which a pair of them shares a line, the mean over pairs.
    pub stability: f64,
    /// That of the pair that comes together least often.
    pub weakest: f64,
}

/// How often a member is placed with the same others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Index in declared order.
    pub index: usize,
    /// Share of resamples in which it shares a line with at least half of those it is planned with.
    pub share: f64,
    /// Where that is seldom: share of resamples in whose visits it costs lines to leave the member where it
    /// is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<f64>,
}

/// The evidence for the visits of a struct.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VisitEvidence {
    /// Windows of consecutive samples that hold the struct.
    pub windows: u64,
    /// Those with several samples: only they show which functions run together; with too few, functions are
    /// visits of their own.
    pub joint_windows: u64,
    /// Samples of the struct.
    pub samples: u64,
    /// Functions that touch it.
    pub functions: usize,
    /// Samples of the recordings with a call chain.
    pub callchains: u64,
    /// Samples of the recordings with a branch stack.
    pub branch_stacks: u64,
    /// Access patterns, those with most visits first.
    #[serde(rename = "classes")]
    pub patterns: Vec<PatternEvidence>,
}

/// The evidence for one access pattern. Windows and samples are expected numbers: a window may belong to
/// several patterns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatternEvidence {
    /// Share of the struct's visits.
    pub share: f64,
    /// Windows.
    pub windows: f64,
    /// Windows with several samples.
    pub joint_windows: f64,
    /// Samples of the struct in them.
    pub samples: f64,
    /// How many functions take part.
    pub functions: usize,
    /// Those that most often do, each with the share of visits.
    pub mostly: Vec<(String, f64)>,
}
