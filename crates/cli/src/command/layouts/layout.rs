//! `fieldline layout`: struct layouts as tables, as pahole's text, or as JSON.

use crate::args::{LayoutArgs, LayoutFormat};
use crate::input::select::{is_glob, matches_glob, missing_error};
use crate::output::{self, CommandOutcome};
use crate::report::color::Palette;
use crate::report::layout::{pahole, table};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::types::{self, TypeDefinition, Types};
use fieldline_layout::{Layout, TypeId, TypeTable};
use fieldline_plan::packing::{find_narrowings, shrink_remark};
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

/// The running kernel's BTF (Documentation/ABI/testing/sysfs-kernel-btf).
const RUNNING_KERNEL: &str = "/sys/kernel/btf/vmlinux";

/// Definitions that a thread prints at a time.
const CHUNK: usize = 64;

pub(crate) fn run(args: &LayoutArgs) -> Result<CommandOutcome> {
    let path = args.vmlinux.as_deref().unwrap_or(Path::new(RUNNING_KERNEL));
    let opened =
        types::with_types(path, args.debug_format, args.btf_base.as_deref(), |types| print(types, args));
    match (&args.vmlinux, opened) {
        (None, Err(error)) if !output::is_broken_pipe(&error) => {
            Err(error.context("no file is named (--vmlinux FILE), and the running kernel's BTF does not do"))
        }
        (_, result) => result,
    }
}

fn print(types: &Types<'_, '_>, args: &LayoutArgs) -> Result<CommandOutcome> {
    if args.btf_base.is_some() && !types.is_btf() {
        bail!("{}: its DWARF is read, which has no base; --debug-format btf reads its BTF", types.file());
    }
    let entries = select(types, args)?;
    let labels = label_duplicates(types, &entries)?;
    let work: Vec<(&TypeDefinition, &String)> = entries.iter().zip(&labels).collect();
    let mut out = output::buffered_stdout();
    if args.format == LayoutFormat::Json {
        out.write_all(b"{\"format\":\"fieldline-layout\",\"version\":1,\"layouts\":[")?;
    }
    let mut first = true;
    // Texts of a batch wait in memory until they are written; batches bound how much.
    for batch in work.chunks(CHUNK * 64) {
        let chunks: Vec<_> = batch.chunks(CHUNK).collect();
        let texts = fieldline_parallel::map(&chunks, |chunk| render(types, chunk, args)).into_iter();
        for text in texts.collect::<Result<Vec<_>>>()?.iter().filter(|text| !text.is_empty()) {
            if args.format == LayoutFormat::Json && !std::mem::take(&mut first) {
                out.write_all(b",\n")?;
            }
            out.write_all(text.as_bytes())?;
        }
    }
    if args.format == LayoutFormat::Json {
        out.write_all(b"]}\n")?;
    }
    out.flush()?;
    Ok(CommandOutcome::Done)
}

/// The requested definitions: each name and each glob must have one.
fn select(types: &Types<'_, '_>, args: &LayoutArgs) -> Result<Vec<TypeDefinition>> {
    let patterns = &args.types;
    if patterns.is_empty() {
        // pahole leaves out types of functions and namespaces, unless they are requested by name.
        let is_shown = |entry: &TypeDefinition| {
            !(entry.is_typedef || (entry.is_nested && args.format == LayoutFormat::Pahole))
        };
        return Ok(types.all()?.into_iter().filter(is_shown).collect());
    }
    let mut selected = Vec::new();
    let mut all = None;
    for pattern in patterns {
        if !is_glob(pattern) {
            let name = types::strip_keyword(pattern);
            let found = types.find(name)?;
            if found.is_empty() {
                return Err(types::not_found_error(types, name)?);
            }
            selected.extend(found);
            continue;
        }
        if all.is_none() {
            all = Some(types.all()?);
        }
        let matching = all.iter().flatten().filter(|entry| matches_glob(pattern, &entry.name)).cloned();
        let before = selected.len();
        selected.extend(matching);
        if selected.len() == before {
            return Err(missing_error(types.file(), pattern));
        }
    }
    Ok(selected)
}

/// For entries whose name has several definitions: which of them each is.
fn label_duplicates(types: &Types<'_, '_>, entries: &[TypeDefinition]) -> Result<Vec<String>> {
    let (mut counts, mut numbers) = (HashMap::new(), HashMap::new());
    for entry in entries {
        *counts.entry(&entry.name).or_insert(0) += 1;
    }
    let mut texts = Vec::with_capacity(entries.len());
    for entry in entries {
        let count = counts.get(&entry.name).copied().unwrap_or(1);
        if count == 1 {
            texts.push(String::new());
            continue;
        }
        let number = numbers.entry(&entry.name).and_modify(|number| *number += 1).or_insert(1);
        let unit = types.unit_name(entry)?.map(|unit| format!(", first in unit {unit}")).unwrap_or_default();
        let units = entry
            .units
            .filter(|units| *units > 1)
            .map(|units| format!(", {units} units"))
            .unwrap_or_default();
        texts.push(format!("definition {number} of {count}{unit}{units}"));
    }
    Ok(texts)
}

fn render(types: &Types<'_, '_>, chunk: &[(&TypeDefinition, &String)], args: &LayoutArgs) -> Result<String> {
    let mut reader = types.reader(chunk.iter().map(|(entry, _)| *entry))?;
    let mut out = String::new();
    for (entry, label) in chunk {
        let id = reader.read(entry)?;
        if args.format == LayoutFormat::Json && !out.is_empty() {
            out.push_str(",\n");
        }
        let rendered = render_one(&mut out, reader.table(), id, (label, types.is_btf()), args);
        rendered.with_context(|| format!("{}: {}", types.file(), entry.name))?;
    }
    Ok(out)
}

/// A layout with what is remarked of it.
#[derive(Serialize)]
struct RemarkedLayout<'l> {
    #[serde(flatten)]
    layout: &'l Layout,
    /// Sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
}

/// The remark on members that could be narrower.
fn remark(table: &TypeTable, id: TypeId, layout: &Layout, args: &LayoutArgs) -> Option<String> {
    let line = args.lines.first().copied().unwrap_or(64);
    shrink_remark(layout, &find_narrowings(table, id), line)
}

/// `label` says which definition of several it is, or is empty.
fn render_one(
    out: &mut String,
    table: &TypeTable,
    id: TypeId,
    (label, from_btf): (&str, bool),
    args: &LayoutArgs,
) -> Result<()> {
    let layout = || Layout::from_type(table, id).context("no struct, union or class");
    match args.format {
        LayoutFormat::Text => {
            let paint = Palette::new(output::use_color());
            let options = table::TableOptions { lines: &args.lines, expand: args.expand, paint };
            let layout = layout()?;
            let remark = remark(table, id, &layout, args);
            table::draw(out, &layout, (label, remark.as_deref()), &options);
        }
        LayoutFormat::Json => {
            let layout = layout()?;
            let remarks = remark(table, id, &layout, args).into_iter().collect();
            out.push_str(&serde_json::to_string(&RemarkedLayout { layout: &layout, remarks })?);
        }
        LayoutFormat::Pahole => {
            let line = args.lines.first().copied().unwrap_or(64);
            let cacheline_size = u32::try_from(line).context("cacheline size")?;
            let options = pahole::PaholeOptions { cacheline_size, from_btf };
            pahole::Printer::new(table, options).print(out, id)?;
            // An empty line follows types asked for by name, not those of a whole file.
            if !args.types.is_empty() {
                out.push('\n');
            }
        }
    }
    Ok(())
}
