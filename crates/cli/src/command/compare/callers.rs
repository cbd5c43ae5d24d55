//! `fieldline compare --callers`: the calls below a function in recordings of several variants.

use super::variants::{arguments, require_plain_format};
use crate::args::{CompareArgs, CompareFormat};
use crate::input::document::to_json;
use crate::input::runs::{self, RunFile};
use crate::input::stacks;
use crate::output::{self, CommandOutcome};
use anyhow::{Context, Result, bail};
use fieldline_compare::call_tree::{self, CallTable, CallTree, StackTree};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn run(args: &CompareArgs, function: &str) -> Result<CommandOutcome> {
    require_plain_format(args, "--callers")?;
    let variants = runs::find_files(&arguments(args), &args.names, args.machines)?;
    let mut trees = Vec::new();
    for variant in &variants {
        trees.push(variant_tree(args, &variant.files, function)?);
    }
    let names: Vec<String> = variants.iter().map(|variant| variant.name.clone()).collect();
    if trees.iter().all(Option::is_none) {
        bail!("no variant has samples with {function} in their call chains");
    }
    let table = CallTable::new(function, &names, &trees);
    let text = match args.format {
        CompareFormat::Json => String::from_utf8(to_json(&CallsDocument::new(&table))?)?,
        CompareFormat::Markdown => table.draw_markdown(),
        _ => table.draw(),
    };
    output::print(&text)
}

/// The file of `--format json`.
#[derive(serde::Serialize)]
struct CallsDocument<'t> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    table: &'t CallTable,
}

impl<'t> CallsDocument<'t> {
    fn new(table: &'t CallTable) -> Self {
        Self { format: "fieldline-calls", version: 1, table }
    }
}

/// The tree of a variant: of its report, or of all its recordings together.
fn variant_tree(args: &CompareArgs, files: &[RunFile], function: &str) -> Result<Option<CallTree>> {
    let mut sums: BTreeMap<String, StackTree> = BTreeMap::new();
    for file in files {
        if let Some(text) = report_text(&file.path)? {
            if files.len() > 1 {
                bail!("{}: several reports of one variant can't be added up; name one", file.path.display());
            }
            return Ok(call_tree::read_report(&text, function));
        }
        stacks::for_each_sample(&file.path, &args.programs, args.force, |sample| {
            let is_meant = args.event.as_ref().is_none_or(|event| event == sample.event);
            if is_meant {
                let tree = sums.entry(sample.event.to_owned()).or_insert_with(|| StackTree::new(function));
                tree.add(sample.weight, sample.functions);
            }
        })?;
    }
    match sums.len() {
        0 | 1 => Ok(sums.values().next().and_then(StackTree::finish)),
        _ => {
            let names: Vec<&str> = sums.keys().map(String::as_str).collect();
            bail!("the recordings have several events, choose one by --event: {}", names.join(", "))
        }
    }
}

/// The text of a file that perf report printed.
pub(super) fn report_text(path: &Path) -> Result<Option<String>> {
    let bytes = fieldline_files::read(path).with_context(|| path.display().to_string())?;
    if bytes.starts_with(b"PERFILE2") {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(call_tree::is_report(&text).then_some(text))
}
