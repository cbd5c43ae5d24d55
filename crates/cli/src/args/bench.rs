//! Arguments of `bench`.

use clap::{Args, Subcommand, value_parser};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Run a load in each leaf of a tree of cgroups with quotas, and measure what the kernel does.
    CgroupTree(Box<CgroupTreeArgs>),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Needs Linux with the cpu controller in cgroup version 2, root (or a delegated group, --parent), and a C \
compiler the first time. It makes a group of its own, fieldline-bench.PID, and touches no other; that is removed at any \
end, and after a kill at the next start. Each run is a CSV that `compare` reads: counters of the kernel (LLC-load-misses:k, \
cycles:k, where there is a PMU), cpu.stat, schedstat, latencies. Runs whose files are there are not repeated. Exit codes: \
0 done, 2 not (the message says why)."
)]
pub(crate) struct CgroupTreeArgs {
    /// Levels of groups below the top group; 0 is that group alone.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(0..=16))]
    pub(crate) depth: u32,
    /// Groups in each group.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(crate) width: u32,
    /// Share of all CPUs that the leaves may use together, in percent; 0 is no limit.
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = value_parser!(u32).range(0..=100))]
    pub(crate) quota: u32,
    /// Milliseconds that a quota is for. They are raised where a leaf's quota would be less than a millisecond, the
    /// kernel's least.
    #[arg(long, value_name = "MS", default_value_t = 10, value_parser = value_parser!(u64).range(1..=1000))]
    pub(crate) quota_period: u64,
    /// The load of each leaf: messages, hackbench, pipe-ring or fork-exec, with numbers, such as
    /// messages:workers=4,pause=100. The default is messages.
    #[arg(long, value_name = "NAME[:KEY=N,…]", value_parser = load, conflicts_with = "command")]
    pub(crate) load: Option<BenchLoadWords>,
    /// Runs to have in the end.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..=999))]
    pub(crate) runs: u32,
    /// Seconds of a run that are measured.
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Seconds before that, in which the load settles.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = value_parser!(u64).range(0..=86_400))]
    pub(crate) settle: u64,
    /// The folder to write: a file a run, and one with facts on the machine.
    #[arg(short, long, value_name = "DIR", required_unless_present = "clean")]
    pub(crate) output: Option<PathBuf>,
    /// Also clear /proc/lock_stat before each run, and write its text to this folder, for `compare --locks`.
    #[arg(long, value_name = "DIR")]
    pub(crate) lock_stat: Option<PathBuf>,
    /// The group to make the tree in, if not the root of the hierarchy.
    #[arg(long, value_name = "DIR")]
    pub(crate) parent: Option<PathBuf>,
    /// Only remove what a killed run left.
    #[arg(long, conflicts_with_all = ["output", "lock_stat", "command"])]
    pub(crate) clean: bool,
    /// A command to run in each leaf instead of a load of ours, again and again. Its output is dropped.
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,
}

/// The name of a load, then KEY=VALUE words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BenchLoadWords(pub(crate) Vec<String>);

/// Numbers that each load takes.
const KEYS: [(&str, &[&str]); 4] = [
    ("messages", &["workers", "work", "pause", "seed"]),
    ("hackbench", &["tasks"]),
    ("pipe-ring", &["tasks", "work", "seed"]),
    ("fork-exec", &["work", "seed"]),
];

fn load(text: &str) -> Result<BenchLoadWords, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let keys = KEYS.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
    let names = KEYS.map(|(known, _)| known).join(", ");
    let keys = keys.ok_or_else(|| format!("{name} is none of {names}"))?;
    let mut words = vec![name.to_owned()];
    for word in rest.split(',').filter(|word| !word.is_empty()) {
        let is_known = word
            .split_once('=')
            .is_some_and(|(key, value)| keys.contains(&key) && value.parse::<u32>().is_ok());
        if !is_known {
            return Err(format!("{word} is not KEY=NUMBER; {name} takes {}", keys.join(", ")));
        }
        words.push(word.to_owned());
    }
    Ok(BenchLoadWords(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_have_a_known_name_and_their_numbers() {
        assert_eq!(load("messages:workers=4,pause=0").unwrap().0, ["messages", "workers=4", "pause=0"]);
        for wrong in
            ["other", "messages:tasks=3", "hackbench:tasks", "hackbench:tasks=x", "fork-exec:work=-1"]
        {
            assert!(load(wrong).is_err(), "{wrong}");
        }
    }
}
