//! Options that several commands share (docs/OPTIONS.md).

use super::values::color_choice;
use crate::output::ColorChoice;
use anyhow::{Result, bail};
use clap::{Args, value_parser};
use std::path::{Path, PathBuf};

/// Options of all commands.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Threads to use; all cores if not given. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Folder with separate debug files, found by build ID or by name. /usr/lib/debug is searched too.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) debug_dir: Vec<PathBuf>,
    /// When to colour text on standard output: auto does on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, default_value = "auto", value_parser = color_choice(), value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// Print results and errors only: no notes, no progress, no list of files written.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print all parts of a text behind its first screen, and each stage of the work with its time on standard
    /// error, also where that is no terminal.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Don't start a pager (FIELDLINE_PAGER, PAGER or less) for a text that is longer than the terminal.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

/// Plain arguments, the last of which may be the file with debug info, where pahole has it.
pub(crate) struct PlainArguments<'a> {
    pub(crate) words: &'a mut Vec<String>,
    pub(crate) vmlinux: &'a mut Option<PathBuf>,
}

impl PlainArguments<'_> {
    /// Takes the last word for the file, if it is one and no other is named.
    pub(crate) fn take_file(self) {
        if self.vmlinux.is_none() && self.words.last().is_some_and(|word| is_file_name(word)) {
            *self.vmlinux = self.words.pop().map(PathBuf::from);
        }
    }
}

/// Whether a word names a file and no type: a path, a file that is there, or a name that only files have.
fn is_file_name(word: &str) -> bool {
    let path = Path::new(word);
    let is_object = path
        .extension()
        .is_some_and(|ending| ["o", "ko", "so", "btf", "debug"].iter().any(|known| ending == *known));
    word.starts_with(['/', '.'])
        || word == "vmlinux"
        || word.starts_with("vmlinux-")
        || is_object
        || std::fs::metadata(path).is_ok_and(|there| !there.is_dir())
}

/// The file with debug info, which a command can't do without.
pub(crate) fn require_vmlinux(file: Option<&PathBuf>) -> Result<&Path> {
    match file {
        Some(file) => Ok(file),
        None => bail!("no file with debug info is named: add --vmlinux FILE (or --program FILE)"),
    }
}

/// Plain arguments without which a command has nothing to do.
pub(crate) fn require_words<'w>(words: &'w [String], kind: &str) -> Result<&'w [String]> {
    if words.is_empty() {
        bail!("no {kind} is named");
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(words: &[&str], vmlinux: Option<&str>) -> (Vec<String>, Option<PathBuf>) {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut vmlinux = vmlinux.map(PathBuf::from);
        PlainArguments { words: &mut words, vmlinux: &mut vmlinux }.take_file();
        (words, vmlinux)
    }

    #[test]
    fn the_last_plain_argument_may_be_the_file() {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(taken(&["tx_class", "./a"], None), (owned(&["tx_class"]), Some("./a".into())));
        assert_eq!(taken(&["tx_class", "vmlinux"], None), (owned(&["tx_class"]), Some("vmlinux".into())));
        assert_eq!(taken(&["page", "mm/slub.o"], None), (owned(&["page"]), Some("mm/slub.o".into())));
        assert_eq!(taken(&["/boot/x"], None), (owned(&[]), Some("/boot/x".into())));
        assert_eq!(taken(&["tx_class", "tx_flow"], None), (owned(&["tx_class", "tx_flow"]), None));
        assert_eq!(
            taken(&["tx_class", "src"], None),
            (owned(&["tx_class", "src"]), None),
            "a folder is no file"
        );
        assert_eq!(taken(&["runtime.g", "internal/abi.Type"], None).1, None, "names of Go's types");
        assert_eq!(taken(&["tx_class", "./a"], Some("b")), (owned(&["tx_class", "./a"]), Some("b".into())));
    }
}
