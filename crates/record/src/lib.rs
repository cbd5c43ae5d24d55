//! Records the memory accesses of running programs where there is no PMU: by single steps or by hardware breakpoints.
//!
//! * `step`: steps a program through `ptrace`, in bursts, and decodes what each instruction is about to touch.
//! * `watch`: watches bytes by breakpoints.
//! * `process`: what both need of processes, and what becomes a perf.data file.
//! * `gaps`: which accesses are sampled.
//! * `options`: what a recording is asked for, and what comes of it.
//! * `error`, `unsupported`: what can go wrong; what other machines than x86-64 Linux get.

mod error;
mod gaps;
mod options;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod step;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod unsupported;
mod watch;

pub use error::Error;
pub use options::{Caught, End, RecordLimits, RecordTarget, StepOptions, Taken, WatchOptions, Watched};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use process::maps::program_slide;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use step::launch::end as kill;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use step::{launch::hold, tracer::record as record_steps};
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use unsupported::kill;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use unsupported::{hold, program_slide, record_steps, record_watches};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use watch::breakpoints::record as record_watches;
pub use watch::kernel::{Kernel, KernelError};
pub use watch::rotation::{Rotation, Watch, watches};
