//! `fieldline diff`: the structs of two files that differ, and in what.

use crate::args::{DiffArgs, DiffFormat};
use crate::input::origin::{Fetched, Origin};
use crate::input::shelf::{self, Content, Shelf};
use crate::output::{self, Outcome};
use crate::report::color::Paint;
use crate::report::layout::diff_text;
use anyhow::{Result, bail};
use fieldline_check::SetDiff;
use fieldline_debuginfo::types::Format;
use serde::Serialize;

/// What `--format json` prints.
#[derive(Serialize)]
struct Document<'d> {
    format: &'static str,
    version: u32,
    old: &'d str,
    new: &'d str,
    cachelines: &'d [u64],
    #[serde(flatten)]
    diff: &'d SetDiff,
}

pub(crate) fn run(args: &DiffArgs) -> Result<Outcome> {
    let (old, new) = read(args)?;
    let lines = if args.cacheline.is_empty() { vec![new.line] } else { args.cacheline.clone() };
    let diff = SetDiff::between(&old.layouts, &new.layouts, &lines);
    let text = match args.format {
        DiffFormat::Text => diff_text::draw(&diff, Paint::new(output::use_color())),
        DiffFormat::Markdown => diff_text::markdown(&diff),
        DiffFormat::Json => {
            let (format, version) = ("fieldline-diff", 1);
            let document =
                Document { format, version, old: &old.file, new: &new.file, cachelines: &lines, diff: &diff };
            serde_json::to_string(&document)? + "\n"
        }
    };
    output::print(&text)
}

/// Both files, read at the same time out of debug info of one format if they have one in common.
fn read(args: &DiffArgs) -> Result<(Shelf, Shelf)> {
    let files = (Origin::of(&args.old)?.fetch()?, Origin::of(&args.new)?.fetch()?);
    let content = |file: &Fetched| file.named(Content::of(file.path()));
    // BTF is the quicker one.
    let common = content(&files.0)?.common(content(&files.1)?, [Format::Btf, Format::Dwarf]);
    let format = args.debug_format.or(common);
    let read = |file: &Fetched| shelf::read_fetched(file, &args.types, format);
    let (old, new) = rayon::join(|| read(&files.0), || read(&files.1));
    let (mut old, mut new) = (old?, new?);
    if let Some(name) = old.missing.iter().find(|name| new.missing.contains(name)) {
        bail!("neither {} nor {} defines a struct, union or class '{name}'", old.file, new.file);
    }
    if old.layouts.is_empty() && new.layouts.is_empty() {
        bail!("neither {} nor {} has such a type", old.file, new.file);
    }
    if old.format != new.format {
        output::note(
            "one file's layouts are of DWARF, the other's of BTF: alignments that only DWARF tells are not compared",
        );
        old.forget_alignments();
        new.forget_alignments();
    }
    Ok((old, new))
}
