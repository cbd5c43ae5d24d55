//! Kernels built without and with patches, run in QEMU, and judged at the addresses they really have.
//!
//! * `kernel`: trees, configurations, builds, and what differs between two.
//! * `score`: the cost of a trace.
//! * `trial`: builds and runs in a folder, which go on where they were interrupted.
//! * `error`: errors.
//!
//! ```
//! use fieldline_trial::FigureSet;
//!
//! // Figures of functions are compared apart from those of structs: tests are adjusted for how many there are.
//! assert_eq!((FigureSet::Structs.folder(), FigureSet::Functions.folder()), ("runs", "functions"));
//! ```

mod error;
mod kernel;
mod score;
mod trial;

pub use error::{Error, Result};
pub use kernel::{
    BuiltKernel, FRAGMENT, KernelChanges, KernelConfig, PatchFiles, compare_kernels, read_patches,
    same_sections,
};
pub use score::{ALL_ACCESSES, FigureSet, ScoredMachine, TraceFigures, TraceInput, score};
pub use trial::{BuildOptions, BuildOutcome, RunOptions, Trial, Variant};
