//! `fieldline guest`.

use super::values::{line_size, output_format};
use crate::output::OutputFormat;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, value_parser};
use fieldline_guest::{CacheSizes, GuestArchitecture};
use std::path::PathBuf;

/// Loads of ours.
const LOADS: [&str; 3] = ["cgroup-tree", "ping-pong", "fork-exec"];

#[derive(Debug, Args)]
pub(crate) struct GuestArgs {
    #[command(subcommand)]
    pub(crate) command: GuestCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuestCommand {
    /// Boot a kernel in QEMU and record its memory accesses as a perf.data, without a PMU and without root.
    Record(Box<GuestRecordArgs>),
    /// Run traces through modelled caches at their real addresses: lines, misses and HITM by struct and function.
    Score(Box<GuestScoreArgs>),
}

/// A guest: its machine, its load, and the code to record.
#[derive(Clone, Debug, Args)]
pub(crate) struct GuestRunArgs {
    /// The guest's kind of machine.
    #[arg(long, value_name = "ARCH", default_value = "x86_64", value_parser = architecture())]
    pub(crate) arch: GuestArchitecture,
    /// CPUs of the guest.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u16).range(1..=128))]
    pub(crate) cpus: u16,
    /// Memory of the guest.
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = memory)]
    pub(crate) memory: u64,
    /// The guest's load: cgroup-tree, ping-pong or fork-exec, with numbers, such as
    /// cgroup-tree:depth=3,width=4,quota=60. The default is cgroup-tree.
    #[arg(long, value_name = "NAME[:KEY=N,…]", value_parser = load)]
    pub(crate) load: Option<GuestLoadWords>,
    /// Record code of compilation units whose path in the tree begins so. The default, if nothing else is chosen,
    /// is kernel/sched/.
    #[arg(long, value_name = "PATH,…", value_delimiter = ',')]
    pub(crate) units: Vec<String>,
    /// Record functions of these names; * and ? stand for any letters.
    #[arg(long, value_name = "GLOB,…", value_delimiter = ',')]
    pub(crate) symbols: Vec<String>,
    /// Record functions that touch these structs, and those they call for lists, trees and locks within.
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub(crate) types: Vec<String>,
    /// Accesses to record. K, M and G stand for thousands, millions and billions.
    #[arg(long, value_name = "N", default_value = "30M", value_parser = count)]
    pub(crate) window: u64,
    /// More arguments of the kernel.
    #[arg(long, value_name = "ARGUMENTS", default_value = "", allow_hyphen_values = true)]
    pub(crate) append: String,
    /// QEMU, if it is not on the PATH.
    #[arg(long, value_name = "PATH")]
    pub(crate) qemu: Option<PathBuf>,
    /// End the guest after so many seconds, without a recording.
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = value_parser!(u64).range(1..=1 << 20))]
    pub(crate) timeout: u64,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Time is counted in instructions, one guest CPU runs at a time, and all random numbers come from the seed: \
the same arguments give the same bytes. The levels that serve accesses are those of modelled caches, and the recording \
says so. Needs QEMU 10.0 or newer with plugins, and a C compiler. Exit codes: 0 recorded, 2 not (the message says why)."
)]
pub(crate) struct GuestRecordArgs {
    /// The kernel's image, as it is booted (bzImage, Image).
    #[arg(long, value_name = "IMAGE")]
    pub(crate) kernel: PathBuf,
    /// The same kernel with debug info.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: PathBuf,
    /// Where to write the recording.
    #[arg(short, long, value_name = "FILE", default_value = "guest.perf.data")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) guest: GuestRunArgs,
    /// An initramfs whose own init the guest runs.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "load"])]
    pub(crate) initrd: Option<PathBuf>,
    /// Kernel modules to load first; their code is recorded too. Given several times in the order to load.
    #[arg(long = "module", value_name = "FILE")]
    pub(crate) modules: Vec<PathBuf>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u32,
    /// Keep one of N accesses of a kind and CPU, on average.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u64).range(1..=1 << 30))]
    pub(crate) period: u64,
    /// Sizes of the modelled caches: each CPU's first and second level, and the shared one.
    #[arg(long, value_name = "SIZE,SIZE,SIZE", default_value = "32K,256K,4M", value_parser = caches)]
    pub(crate) caches: CacheSizes,
    /// Write all accesses to a trace, as `simulate` reads it.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write where objects were, from when to when, as `simulate` reads it.
    #[arg(long, value_name = "FILE")]
    pub(crate) objects: Option<PathBuf>,
    /// Structs whose objects --objects lists; `all` for all of a cacheline or more. The default is --types, else all.
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',', requires = "objects")]
    pub(crate) object_types: Vec<String>,
    /// Run the guest's CPUs side by side: faster with many CPUs, and no two recordings are the same.
    #[arg(long)]
    pub(crate) parallel: bool,
    /// Let the kernel choose where it lies (KASLR).
    #[arg(long)]
    pub(crate) kaslr: bool,
    /// A program of this machine for the guest to run, and its arguments; or a folder with all files of the guest
    /// and an init. The window is as long as it runs.
    #[arg(value_name = "PROGRAM", last = true, conflicts_with = "load")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is moved: each trace is that of a kernel as it was built. Misses are of modelled caches. Traces of the \
