//! Kernels and programs built without and with patches, run, and judged at the addresses they really have.
//!
//! * `kernel`: trees, configurations, builds, and what differs between two.
//! * `score`: the cost of a trace.
//! * `runs`: the figures of runs, a file each.
//! * `setup`: what a trial was made of, as text.
//! * `trial`: builds and runs of kernels in a folder, which go on where they were interrupted.
//! * `program`: the same of programs.
//! * `command`, `error`: commands that build, errors.
//!
//! ```
//! use fieldline_trial::FigureSet;
//!
//! // Figures of functions are compared apart from those of structs: tests are adjusted for how many there are.
//! assert_eq!((FigureSet::Structs.folder(), FigureSet::Functions.folder()), ("runs", "functions"));
//! ```

mod command;
mod error;
mod kernel;
mod program;
mod runs;
mod score;
mod setup;
mod trial;

pub use error::{Error, Result};
pub use kernel::{
    BuiltKernel, FRAGMENT, KernelChanges, KernelConfig, PatchFiles, compare_kernels, read_patches,
    same_sections,
};
pub use program::{ProgramBuild, ProgramTrial, RecordedRun};
pub use runs::RunFiles;
pub use score::{
    ALL_ACCESSES, FigureSet, RecordedAccess, RecordedAccesses, ScoredMachine, TraceFigures, TraceInput,
    find_object, score, score_recorded,
};
pub use trial::{BuildOptions, BuildOutcome, RunOptions, Trial, Variant};
