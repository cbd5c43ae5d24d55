//! Records the memory accesses of running programs where there is no PMU: by single steps or by hardware
//! breakpoints.
//!
//! * `step`: steps a program through `ptrace`, in bursts, and decodes what each instruction is about to
//!   touch.
//! * `watch`: watches bytes by breakpoints.
//! * `process`: processes and their threads, and the perf.data file.
//! * `intervals`: random intervals between samples.
//! * `options`: options of a recording, and its results.
//! * `error`, `unsupported`: errors; stubs for other machines than x86-64 Linux.
//!
//! ```
//! use fieldline_record::{Error, RecordLimits, WatchRotation, cover_with_watches};
//! use std::time::Duration;
//!
//! // 40 bytes need five watches; a CPU has four breakpoints, so two groups share the time.
//! let limits = RecordLimits { time: Duration::from_secs(10), samples: 1000 };
//! let rotation = WatchRotation::new(&cover_with_watches(0x1000, 40), limits)?;
//! assert_eq!((rotation.watches(), rotation.weight()), (5, 2));
//! # Ok::<(), Error>(())
//! ```

mod error;
mod intervals;
mod options;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod step;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod unsupported;
mod watch;

pub use error::Error;
pub use options::{
    RecordLimits, RecordTarget, RecordingEnd, StepOptions, StepRecording, ThreadSteps, WatchOptions,
    WatchRecording, WatchTarget,
};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use process::maps::program_load_bias;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use step::launch::kill_and_wait as kill;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use step::{launch::stop_and_exec, tracer::record as record_steps};
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use unsupported::kill;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use unsupported::{program_load_bias, record_steps, record_watches, stop_and_exec};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use watch::breakpoints::record as record_watches;
pub use watch::kernel::{KernelError, RunningKernel};
pub use watch::rotation::{WatchRange, WatchRotation, cover_with_watches};