same kernel are runs, with seeds of their own. Exit codes: 0 done, 2 not (the message says why)."
)]
pub(crate) struct GuestScoreArgs {
    /// Traces of a kernel, a run each, as `guest record --trace` writes them, or a folder with *.trace.
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    /// A trace of another kernel, or a folder with some. Given several times, once a kernel.
    #[arg(long, value_name = "OTHER")]
    pub(crate) vs: Vec<PathBuf>,
    /// The objects of each trace, as `guest record --objects` writes them, in the order of all traces. The default is
    /// each trace's name with the ending tsv.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) objects: Vec<PathBuf>,
    /// The kernels that ran, in the order given: with them functions have names.
    #[arg(long, value_name = "FILE", num_args = 1.., visible_alias = "program")]
    pub(crate) vmlinux: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) score: ScoreArgs,
    /// The kernels' names in tables, with commas between.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md), also for --evidence and `compare`.
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

/// The structs and the modelled machines that traces are scored by.
#[derive(Clone, Debug, Args)]
pub(crate) struct ScoreArgs {
    /// Structs to count one by one.
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub(crate) structs: Vec<String>,
    /// Cacheline sizes to model, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// Sizes of the modelled caches: each CPU's first and second level, and the shared one. Defaults are small: the few
    /// objects of a guest then cause capacity misses as the many of a server do. A shared cache that holds just all
    /// objects makes runs differ widely.
    #[arg(long, value_name = "SIZE,SIZE,SIZE", default_value = "8K,32K,256K", value_parser = caches)]
    pub(crate) caches: CacheSizes,
    /// Accesses of a CPU to other objects after which its visit to an object ends.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = value_parser!(u64).range(1..))]
    pub(crate) visit_gap: u64,
}

/// The name of a load, then KEY=VALUE words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GuestLoadWords(pub(crate) Vec<String>);

fn architecture() -> impl TypedValueParser<Value = GuestArchitecture> {
    PossibleValuesParser::new(["x86_64", "aarch64"]).map(|name| match name.as_str() {
        "aarch64" => GuestArchitecture::AArch64,
        _ => GuestArchitecture::X86_64,
    })
}

fn load(text: &str) -> Result<GuestLoadWords, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    if !LOADS.contains(&name) {
        return Err(format!("{name} is none of {}", LOADS.join(", ")));
    }
    let mut words = vec![name.to_owned()];
    for word in rest.split(',').filter(|word| !word.is_empty()) {
        let is_number = word.split_once('=').is_some_and(|(_, value)| value.parse::<i64>().is_ok());
        if !is_number {
            return Err(format!("{word} is not KEY=NUMBER"));
        }
        words.push(word.to_owned());
    }
    Ok(GuestLoadWords(words))
}

/// A number with K, M or G for thousands and so on.
fn count(text: &str) -> Result<u64, String> {
    let count = scaled(text, 1000).ok_or_else(|| format!("{text} is no number"))?;
    if count == 0 { Err("at least one access must be recorded".to_owned()) } else { Ok(count) }
}

fn scaled(text: &str, thousand: u64) -> Option<u64> {
    let (digits, factor) = match text.char_indices().last()? {
        (end, 'K' | 'k') => (&text[..end], thousand),
        (end, 'M') => (&text[..end], thousand.pow(2)),
        (end, 'G') => (&text[..end], thousand.pow(3)),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// A size in MiB.
fn memory(text: &str) -> Result<u64, String> {
    let bytes = scaled(text, 1024).ok_or_else(|| format!("{text} is no size such as 2G"))?;
    if (64 << 20..=1 << 40).contains(&bytes) {
        Ok(bytes >> 20)
    } else {
        Err("a guest has from 64M to 1024G of memory".to_owned())
    }
}

fn caches(text: &str) -> Result<CacheSizes, String> {
    let sizes: Option<Vec<u64>> = text.split(',').map(|size| scaled(size, 1024)).collect();
    let sizes = sizes.and_then(|sizes| <[u64; 3]>::try_from(sizes).ok());
    let sizes = sizes.filter(|sizes| sizes.iter().all(|size| (1 << 10..=1 << 30).contains(size)));
    sizes.map(CacheSizes).ok_or_else(|| format!("{text} is not three sizes such as 32K,256K,4M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_have_a_known_name_and_numbers() {
        let words = load("cgroup-tree:depth=3,quota=-1").unwrap().0;
        assert_eq!(words, ["cgroup-tree", "depth=3", "quota=-1"]);
        assert!(
            load("other").is_err() && load("ping-pong:pairs").is_err() && load("ping-pong:pairs=x").is_err()
        );
    }

    #[test]
    fn counts_are_decimal_and_sizes_binary() {
        assert_eq!((count("30M"), count("7"), count("0").is_err()), (Ok(30_000_000), Ok(7), true));
        assert_eq!(caches("32K,256K,4M"), Ok(CacheSizes::default()));
        assert!(caches("32K,4M").is_err() && caches("1,2,3").is_err() && caches("").is_err());
        assert_eq!((memory("2G"), memory("1").is_err(), memory("é").is_err()), (Ok(2048), true, true));
    }
}
