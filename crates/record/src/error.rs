//! Errors of recording.

use std::io;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program can't be run.
    #[error("cannot run {program}")]
    CannotRun {
        /// As it was given.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The kernel doesn't let this process trace that one.
    #[error(
        "the kernel refuses to trace process {pid} (another tracer may have it, \
         /proc/sys/kernel/yama/ptrace_scope may forbid it (0 allows one's own processes, 1 only programs started by \
         fieldline), it may be another user's, or a container may lack SYS_PTRACE (docker: --cap-add=SYS_PTRACE))"
    )]
    Refused {
        /// The process.
        pid: u32,
        /// Why.
        source: io::Error,
    },
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// A call to the kernel failed.
    #[error("{call} failed")]
    Call {
        /// Which.
        call: &'static str,
        /// Why.
        source: io::Error,
    },
    /// Nothing was sampled.
    #[error("no samples: {0}")]
    NoSamples(String),
    /// Breakpoints can't be opened.
    #[error("cannot watch {length} bytes at {address:#x} ({hint})")]
    Breakpoint {
        /// First byte.
        address: u64,
        /// Bytes.
        length: u64,
        /// Why.
        source: io::Error,
        /// A remedy.
        hint: &'static str,
    },
    /// There is nothing to watch.
    #[error("nothing to watch: {0}")]
    NothingToWatch(String),
    /// Rotating over everything takes longer than there is time.
    #[error(
        "{watches} watches need {groups} rotations of four, which leaves each {milliseconds} ms of {seconds} s; at least \
         {least} ms are needed: name members (--members), watch fewer objects, or give it more time (--for {enough})"
    )]
    TooManyWatches {
        /// How many.
        watches: usize,
        /// Groups of four.
        groups: usize,
        /// Time there is.
        seconds: f64,
        /// Time of each group.
        milliseconds: u128,
        /// The least time of a group.
        least: u128,
        /// Seconds that would do.
        enough: u64,
    },
    /// Only one kind of machine is known.
    #[error("recording by single steps and breakpoints works on x86-64 Linux only")]
    Unsupported,
}
