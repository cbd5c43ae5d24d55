//! Arguments of the commands that read recordings and profiles.

use super::fleet::FleetArgs;
use super::values::{ProfileFormat, also, line_size, output_format, profile_format, report_part};
use crate::input::recordings::RecordingInputs;
use crate::output::OutputFormat;
use crate::report::parts::ReportPart;
use clap::Args;
use fieldline_tree::builds::OtherBuild;
use std::path::PathBuf;

/// A program and its recordings.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    /// The vmlinux, program, shared library or kernel module with debug info that was running; given several
    /// times, they are attributed together. Commands that work on what comes out take one of them.
    #[arg(long = "vmlinux", visible_alias = "program", value_name = "FILE", required = true)]
    pub(crate) programs: Vec<PathBuf>,
    /// perf.data files, of file or pipe mode, or texts of perf script (docs/formats.md says with which
    /// fields).
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) perf: Vec<PathBuf>,
    /// Go on although the recording's build ID differs.
    #[arg(long)]
    pub(crate) force: bool,
    /// Attribute by instructions alone, as if the recording had no data addresses.
    #[arg(long)]
    pub(crate) no_addresses: bool,
}

impl RecordingArgs {
    pub(crate) fn inputs(&self) -> RecordingInputs {
        RecordingInputs {
            programs: self.programs.clone(),
            perf: self.perf.clone(),
            force: self.force,
            no_addresses: self.no_addresses,
            may_lack_samples: false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) recordings: RecordingArgs,
    /// Show attributed and unattributed samples with reasons, by event and DSO instead of by struct.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// A label of the host in a fleet, such as cohort=web; with --format parquet. host and day mean the host and
    /// the day themselves. May be given several times.
    #[arg(long = "label", value_name = "K=V", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,
    /// Where to write the profile: a file of JSON, or with --format parquet a folder. A summary is printed in any
    /// case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md); parquet writes tables to the folder -o.
    #[arg(long, default_value = "text", value_parser = profile_format(), value_name = "FORMAT")]
    pub(crate) format: ProfileFormat,
}

/// A label, with a name and a value.
fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("a name and a value with = between, such as cohort=web".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Texts of `perf report -s type,typeoff,symbol -n --stdio` or `perf annotate --data-type -n --stdio`, or
    /// JSON of types.
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
    /// The vmlinux (or program) with debug info that was running.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: PathBuf,
    /// Where to write the profile (JSON); a summary is printed in any case.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The profiles: files of JSON, or folders, patterns and files of Parquet. Their order changes nothing.
    #[arg(value_name = "PROFILE", required = true, num_args = 1..)]
    pub(crate) profiles: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Keys that all tables of a merge of Parquet keep: host, day or both.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',', value_parser = ["host", "day"])]
    pub(crate) keep: Vec<String>,
    /// Where to write the merged profile: a file of JSON, or with --format parquet a folder.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md); parquet writes tables to the folder -o.
    #[arg(long, default_value = "text", value_parser = profile_format(), value_name = "FORMAT")]
    pub(crate) format: ProfileFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SamplesArgs {
    #[command(flatten)]
    pub(crate) recordings: RecordingArgs,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Addresses as linked (hexadecimal), FUNCTION+0xOFFSET, or FUNCTION for all its accesses.
    /// The last may be the file of --vmlinux.
    #[arg(value_name = "PLACE", required = true)]
    pub(crate) places: Vec<String>,
    /// The vmlinux (or program) with debug info.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Structs to report; those with most samples if none is given. The last may be the file of --vmlinux.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// The profile: a file of JSON, or a folder or pattern of Parquet.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: PathBuf,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// The program the profile was made with. If not given, members are named by the layouts in the profile.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Cacheline sizes to show, in bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// Instead of members, list the hosts of a profile in Parquet whose accesses differ from those of the other hosts
    /// with their labels.
    #[arg(long, conflicts_with_all = ["html", "show"])]
    pub(crate) hosts: bool,
    /// A plan made of the profile, for the page.
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(crate) plan: Option<PathBuf>,
    /// More builds of the same source for the page to switch to: vmlinux, .o or BTF files of other configurations and
    /// machines. @BYTES sets the cacheline size if the file doesn't have it.
    #[arg(long, value_name = "FILE[@BYTES]", value_delimiter = ',', value_parser = also, requires = "html")]
    pub(crate) also: Vec<OtherBuild>,
    /// Also write a page to look at: the layouts as declared and as planned, with the accesses (one file of HTML).
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Parts of the text to print besides the first screen; -v prints all.
    #[arg(long, value_name = "PART,…", value_delimiter = ',', value_parser = report_part())]
    pub(crate) show: Vec<ReportPart>,
    /// Rows of functions and pairs to show.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top: usize,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the machine or the recording can answer, 1 it can't (the findings say why, and which \
command would), 2 an input is missing or broken."
)]
pub(crate) struct DoctorArgs {
    /// Structs to check for enough samples; those with most samples if none is given. The last may be the file
    /// of --vmlinux.
    #[arg(value_name = "TYPE", requires = "perf")]
    pub(crate) types: Vec<String>,
    /// Recordings to examine, perf.data or texts of perf script; without one, this machine.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) perf: Vec<PathBuf>,
    /// The vmlinux (or program) that was running; samples by struct are examined too.
    #[arg(long, visible_alias = "program", value_name = "FILE", requires = "perf")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Folder whose proc and sys describe the machine.
    #[arg(long, value_name = "DIR", default_value = "/", conflicts_with = "perf")]
    pub(crate) root: PathBuf,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md).
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}
