//! Records the memory accesses of running programs where there is no PMU: by single steps or by hardware breakpoints.
//!
//! * `step`: steps a program through `ptrace`, in bursts, and decodes what each instruction is about to touch; `signals`
//!   waits for it, `launch` starts it.
//! * `journal`: what becomes a perf.data file: samples, and what was mapped and ran when; `host` is what its header says
//!   about the machine.
//! * `gaps`, `address`, `touches`: which accesses are sampled, where an operand is, what an instruction touches.
//! * `watch`: which bytes breakpoints watch, and when; `breakpoints` opens them and reads what they caught.
//! * `kernel`: where the running kernel and its per-CPU data are.
//! * `maps`, `tasks`: what `/proc` says of mappings and threads.
//!
//! Other machines than x86-64 Linux compile to a library that says so.

mod error;
mod gaps;
mod kernel;
mod options;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod unsupported;
mod watch;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod address;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod breakpoints;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod host;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod journal;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod launch;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod maps;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod signals;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod step;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod tasks;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod touches;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use breakpoints::record as record_watches;
pub use error::Error;
pub use kernel::{Kernel, KernelError};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use launch::end as kill;
pub use launch::hold;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use maps::program_slide;
pub use options::{Caught, End, Limits, StepOptions, Taken, Target, WatchOptions, Watched};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use step::record as record_steps;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use unsupported::kill;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use unsupported::{hold, program_slide, record_steps, record_watches};
pub use watch::{Rotation, Watch, watches};
