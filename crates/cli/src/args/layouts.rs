//! Arguments of the commands that print and compare layouts.

use super::values::{debug_format, line_size};
use clap::{Args, ValueEnum};
use fieldline_debuginfo::types::DebugFormat;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct LayoutArgs {
    /// Structs, unions or typedefs by name, or globs such as 'sched_*'; all if none is given. The last may be the
    /// file of --vmlinux.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// vmlinux, .ko, .o, program, or raw BTF; the running kernel's BTF if not given.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Which debug info to read where a file has both; DWARF if not given.
    #[arg(long, value_name = "FORMAT", value_parser = debug_format())]
    pub(crate) debug_format: Option<DebugFormat>,
    /// The base of split BTF (a module's): a vmlinux or its raw BTF.
    #[arg(long, value_name = "FILE")]
    pub(crate) btf_base: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: LayoutFormat,
    /// Cacheline sizes to show, in bytes. Format pahole uses the first.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "64,128", value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
    /// Show the members of structs held by value (format text).
    #[arg(long)]
    pub(crate) expand: bool,
}

/// How `layout` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutFormat {
    /// A table with cacheline boundaries, holes and straddling members.
    #[default]
    Text,
    /// As pahole 1.30 prints it.
    Pahole,
    /// JSON (docs/formats.md).
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// vmlinux, .ko, .o, program, raw BTF or a baseline; git:REV:FILE for one in a git repository.
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// The later file, in the same forms, unless --vmlinux names it; then structs, unions or typedefs by name, or
    /// globs such as 'sched_*'; all if none is given.
    #[arg(value_name = "NEW] [TYPE")]
    pub(crate) words: Vec<String>,
    /// The later file.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// End with exit code 1 if a struct differs.
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Also write a page to look at: the layouts before and after (one file of HTML).
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = DiffFormat::Text, value_name = "FORMAT")]
    pub(crate) format: DiffFormat,
    /// Which debug info to read; if not given, BTF where both files have it, else DWARF.
    #[arg(long, value_name = "FORMAT", value_parser = debug_format())]
    pub(crate) debug_format: Option<DebugFormat>,
    /// Cacheline sizes to compare for, in bytes; the new file's machine's if not given (64 for raw BTF).
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = line_size)]
    pub(crate) lines: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text for the terminal.
    Text,
    /// JSON (docs/formats.md).
    Json,
    /// Markdown, for a comment on a pull request.
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    /// Structs, unions or typedefs by name, or globs such as 'sched_*'; all if none is given. The last may be the
    /// file of --vmlinux.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// vmlinux, .ko, .o, program, or raw BTF.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Which debug info to read where a file has both; DWARF if not given.
    #[arg(long, value_name = "FORMAT", value_parser = debug_format())]
    pub(crate) debug_format: Option<DebugFormat>,
    /// Where to write the layouts (JSON, one member a line).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The configuration: targets, types and rules (docs/formats.md).
    #[arg(long, value_name = "FILE", default_value = "fieldline.toml")]
    pub(crate) config: PathBuf,
    /// The file to check in place of the configuration's, relative to here. With several targets, name the one
    /// that is meant.
    #[arg(long, visible_alias = "program", value_name = "[TARGET=]FILE")]
    pub(crate) vmlinux: Vec<String>,
    /// A baseline or an earlier file to compare with; git:REV:FILE for one in a git repository (FILE relative
    /// to here). With several targets, name the one that is meant.
    #[arg(long, value_name = "[TARGET=]FILE")]
    pub(crate) against: Vec<String>,
    /// Patches by mail: an mbox or a mail (git format-patch, b4), - for standard input. Instead of the configuration's
    /// files, the structs whose declarations they change are compiled, without and with each patch.
    #[arg(long, value_name = "FILE", requires_all = ["tree", "builds"],
          conflicts_with_all = ["vmlinux", "against", "html", "lock_stat"])]
    pub(crate) mail: Option<PathBuf>,
    /// The source tree that the patches are for. It is not written to.
    #[arg(long, value_name = "DIR", requires = "mail")]
    pub(crate) tree: Option<PathBuf>,
    /// A build folder of the tree, with compile_commands.json or kbuild's .cmd files. With several targets, name the one
    /// that it is of.
    #[arg(long = "build", value_name = "[TARGET=]DIR", requires = "mail")]
    pub(crate) builds: Vec<String>,
    /// How to print, and where: text, json, sarif, junit, github, summary; mail, which --mail prints if none is given:
    /// a reply to each patch. May be given several times. summary=FILE adds to FILE ($GITHUB_STEP_SUMMARY); others replace it.
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = sink)]
    pub(crate) format: Vec<FindingsOutput>,
    /// A profile in place of the configuration's, relative to here. Of a profile in Parquet whose hosts were recorded on
    /// several days, accesses of the last day that differ from those before are noted.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// A text of /proc/lock_stat: hot members on the line of a contended lock are found too (false-sharing-pair).
    /// Needs a profile in the configuration.
    #[arg(long, value_name = "FILE")]
    pub(crate) lock_stat: Option<PathBuf>,
    /// Also write a page to look at: the layouts before and now, with the findings (one file of HTML).
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The day by which suppressions may have expired; the system clock's (UTC) if not given.
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) today: Option<String>,
}

/// A form of the findings and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindingsOutput {
    pub(crate) format: FindingsFormat,
    /// A file; standard output if there is none.
    pub(crate) path: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// Text for the terminal.
    Text,
    /// JSON (docs/formats.md).
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
    /// Markdown for a job's page.
    Summary,
    /// Replies to patches, as an mbox (with --mail).
    Mail,
}

fn sink(text: &str) -> Result<FindingsOutput, String> {
    let (form, path) = text.split_once('=').map_or((text, None), |(form, path)| (form, Some(path)));
    if path == Some("") {
        return Err("a file is expected after =".to_owned());
    }
    Ok(FindingsOutput { format: FindingsFormat::from_str(form, false)?, path: path.map(PathBuf::from) })
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Structs, unions or typedefs by name or glob; the profile's hottest if none is given. The last may be the
    /// file of --vmlinux.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// The file to check: vmlinux, .ko, .o, program, or raw BTF.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// A profile that shows which structs are hot.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// How many of the profile's structs to check.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Where to write the configuration; an existing file is not overwritten; - prints it.
    #[arg(short, long, value_name = "FILE", default_value = "fieldline.toml")]
    pub(crate) output: PathBuf,
}
