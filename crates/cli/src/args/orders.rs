//! Arguments of the commands that plan, replay, write and verify orders.

use super::accesses::RecordingArgs;
use super::fleet::FleetArgs;
use super::series::{IdiomArgs, SeriesArgs};
use super::values::{also, cache_size, candidate, line_size, output_format, plan_part};

use crate::output::OutputFormat;
use crate::report::parts::PlanPart;
use clap::Args;
use fieldline_plan::{CandidateChoice, PlanOptions};
use fieldline_tree::builds::OtherBuild;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Structs to plan. The last may be the file of --vmlinux.
    #[arg(value_name = "TYPE", required_unless_present = "together")]
    pub(crate) types: Vec<String>,
    /// Structs that one allocation holds side by side: they are planned, and judged in the struct that holds them. The
    /// exit code is 1 if none does. Planned structs that are found side by side are judged so without this, too.
    #[arg(long, value_name = "TYPE,TYPE,…", value_delimiter = ',', conflicts_with = "packing")]
    pub(crate) together: Vec<String>,
    /// The profile: a file of JSON, or a folder or pattern of Parquet.
    #[arg(long, value_name = "FILE", required_unless_present = "packing")]
    pub(crate) profile: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Of a profile in Parquet, also show figures for each value of this label.
    #[arg(long, value_name = "LABEL", requires = "profile")]
    pub(crate) cohorts: Option<String>,
    /// Offer no order that is worse than the declared one in a cohort with enough samples.
    #[arg(long, requires = "cohorts")]
    pub(crate) no_cohort_worse: bool,
    /// Plan without a profile: pack holes, and only where that saves a cacheline or a slab class. Hot members
    /// are not known then.
    #[arg(long = "static", conflicts_with = "profile")]
    pub(crate) packing: bool,
    /// Instead of a plan, a random order within all constraints, to test patch, build and verify on a tree.
    /// Half of the structs may grow, by a cacheline at most, unless the tree asserts something about their
    /// size. Equal seeds give equal orders.
    #[arg(long, value_name = "NUMBER", requires = "packing")]
    pub(crate) shuffle: Option<u64>,
    /// The program the profile was made with.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// A source tree: comments, #ifdefs and uses of the struct then constrain the order.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) code: CodeArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// A text of /proc/lock_stat: the plan notes which hot members share the line of a contended lock, as declared and
    /// as planned. The order does not depend on it.
    #[arg(long, value_name = "FILE", requires = "profile")]
    pub(crate) lock_stat: Option<PathBuf>,
    /// The struct that a class of locks lies in, where several may be meant. May be given several times.
    #[arg(long = "lock-struct", value_name = "CLASS=STRUCT", requires = "lock_stat")]
    pub(crate) lock_structs: Vec<String>,
    /// Parts of the text to print besides the first screen; -v prints all.
    #[arg(long, value_name = "PART,…", value_delimiter = ',', value_parser = plan_part())]
    pub(crate) show: Vec<PlanPart>,
    /// Where to write the plan (JSON); a summary is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

/// How uses of the structs in the source are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct CodeArgs {
    /// A build folder of the tree, with compile_commands.json or kbuild's .cmd files: a C front end (libclang 17 or
    /// newer) then reads every unit that may see the structs. Without it, code is read as text.
    #[arg(long, value_name = "[O=]DIR", requires = "tree", value_parser = build)]
    pub(crate) build: Option<PathBuf>,
    /// Plan orders though something that this build can't show depends on them (a file format, a device, another
    /// program), for this reason. The plan and the cover letter tell it.
    #[arg(long, value_name = "REASON", requires = "build")]
    pub(crate) allow: Option<String>,
}

/// Limits of the orders to find, and which of those found is proposed.
#[derive(Clone, Debug, Args)]
pub(crate) struct SearchArgs {
    /// A file of pins (docs/formats.md): which members keep their place, come first or last, share a
    /// cacheline, lie apart or stand together.
    #[arg(long, value_name = "FILE")]
    pub(crate) pins: Option<PathBuf>,
    /// Cacheline sizes to plan for, in bytes. None must get worse; the program's own counts most.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// The candidate to propose: recommended (the least to read that keeps at least 75 % of the best one's gain
    /// at each line size), best, smallest (beyond it each further moved member gains less than the mean),
    /// or its number in the table.
    #[arg(
        long,
        value_name = "N|recommended|smallest|best",
        default_value = "recommended",
        value_parser = candidate
    )]
    pub(crate) candidate: CandidateChoice,
    /// Most members that may move in each struct.
    #[arg(long, value_name = "N")]
    pub(crate) max_moves: Option<usize>,
    /// Evaluate the order by 5-fold cross-validation over time blocks and by N block bootstrap replicates,
    /// warm-started from the whole recording's access patterns and orders. Moves found in fewer than 80 % of
    /// the replicates are not proposed. Twenty take three to four times as long as a plan; 0 evaluates
    /// nothing. Default: 0 for plan, 20 for propose.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=2_000))]
    pub(crate) confidence: Option<u16>,
    /// Also count pairs of adjacent lines, which x86 processors prefetch together, at a fifth of a line.
    #[arg(long)]
    pub(crate) adjacent_lines: bool,
    /// More builds of the same source, vmlinux, .o or BTF files of other configurations and machines: no
    /// order is proposed that is worse than the declared one in any of them. @BYTES sets the cacheline size
    /// if the file doesn't have it.
    #[arg(long, value_name = "FILE[@BYTES]", value_delimiter = ',', value_parser = also)]
    pub(crate) also: Vec<OtherBuild>,
}

