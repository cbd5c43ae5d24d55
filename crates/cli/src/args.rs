//! What the user types.

mod doctor;
mod gate;
mod record;
pub(crate) mod series;
pub(crate) mod verify;

pub(crate) use doctor::DoctorArgs;
pub(crate) use gate::{BaselineArgs, CheckArgs, DiffArgs, DiffFormat, Form, InitArgs, Sink};
pub(crate) use record::{RecordArgs, cpus};

use crate::matrix::{self, Also};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fieldline_debuginfo::types::Format;
use fieldline_plan::Choice;
use std::path::{Path, PathBuf};

/// Finds which struct members are hot and touched together, lays them out on cachelines, and writes the patch.
#[derive(Debug, Parser)]
#[command(name = "fieldline", version, about, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Threads to use; all cores if not given. Results do not depend on it.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print struct layouts: members, holes, cachelines.
    Layout(LayoutArgs),
    /// Attribute the samples of perf.data files, or of perf script's text, to struct members.
    Profile(ProfileArgs),
    /// Take over what perf itself counted by type (perf report, perf annotate --data-type, JSON).
    Import(ImportArgs),
    /// Add profiles of one program up: of several files, hosts or runs.
    Merge(MergeArgs),
    /// Print one row a sample: ip addr type offset reason.
    Samples(SamplesArgs),
    /// Explain what an instruction touches: operands, registers and where they got their values, verdict.
    Explain(ExplainArgs),
    /// Show what a profile says about structs.
    Report(ReportArgs),
    /// Find a member order that touches fewer cachelines.
    Plan(PlanArgs),
    /// Say where a new member of a struct costs least.
    Place(PlaceArgs),
    /// Replay recorded accesses through modelled caches, as declared and as planned.
    Simulate(SimulateArgs),
    /// Turn a plan into a patch of the header.
    Patch(PatchArgs),
    /// Compare what was built with what a plan predicted.
    Verify(verify::VerifyArgs),
    /// Do it all: recording to report, plan and patch.
    Propose(ProposeArgs),
    /// Say which structs of two files differ, and in what.
    Diff(DiffArgs),
    /// Keep the layouts of a file, to compare later ones with.
    Baseline(BaselineArgs),
    /// Judge layouts by the rules of fieldline.toml: a gate for CI.
    Check(CheckArgs),
    /// Write a first fieldline.toml.
    Init(InitArgs),
    /// Say what to record on this machine, or whether a recording can answer and what to record instead.
    Doctor(DoctorArgs),
    /// Record a program's memory accesses without a PMU, by single steps or breakpoints, as a perf.data.
    Record(RecordArgs),
    /// Walk the road on a built-in example.
    Demo(DemoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LayoutArgs {
    /// Structs, unions or typedefs by name, or globs such as 'sched_*'; all if none is given.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// vmlinux, .ko, .o, program, or raw BTF; the running kernel's BTF if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Which debug info to read where a file has both; DWARF if not given.
    #[arg(long, value_name = "FORMAT", value_parser = debug_format())]
    pub(crate) debug_format: Option<Format>,
    /// The base of split BTF (a module's): a vmlinux or its raw BTF.
    #[arg(long, value_name = "FILE")]
    pub(crate) btf_base: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Style::Table)]
    pub(crate) style: Style,
    /// Cacheline sizes to show, in bytes. Style pahole uses the first.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) cacheline: Vec<u64>,
    /// Show the members of structs held by value (style table).
    #[arg(long)]
    pub(crate) expand: bool,
}

/// A format of debug info by its name.
fn debug_format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["dwarf", "btf"])
        .map(|name| if name == "btf" { Format::Btf } else { Format::Dwarf })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// For eyes.
    Table,
    /// As pahole 1.30 prints it.
    Pahole,
    /// For programs (docs/formats.md).
    Json,
}

/// A program and its recordings.
#[derive(Debug, Args)]
pub(crate) struct Recordings {
    /// The vmlinux, program, shared library or kernel module with debug info that was running; given several
    /// times, they are attributed together. Commands that work on what comes out take one of them.
    #[arg(long = "vmlinux", visible_alias = "program", value_name = "FILE", required = true)]
    pub(crate) programs: Vec<PathBuf>,
    /// Folder with debug files of programs that were stripped: by build id or by name. /usr/lib/debug is looked at too.
    #[arg(long, value_name = "DIR")]
    pub(crate) debug_dir: Vec<PathBuf>,
    /// perf.data files, of file or pipe mode, or texts of perf script (docs/formats.md says with which fields).
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) perf: Vec<PathBuf>,
    /// Go on when the recording's build id is another's.
    #[arg(long)]
    pub(crate) force: bool,
    /// Attribute by instruction alone, as if the recording had no data addresses.
    #[arg(long)]
    pub(crate) no_addresses: bool,
}

