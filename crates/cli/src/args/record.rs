//! `fieldline record`.

use clap::{Args, value_parser};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    after_help = "Between bursts of single steps the program runs freely; samples are shares of time. Threads that sleep are \
left alone. When it stops by itself the program goes on without being traced, or ends with --kill. The file is whole or \
not there. Exit codes: 0 recorded, 2 not (the message says why)."
)]
pub(crate) struct RecordArgs {
    /// Where to write the recording.
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,
    /// Record a process that runs instead of starting a program.
    #[arg(short, long, value_name = "PID", conflicts_with = "command")]
    pub(crate) pid: Option<u32>,
    /// Instructions that each running thread is stepped by in a burst.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) burst: u64,
    /// Milliseconds between bursts, on average; 0 steps everything from the first instruction on, some thousand times slower.
    #[arg(long, value_name = "MS", default_value = "10", value_parser = milliseconds)]
    pub(crate) gap: Duration,
    /// Keep one of N accesses, at random; the same ones each time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..))]
    pub(crate) every: u64,
    /// Stop after so many seconds.
    #[arg(long = "for", value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) time: Duration,
    /// Stop after so many samples; each takes about 200 bytes of memory, and 72 of the file.
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_samples: u64,
    /// End the program when the recording is done.
    #[arg(long, conflicts_with = "pid")]
    pub(crate) kill: bool,
    /// Wait to be traced, then become the program.
    #[arg(long, hide = true)]
    pub(crate) hold: bool,
    /// The program and its arguments.
    #[arg(
        value_name = "PROGRAM",
        required_unless_present = "pid",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}

fn duration(text: &str, unit: f64) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    duration(text, 1e-3)
}

fn seconds(text: &str) -> Result<Duration, String> {
    duration(text, 1.0)
}
