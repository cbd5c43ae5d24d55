//! `fieldline compare --symbols`: samples by symbol, and by member of structs, in recordings of several variants.

use super::callers::report_text;
use super::members::{self, MemberTable};
use super::variants::{arguments, require_plain_format};
use crate::args::{CompareArgs, CompareFormat};
use crate::input::document::to_json;
use crate::input::runs::{self, RunFile};
use crate::input::stacks;
use crate::output::{self, CommandOutcome};
use anyhow::{Result, bail};
use fieldline_compare::symbols::{SymbolCounts, SymbolTable};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The file of `--format json`.
#[derive(Serialize)]
struct SymbolsDocument<'t> {
    format: &'static str,
    version: u32,
    /// Tables by machine, in order.
    machines: &'t [MachineSymbols],
    /// Structs by member, before and after.
    structs: &'t [MemberTable],
}

/// The symbols of all variants on one machine.
#[derive(Serialize)]
struct MachineSymbols {
    machine: String,
    #[serde(flatten)]
    table: SymbolTable,
}

pub(super) fn run(args: &CompareArgs) -> Result<CommandOutcome> {
    require_plain_format(args, "--symbols")?;
    let variants = runs::find_files(&arguments(args), &args.names, args.machines)?;
    let machines: BTreeSet<&str> =
        variants.iter().flat_map(|variant| variant.files.iter().map(|file| file.machine.as_str())).collect();
    let mut tables = Vec::new();
    for machine in machines {
        let mut counted = Vec::new();
        for variant in &variants {
            let mut counts = Vec::new();
            for file in variant.files.iter().filter(|file| file.machine == machine) {
                counts.push(count(args, file)?);
            }
            let name =
                if machine.is_empty() { variant.name.clone() } else { format!("{machine}-{}", variant.name) };
            counted.push((name, counts));
        }
        tables.push(MachineSymbols {
            machine: machine.to_owned(),
            table: SymbolTable::new(&counted, args.top),
        });
    }
    let structs = if args.by_member || !args.structs.is_empty() {
        members::compare(args, &variants)?
    } else {
        Vec::new()
    };
    let text =
        match args.format {
            CompareFormat::Json => {
                let document = SymbolsDocument {
                    format: "fieldline-symbols",
                    version: 1,
                    machines: &tables,
                    structs: &structs,
                };
                String::from_utf8(to_json(&document)?)?
            }
            format => {
                let is_markdown = format == CompareFormat::Markdown;
                let draw = |machine: &MachineSymbols| {
                    if is_markdown { machine.table.draw_markdown() } else { machine.table.draw() }
                };
                let mut parts: Vec<String> = tables.iter().map(draw).collect();
                parts.extend(structs.iter().map(|table| {
                    if is_markdown { format!("```\n{}```\n", table.draw()) } else { table.draw() }
                }));
                parts.join("\n")
            }
        };
    output::print(&text)
}

/// Events by symbol of a recording or report; of several events the one chosen.
fn count(args: &CompareArgs, file: &RunFile) -> Result<SymbolCounts> {
    let mut found: BTreeMap<String, SymbolCounts> = BTreeMap::new();
    if let Some(text) = report_text(&file.path)? {
        found.extend(SymbolCounts::from_report(&text));
    } else {
        stacks::for_each_sample(&file.path, &args.programs, args.force, |sample| {
            if let Some(symbol) = sample.functions.first() {
                match found.get_mut(sample.event) {
                    Some(counts) => counts.add(symbol, sample.weight),
                    None => {
                        let mut counts = SymbolCounts::of_samples();
                        counts.add(symbol, sample.weight);
                        found.insert(sample.event.to_owned(), counts);
                    }
                }
            }
        })?;
    }
    let names: Vec<String> = found.keys().cloned().collect();
    let place = file.path.display();
    match &args.event {
        Some(event) => match found.remove(event) {
            Some(counts) => Ok(counts),
            None => bail!("{place}: no event {event}; it has: {}", names.join(", ")),
        },
        None if found.len() > 1 => {
            bail!("{place}: several events, choose one by --event: {}", names.join(", "))
        }
        None => match found.into_values().next() {
            Some(counts) => Ok(counts),
            None => bail!("{place}: no samples"),
        },
    }
}