impl Recordings {
    /// The first program: the one whose structs are planned.
    pub(crate) fn first_program(&self) -> &Path {
        self.programs.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) recordings: Recordings,
    /// Show what was attributed, and why not the rest, by event and program (DSO) instead of by struct.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Where to write the profile (JSON); a summary is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Texts of `perf report -s type,typeoff,symbol -n --stdio` or `perf annotate --data-type -n --stdio`, or JSON of types.
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
    /// The vmlinux (or program) with debug info that was running.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: PathBuf,
    /// Where to write the profile (JSON); a summary is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The profiles; their order changes nothing.
    #[arg(value_name = "PROFILE", required = true, num_args = 2..)]
    pub(crate) profiles: Vec<PathBuf>,
    /// Where to write the sum (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SamplesArgs {
    #[command(flatten)]
    pub(crate) recordings: Recordings,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Addresses as linked (hexadecimal), FUNCTION+0xOFFSET, or FUNCTION for all its accesses.
    #[arg(value_name = "PLACE", required = true)]
    pub(crate) places: Vec<String>,
    /// The vmlinux (or program) with debug info.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Structs to report; those with most samples if none is given.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// The profile.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: PathBuf,
    /// The program the profile was made with, to name members; offsets only if not given.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Cacheline sizes to show, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) cacheline: Vec<u64>,
    /// Rows of functions and pairs to show.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top: usize,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Structs to plan.
    #[arg(value_name = "TYPE", required = true)]
    pub(crate) types: Vec<String>,
    /// The profile.
    #[arg(long, value_name = "FILE", required_unless_present = "packing")]
    pub(crate) profile: Option<PathBuf>,
    /// Plan without a profile: pack holes, and only where that saves a cacheline or a slab class. Nothing is known then
    /// of what is hot.
    #[arg(long = "static", conflicts_with = "profile")]
    pub(crate) packing: bool,
    /// Instead of a plan, a random order that keeps every constraint: to try what patch, build and verify make of a tree. Half
    /// of the structs may grow, by a cacheline at most, unless the tree asserts something about their size. Equal numbers
    /// give equal orders.
    #[arg(long, value_name = "NUMBER", requires = "packing")]
    pub(crate) shuffle: Option<u64>,
    /// The program the profile was made with.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: PathBuf,
    /// A kernel tree: comments and #ifdefs of the source then constrain the order.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// A file of pins (docs/formats.md): which members keep their place, come first or last, share a cacheline, lie
    /// apart or stand together.
    #[arg(long, value_name = "FILE")]
    pub(crate) pins: Option<PathBuf>,
    /// Cacheline sizes to plan for, in bytes. None must get worse; the program's own counts most.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// More builds of the same source, vmlinux, .o or BTF files of other configurations and machines: no order is proposed
    /// that is worse than the declared one in any of them. @BYTES sets the cacheline size where the file doesn't tell.
    #[arg(long, value_name = "FILE[@BYTES]", value_delimiter = ',', value_parser = matrix::also)]
    pub(crate) also: Vec<Also>,
    /// Where to write the plan (JSON); a summary is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Which of the orders found is proposed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ChoiceArgs {
    /// The candidate to propose: best, smallest (from which on each further moved member brings less than the mean), or
    /// its number in the table.
    #[arg(long, value_name = "N|smallest|best", default_value = "best", value_parser = candidate)]
    pub(crate) candidate: Choice,
    /// Most members that may move in each struct.
    #[arg(long, value_name = "N")]
    pub(crate) max_moves: Option<usize>,
    /// Judge the advice: plan again without each fifth of the recordings' time, from nothing, and on N resamples of it,
    /// which begin with the visits and orders of the whole recording and settle both; what doesn't come again in 80 % of
    /// the resamples is no advice. Twenty take three to four times as long as a plan; 0 doesn't judge. Default: 0 for
    /// plan, 20 for propose.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=2_000))]
    pub(crate) confidence: Option<u16>,
    /// Also count pairs of adjacent lines, which x86 machines fetch together, at a fifth of a line.
    #[arg(long)]
    pub(crate) adjacent_lines: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The struct that gets the member.
    #[arg(value_name = "TYPE")]
    pub(crate) ty: String,
    /// The new member as C declares it, such as 'long timer_ticks' or 'struct list_head node'.
    #[arg(long, value_name = "DECLARATION")]
    pub(crate) member: String,
    /// Members it is touched together with: it goes to their cachelines if it can.
    #[arg(long, value_name = "MEMBER", value_delimiter = ',', conflicts_with = "cold")]
    pub(crate) with: Vec<String>,
    /// It is rarely touched: hot cachelines are left to others.
    #[arg(long)]
    pub(crate) cold: bool,
    /// A profile of the struct; without one, places are judged by holes and structure alone.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// vmlinux or program with DWARF or BTF, or raw BTF.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: PathBuf,
    /// A kernel tree: comments and #ifdefs of the source then bar places or are mentioned.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// Cacheline sizes to judge, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// Where to write the answer (JSON); a table is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    #[command(flatten)]
    pub(crate) from: SimulateFrom,
    /// Cacheline sizes to model, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// Accesses of a CPU elsewhere that end its visit of an object in a trace.
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) gap: u64,
    /// A CPU's first-level cache, in KiB. Defaults are small, so that a guest's few objects press on the caches as a
    /// server's many do.
    #[arg(long, value_name = "KIB", default_value_t = 8, value_parser = cache_size())]
    pub(crate) l1: u64,
    /// A CPU's second-level cache, in KiB.
    #[arg(long, value_name = "KIB", default_value_t = 64, value_parser = cache_size())]
    pub(crate) l2: u64,
    /// The cache all CPUs share, in KiB.
    #[arg(long, value_name = "KIB", default_value_t = 512, value_parser = cache_size())]
    pub(crate) llc: u64,
    /// Where to write the figures (JSON); a summary is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What is replayed: a trace, or visits drawn from the samples of a profile.
