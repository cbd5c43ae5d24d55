//! Arguments of `split`.

use super::orders::CodeArgs;
use super::values::{cache_size, line_size, output_format};
use crate::output::OutputFormat;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// The struct to split. A file behind it is that of --vmlinux.
    #[arg(value_name = "TYPE", required = true, num_args = 1..=2)]
    pub(crate) types: Vec<String>,
    /// The profile.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: PathBuf,
    /// The program the profile was made with.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// A source tree: its configurations are tried, and places that would change are counted.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) code: CodeArgs,
    /// Recorded accesses, binary or text (docs/formats.md): splits are replayed, and kinds of objects are tried.
    #[arg(long, value_name = "FILE", requires = "objects")]
    pub(crate) trace: Option<PathBuf>,
    /// Where the objects were: address, type and size a line.
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub(crate) objects: Option<PathBuf>,
    /// Cacheline sizes to judge by, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// Accesses of a CPU to other objects after which its visit to an object ends.
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) visit_gap: u64,
    /// A CPU's first-level cache, in KiB. Defaults are small: the few objects of a guest then cause capacity
    /// misses as the many of a server do.
    #[arg(long, value_name = "KIB", default_value_t = 8, value_parser = cache_size())]
    pub(crate) l1: u64,
    /// A CPU's second-level cache, in KiB.
    #[arg(long, value_name = "KIB", default_value_t = 64, value_parser = cache_size())]
    pub(crate) l2: u64,
    /// The cache all CPUs share, in KiB.
    #[arg(long, value_name = "KIB", default_value_t = 512, value_parser = cache_size())]
    pub(crate) llc: u64,
    /// Where to write the answer (JSON); a text is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}
