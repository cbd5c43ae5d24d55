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
    #[command(flatten)]
    pub(crate) steps: StepArgs,
    /// Keep one of N accesses: of steps at random, of each breakpoint every Nth.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..))]
    pub(crate) every: u64,
    /// Stop after so many samples; each takes about 250 bytes of memory and 80 of the file.
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_samples: u64,
    /// Watch an object by hardware breakpoints instead of stepping: SYMBOL is a static variable, by default
    /// of PROGRAM. Several objects, and more than four members, take turns.
    #[arg(long = "object", value_name = "TYPE@SYMBOL[+OFFSET]|TYPE@0xADDRESS")]
    pub(crate) objects: Vec<String>,
    /// Watch these members only.
    #[arg(long, value_name = "MEMBER,…", value_delimiter = ',', requires = "objects")]
    pub(crate) members: Vec<String>,
    /// Watch stores only.
    #[arg(long, requires = "objects")]
    pub(crate) stores: bool,
    /// The file whose types and symbols objects have, if that is not PROGRAM: a library, or, with --kernel, the
    /// kernel's vmlinux or raw BTF with addresses.
    #[arg(long, visible_alias = "program", value_name = "FILE", requires = "objects")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Watch objects of the running kernel; needs root. A PROGRAM, if given, is the load, and the recording ends
    /// after it at the latest.
    #[arg(long, requires = "vmlinux", conflicts_with = "pid")]
    pub(crate) kernel: bool,
    /// CPUs on which to watch the kernel, and whose per-CPU objects; all if not given.
    #[arg(long, value_name = "LIST", value_parser = cpus, requires = "kernel")]
    pub(crate) cpu: Option<CpuList>,
    /// End the program when the recording is done.
    #[arg(long, conflicts_with = "pid")]
    pub(crate) kill: bool,
    /// Instead of accesses, record stacks of the last N taken branches, one of so many as --every says, as
    /// `perf record -b` does. For tests.
    #[arg(long, value_name = "N", hide = true, conflicts_with = "objects", value_parser = branches)]
    pub(crate) branch_stacks: Option<usize>,
    /// Wait to be traced, then become the program.
    #[arg(long, hide = true)]
    pub(crate) hold: bool,
    /// The program and its arguments.
    #[arg(
        value_name = "PROGRAM",
        required_unless_present_any = ["pid", "kernel"],
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}

/// How a program is stepped, and for how long.
#[derive(Clone, Debug, Args)]
pub(crate) struct StepArgs {
    /// Instructions that each running thread is stepped by in a burst.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) burst: u64,
    /// Milliseconds between bursts, on average; 0 steps everything from the first instruction on, some ten
    /// thousand times slower, and notes what is allocated and freed.
    #[arg(long, value_name = "MS", default_value = "10", value_parser = |text: &str| duration(text, 1e-3))]
    pub(crate) gap: Duration,
    /// Stop after so many seconds.
    #[arg(long = "for", value_name = "SECONDS", default_value = "10", value_parser = |text: &str| duration(text, 1.0))]
    pub(crate) time: Duration,
}

/// Numbers of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CpuList(pub(crate) Vec<u32>);

/// As the kernel writes lists: `0-3,8`.
pub(crate) fn cpus(text: &str) -> Result<CpuList, String> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<u16>().map_err(|_| format!("{part} is no list of CPUs"));
        all.extend((number(first)?..=number(last)?).map(u32::from));
    }
    Ok(CpuList(all))
}

fn duration(text: &str, unit: f64) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

/// No processor keeps more.
fn branches(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| (1..=64).contains(number)).ok_or(format!("{text} is not from 1 to 64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_those_of_the_kernel() {
        assert_eq!(cpus("0-2,5\n"), Ok(CpuList(vec![0, 1, 2, 5])));
        assert!(cpus("a").is_err() && cpus("0-99999").is_err() && cpus("").is_err());
    }
}
