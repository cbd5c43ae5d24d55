//! Records the memory accesses of kernels that run in QEMU: any kernel, on a machine without a PMU.
//!
//! * `options`: options of a recording.
//! * `kernel`: code to trace and instructions to watch, out of the kernel's debug info.
//! * `machine`: the guest's files, our programs in C, QEMU.
//! * `stream`: the plugin's records.
//! * `window`: what was observed.
//! * `objects`: where objects were, from when to when.
//! * `recording`: samples, perf.data, traces, tables.
//! * `record`: all of it.
//! * `error`: errors.
//!
//! ```
//! use fieldline_guest::{CodeSelection, GuestArchitecture};
//!
//! let selection = CodeSelection { units: vec!["kernel/sched/".to_owned()], ..CodeSelection::default() };
//! assert_eq!((selection.types.len(), GuestArchitecture::AArch64.name()), (0, "aarch64"));
//! ```

mod error;
mod kernel;
mod machine;
mod objects;
mod options;
mod record;
mod recording;
mod stream;
#[cfg(test)]
mod testing;
mod window;

pub use error::{Error, Result};
pub use kernel::selection::CodeSelection;
pub use machine::architecture::GuestArchitecture;
pub use machine::programs::bench_program;
pub use objects::GuestObject;
pub use options::{CacheSizes, GuestLoad, GuestOptions};
pub use record::{GuestRecording, check_machine, record};
