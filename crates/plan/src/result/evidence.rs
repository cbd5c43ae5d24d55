//! What the visits of a struct rest on.

use serde::{Deserialize, Serialize};

/// What the visits of a struct rest on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VisitEvidence {
    /// Windows of consecutive samples that hold the struct.
    pub windows: u64,
    /// Those with several samples: only they tell what runs together; with too few, functions are visits of their own.
    pub joint_windows: u64,
    /// Samples of the struct.
    pub samples: u64,
    /// Functions that touch it.
    pub functions: usize,
    /// Samples of the recordings with a call chain.
    pub callchains: u64,
    /// Samples of the recordings with a branch stack.
    pub branch_stacks: u64,
    /// Classes of visits, those with most visits first.
    pub classes: Vec<ClassEvidence>,
}

/// What one class of visits rests on. Windows and samples are expected numbers: a window may belong to several classes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassEvidence {
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