#[derive(Debug, Args)]
pub(crate) struct SimulateFrom {
    /// Recorded accesses, binary or text (docs/formats.md).
    #[arg(long, value_name = "FILE", requires = "objects", required_unless_present = "profile")]
    pub(crate) trace: Option<PathBuf>,
    /// Where the objects were: address, type and size a line.
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub(crate) objects: Option<PathBuf>,
    /// Instead of a trace, the profile the plan was made of: visits are drawn from its samples.
    #[arg(long, value_name = "FILE", requires = "vmlinux", conflicts_with = "trace")]
    pub(crate) profile: Option<PathBuf>,
    /// The program the profile was made with.
    #[arg(long, visible_alias = "program", value_name = "FILE", requires = "profile")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Objects of each struct to draw visits of. The default is more than the modelled caches hold.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) population: u64,
    /// Visits to draw.
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) visits: u64,
}

/// Up to a gigabyte.
fn cache_size() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1 << 20)
}

#[derive(Debug, Args)]
pub(crate) struct PatchArgs {
    /// The plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// The source tree the program was built from.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: PathBuf,
    /// The profile the plan was made of, for the cover letter of a series.
    #[arg(long, value_name = "FILE", requires = "series")]
    pub(crate) profile: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) series: series::SeriesArgs,
    /// Folder for the patches; made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ProposeArgs {
    /// Structs to improve.
    #[arg(value_name = "TYPE", required = true)]
    pub(crate) types: Vec<String>,
    #[command(flatten)]
    pub(crate) recordings: Recordings,
    /// The source tree the program was built from.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: PathBuf,
    /// A file of pins (docs/formats.md): which members keep their place, come first or last, share a cacheline, lie
    /// apart or stand together.
    #[arg(long, value_name = "FILE")]
    pub(crate) pins: Option<PathBuf>,
    /// Cacheline sizes to plan for, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// More builds of the same source, vmlinux, .o or BTF files of other configurations and machines: no order is proposed
    /// that is worse than the declared one in any of them. @BYTES sets the cacheline size where the file doesn't tell.
    #[arg(long, value_name = "FILE[@BYTES]", value_delimiter = ',', value_parser = matrix::also)]
    pub(crate) also: Vec<Also>,
    #[command(flatten)]
    pub(crate) series: series::SeriesArgs,
    /// Folder for report.md, plan.json, profile.json and the patches; made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder to work in; a new one under the system's temporary folder if not given.
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

fn candidate(text: &str) -> Result<Choice, String> {
    match text {
        "best" => Ok(Choice::Best),
        "smallest" => Ok(Choice::Smallest),
        number => match number.parse() {
            Ok(number) if number > 0 => Ok(Choice::Number(number)),
            _ => Err("best, smallest or a number from 1 on".to_owned()),
        },
    }
}

pub(crate) fn line_size(text: &str) -> Result<u64, String> {
    let size: u64 = text.parse().map_err(|_| "not a number of bytes".to_owned())?;
    let usable = size.is_power_of_two() && (16..=4096).contains(&size);
    if usable { Ok(size) } else { Err("a cacheline is a power of two from 16 to 4096 bytes".to_owned()) }
}
