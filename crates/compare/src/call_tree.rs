//! Call trees below a function, of several variants side by side.
//!
//! * `report`: the tree that `perf report -g` draws; `stacks`: the call chains that `perf script` prints.
//! * `side_by_side`: trees of variants as one table.

mod report;
mod side_by_side;
mod stacks;

pub(crate) use report::Entry;
pub use report::{is_report, read_report};
pub use side_by_side::{CallRow, CallTable};
pub use stacks::{StackTree, for_each_stack};

use serde::Serialize;

/// A function with its share of all samples, and those it calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CallNode {
    /// The function's name.
    pub function: String,
    /// Percent of all samples that were taken in it or below.
    pub share: f64,
    /// Functions that it calls.
    pub callees: Vec<Self>,
}

/// The calls below a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallTree {
    /// The function.
    pub root: CallNode,
    /// Percent of all samples that were taken in the function itself, where the source says so.
    pub own_share: Option<f64>,
    /// Whether perf left out small branches, so that one that is not there may have had samples.
    pub is_cut: bool,
}

impl CallTree {
    /// The smallest share in the tree.
    #[must_use]
    pub fn least_share(&self) -> f64 {
        fn least(node: &CallNode) -> f64 {
            node.callees.iter().map(least).fold(node.share, f64::min)
        }
        least(&self.root)
    }
}
