//! Arguments of `compare`.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) variants: VariantArgs,
    /// Compare the calls below a function, in perf.data, texts of perf script, or of perf report -g.
    #[arg(long, value_name = "FUNCTION", group = "kind")]
    pub(crate) callers: Option<String>,
    /// Compare samples by symbol: the union of the first --top of each variant, in perf.data, texts of perf script, or
    /// of perf report.
    #[arg(long, group = "kind")]
    pub(crate) symbols: bool,
    /// With --symbols, also attribute the samples to struct members, each variant with its own --vmlinux.
    #[arg(long, requires = "symbols")]
    pub(crate) by_member: bool,
    /// The structs to show by member; those with most samples if not given.
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',', requires = "symbols")]
    pub(crate) structs: Vec<String>,
    /// Compare texts of /proc/lock_stat. With --vmlinux, also show the members that share the locks' cachelines.
    #[arg(long, group = "kind")]
    pub(crate) locks: bool,
    /// The struct that a class of locks lies in, where several may be meant. May be given several times.
    #[arg(long = "lock-struct", value_name = "CLASS=STRUCT", requires = "locks")]
    pub(crate) lock_structs: Vec<String>,
    /// Profiles, as `profile` writes them: which members are hot. The first belongs to the first --vmlinux, and so
    /// on.
    #[arg(long = "profile", value_name = "FILE", requires = "locks")]
    pub(crate) profiles: Vec<PathBuf>,
    /// Rows or classes to show.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// The kernels or programs that were recorded: perf.data are matched to them by build ID.
    #[arg(long = "vmlinux", visible_alias = "program", value_name = "FILE")]
    pub(crate) programs: Vec<PathBuf>,
    /// The event to compare, of recordings with several.
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
    /// How to print.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: CompareFormat,
    /// The variants' names in tables, the base's first, with commas between; those of the files if not given.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// The first folder below each of the files given is a machine.
    #[arg(long)]
    pub(crate) machines: bool,
    /// Smaller values are better of metrics with this test, quantity or name (globs such as '*latency*'). May be
    /// given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) lower: Vec<String>,
    /// Larger values are better of these metrics.
    #[arg(long, value_name = "NAME")]
    pub(crate) higher: Vec<String>,
    /// The runs of variants alternated: the first belongs to the first, and so on.
    #[arg(long)]
    pub(crate) paired: bool,
    /// A change of so many percent is not worth finding: `no difference shown` says that none is larger.
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    pub(crate) margin: f64,
    /// Go on although the variants ran on different machines or settings.
    #[arg(long)]
    pub(crate) force: bool,
    /// End with exit code 1 if a metric is worse.
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub(crate) fail_on: Option<FailOn>,
}

/// How `compare` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// A row a metric: means, change, p-value, verdict.
    #[default]
    Table,
    /// A table a test, relative to the base: value, improvement in percent, coefficient of variation.
    Normalised,
    /// 95 % confidence intervals of means, and their change.
    Ci,
    /// As mmtests' compare scripts print.
    Mmtests,
    /// The table in Markdown.
    Markdown,
    /// JSON (docs/formats.md), also for --evidence.
    Json,
    /// A text for a cover letter.
    Cover,
}

/// Verdicts that end with exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A metric is significantly worse.
    Worse,
}

/// Files of the base and of each other variant.
#[derive(Debug)]
pub(crate) struct VariantArgs {
    pub(crate) base: Vec<PathBuf>,
    /// The files of each `--vs`.
    pub(crate) others: Vec<Vec<PathBuf>>,
}

const BASE: &str = "base";
const VS: &str = "vs";

impl FromArgMatches for VariantArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let base = matches.get_many(BASE).unwrap_or_default().cloned().collect();
        let others =
            matches.get_occurrences(VS).unwrap_or_default().map(|files| files.cloned().collect()).collect();
        Ok(Self { base, others })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for VariantArgs {
    fn augment_args(command: Command) -> Command {
        let base = Arg::new(BASE)
            .value_name("BASE")
            .required(true)
            .num_args(1..)
            .value_parser(value_parser!(PathBuf));
        let other =
            Arg::new(VS).long(VS).value_name("OTHER").required(true).num_args(1..).action(ArgAction::Append);
        command
            .arg(base.help("Outputs of benchmarks: files, or folders of them. Each is a run, or several"))
            .arg(other.value_parser(value_parser!(PathBuf)).help(
                "The files or folders of a variant to compare with the base. May be given several times",
            ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err("percent, above 0 and up to 100".to_owned()),
    }
}