impl SearchArgs {
    /// Options of the planner; `resamples` is the default number of replicates.
    pub(crate) fn options(&self, resamples: usize) -> PlanOptions {
        PlanOptions {
            lines: self.lines.clone(),
            choice: self.candidate,
            max_moves: self.max_moves,
            resamples: self.confidence.map_or(resamples, usize::from),
            adjacent_lines: self.adjacent_lines,
            ..PlanOptions::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The struct that gets the member. A file behind it is that of --vmlinux.
    #[arg(value_name = "TYPE", required = true, num_args = 1..=2)]
    pub(crate) types: Vec<String>,
    /// The new member as C declares it, such as 'long timer_ticks' or 'struct list_head node'.
    #[arg(long, value_name = "DECLARATION")]
    pub(crate) member: String,
    /// Members it is touched together with: it goes to their cachelines, or the answer is no.
    #[arg(long, value_name = "MEMBER,…", value_delimiter = ',', conflicts_with = "cold")]
    pub(crate) with: Vec<String>,
    /// It is rarely touched: hot cachelines are avoided.
    #[arg(long)]
    pub(crate) cold: bool,
    /// A profile of the struct; without one, locations are ranked by holes and structure alone.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// vmlinux or program with DWARF or BTF, or raw BTF.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// A source tree: comments and #ifdefs then exclude locations or are noted.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// Cacheline sizes to rank for, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// Where to write the answer (JSON); a table is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    #[command(flatten)]
    pub(crate) from: SimulateInput,
    /// Cacheline sizes to model, in bytes.
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
    /// Where to write the figures (JSON); a summary is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

/// Accesses to replay: a trace, or visits drawn from the samples of a profile.
#[derive(Debug, Args)]
pub(crate) struct SimulateInput {
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
    /// Objects of each struct to draw visits to. The default is more than the modelled caches hold.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) population: u64,
    /// Visits to draw.
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) visits: u64,
}

#[derive(Debug, Args)]
pub(crate) struct PatchArgs {
    /// The plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// The source tree the program was built from.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: PathBuf,
    #[command(flatten)]
    pub(crate) code: CodeArgs,
    /// The program the plan was made with; with --build, the plan is held against what its code asks for.
    #[arg(long, visible_alias = "program", value_name = "FILE", requires = "build")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// The profile the plan was made of, for the cover letter of a series.
    #[arg(long, value_name = "FILE", requires = "series")]
    pub(crate) profile: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
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
    pub(crate) recordings: RecordingArgs,
    /// The source tree the program was built from.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: PathBuf,
    #[command(flatten)]
    pub(crate) code: CodeArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    /// Parts of the text to print besides the first screen; -v prints all.
    #[arg(long, value_name = "PART,…", value_delimiter = ',', value_parser = plan_part())]
    pub(crate) show: Vec<PlanPart>,
    /// Folder for report.md, report.html, plan.json, profile.json and the patches; made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// Files built with the patch: vmlinux or .o with debug info. For another configuration or machine than
    /// the plan's, FILE=BEFORE, where BEFORE is the same build without the patch; the prediction is made from
    /// it.
    #[arg(
        long = "vmlinux",
        visible_alias = "program",
        value_name = "FILE[=BEFORE]",
        required_unless_present_any = ["builds", "test"],
        num_args = 1..,
        value_parser = object
    )]
    pub(crate) objects: Vec<BuiltObject>,
    /// Build folders of the tree without the patch: the smallest unit that has the structs is compiled there
    /// as the build compiled it, without the patch and with it. Commands come from kbuild's .cmd files or
    /// compile_commands.json. Neither the folder nor the tree is written to.
    #[arg(long = "build", value_name = "[O=]DIR", requires = "tree", num_args = 1.., value_parser = build)]
    pub(crate) builds: Vec<PathBuf>,
    /// The source tree that was built, without the patch.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// The project's own test command, run by `sh -c` at the top of a copy of the tree without the patch, then
    /// of one with it. It has to build what it tests: what is built in the tree is copied with it. It runs
    /// with your rights and your environment, so give only what you would run yourself.
    #[arg(long, value_name = "COMMAND", requires = "tree")]
    pub(crate) test: Option<String>,
    /// Seconds that each run of --test may take; 0 for no limit.
    #[arg(long, value_name = "SECONDS", requires = "test", default_value_t = 1800)]
    pub(crate) timeout: u64,
    /// Folder for the logs of --test, without.log and with.log. If not given, they are kept in a temporary
    /// folder if the patch changes the outcome.
    #[arg(short, long, value_name = "DIR", requires = "test")]
    pub(crate) output: Option<PathBuf>,
    /// A source file to compile, from the top of the tree; if not given, the smallest that has the struct.
    #[arg(long = "unit", value_name = "FILE", requires = "builds")]
    pub(crate) units: Vec<String>,
    #[command(flatten)]
    pub(crate) idiom_args: IdiomArgs,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

/// A build to compare with the plan.
#[derive(Clone, Debug)]
pub(crate) struct BuiltObject {
    pub(crate) after: PathBuf,
    /// The same build without the patch.
    pub(crate) before: Option<PathBuf>,
}

fn object(text: &str) -> Result<BuiltObject, String> {
    let (after, before) = text.split_once('=').map_or((text, None), |(after, before)| (after, Some(before)));
    if after.is_empty() || before.is_some_and(str::is_empty) {
        return Err("a file, or two with = between".to_owned());
    }
    Ok(BuiltObject { after: after.into(), before: before.map(PathBuf::from) })
}

/// With or without `O=`, as make takes it.
pub(super) fn build(text: &str) -> Result<PathBuf, String> {
    let folder = text.strip_prefix("O=").unwrap_or(text);
    if folder.is_empty() { Err("a folder".to_owned()) } else { Ok(folder.into()) }
}
