//! Options of a recording, and its results.

use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::writer::RecordingWriter;
use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

/// The program or process to record.
#[derive(Clone, Debug)]
pub enum RecordTarget {
    /// A program that is started.
    Program {
        /// A command that stops itself and then becomes the program: see [`crate::stop_and_exec`]. The
        /// program and its arguments are put behind its words.
        holder: Vec<OsString>,
        /// Name or path.
        program: OsString,
        /// Its arguments.
        args: Vec<OsString>,
    },
    /// A process that runs, with all its threads.
    Process(u32),
}

/// When a recording stops by itself.
#[derive(Clone, Copy, Debug)]
pub struct RecordLimits {
    /// After so long.
    pub time: Duration,
    /// After so many samples.
    pub samples: u64,
}

/// How a program is stepped.
#[derive(Clone, Copy, Debug)]
pub struct StepOptions {
    /// Instructions each running thread is stepped by in a burst.
    pub burst: u64,
    /// Mean time the program runs freely between bursts; none steps all of it from its first instruction on.
    pub gap: Duration,
    /// One access of so many becomes a sample, on average.
    pub every: u64,
    /// In place of accesses: samples with a stack of so many of the branches that were taken last, one for so
    /// many taken as [`Self::every`] says: as a processor's `perf record -b` would, of user code.
    pub branches: Option<usize>,
    /// When to stop.
    pub limits: RecordLimits,
}

/// Why a recording ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingEnd {
    /// The program did, with this in words.
    Program(String),
    /// Time was up.
    Time,
    /// There were enough samples.
    Samples,
    /// Somebody asked for it (SIGINT, SIGTERM).
    Interrupted,
    /// A signal came that can't be passed on.
    Signal(i32),
}

impl fmt::Display for RecordingEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(how) => write!(f, "the program {how}"),
            Self::Time => f.write_str("time was up"),
            Self::Samples => f.write_str("there were enough samples"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Signal(number) => {
                write!(
                    f,
                    "the program got the real-time signal {number}, which a tracer can't pass on and was lost"
                )
            }
        }
    }
}

/// A recording by single steps.
#[derive(Clone, Debug)]
pub struct StepRecording {
    /// The recording.
    pub recording: RecordingWriter,
    /// Samples in it.
    pub samples: u64,
    /// Allocations of memory in it, with their ends.
    pub allocations: u64,
    /// Why it ended.
    pub end: RecordingEnd,
    /// The process, if it was started here and is still running.
    pub left_running: Option<u32>,
    /// Duration.
    pub lasted: Duration,
    /// Time in bursts.
    pub burst_duration: Duration,
    /// Bursts.
    pub bursts: u64,
    /// Instructions that were stepped.
    pub steps: u64,
    /// Accesses, of which some are samples.
    pub accesses: u64,
    /// Threads that ever ran, and how often each was stepped.
    pub threads: Vec<ThreadSteps>,
}

/// How often a thread was stepped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSteps {
    /// Its number.
    pub tid: u32,
    /// Its name; empty if it couldn't be read.
    pub name: String,
    /// Instructions.
    pub steps: u64,
}

impl StepRecording {
    /// Ends the process that was started here, if it still runs.
    pub fn kill(&mut self) {
        if let Some(pid) = self.left_running.take() {
            crate::kill(pid);
        }
    }
}

/// The threads or CPUs that breakpoints are set for.
#[derive(Clone, Debug)]
pub enum WatchTarget {
    /// All threads of a process.
    Process(u32),
    /// The kernel, on some CPUs; with the address of its first symbol `_text`, if it is known.
    Kernel {
        /// The CPUs.
        cpus: Vec<u32>,
        /// Where the kernel is.
        text: Option<LoadedAddress>,
    },
}

/// How breakpoints sample.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// One access of so many becomes a sample.
    pub every: u64,
    /// Only stores.
    pub stores_only: bool,
    /// When to stop.
    pub limits: RecordLimits,
}

/// A recording by breakpoints.
#[derive(Clone, Debug)]
pub struct WatchRecording {
    /// The recording.
    pub recording: RecordingWriter,
    /// Samples in it.
    pub samples: u64,
    /// Samples the kernel could not write.
    pub lost: u64,
    /// Times the kernel paused a breakpoint that had too many samples.
    pub paused: u64,
    /// Whole rounds over all groups.
    pub rounds: u64,
    /// Why it ended.
    pub end: RecordingEnd,
    /// Duration.
    pub lasted: Duration,
}
