//! Watching bytes by hardware breakpoints.
//!
//! * `rotation`: which bytes are watched, and when.
//! * `breakpoints`: opens breakpoints and reads their samples.
//! * `kernel`: where the running kernel and its per-CPU data are.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod breakpoints;
pub(crate) mod kernel;
pub(crate) mod rotation;
