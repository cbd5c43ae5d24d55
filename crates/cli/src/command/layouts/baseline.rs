//! `fieldline baseline`: layouts to compare later ones with.

use crate::args::BaselineArgs;
use crate::input::shelf;
use crate::output::{self, Outcome};
use anyhow::{Result, bail};
use fieldline_check::baseline::{Baseline, Kept};
use fieldline_debuginfo::types::Format;
use fieldline_layout::Member;
use std::fmt::Write;

pub(crate) fn run(args: &BaselineArgs) -> Result<Outcome> {
    let shelf = shelf::read(&args.from, &args.types, args.debug_format)?;
    if let Some(name) = shelf.missing.first() {
        bail!("{}: no definition of a struct, union or class '{name}' in its debug info", shelf.file);
    }
    if shelf.layouts.is_empty() {
        bail!("{}: no type is named so", shelf.file);
    }
    let count = shelf.layouts.len();
    let format = if shelf.format == Format::Btf { "btf" } else { "dwarf" };
    let kept = Baseline::new(shelf.layouts, shelf.line, shelf.pointer, format);
    output::write_file(&args.output, text(&kept)?.as_bytes())?;
    output::print(&format!("wrote {} with {count} types\n", args.output.display()))
}

/// JSON with a type's head, and each member, on a line of its own.
fn text(kept: &Baseline) -> Result<String> {
    let head = Baseline { types: Vec::new(), ..kept.clone() };
    let mut out = opened(&serde_json::to_string(&head)?, "\"types\":[").to_owned();
    for (index, of) in kept.types.iter().enumerate() {
        out.push_str(if index > 0 { ",\n\n" } else { "\n" });
        let head = Kept { members: Vec::new(), ..of.clone() };
        out.push_str(opened(&serde_json::to_string(&head)?, "\"members\":["));
        members(&mut out, &of.members, 1)?;
    }
    out.push_str("\n]}\n");
    Ok(out)
}

/// A JSON object up to the empty list it ends with.
fn opened<'t>(text: &'t str, list: &str) -> &'t str {
    text.rfind(list).map_or(text, |place| &text[..place + list.len()])
}

fn members(out: &mut String, of: &[Member], depth: usize) -> Result<()> {
    for (index, member) in of.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        let own = serde_json::to_string(&Member { members: Vec::new(), ..member.clone() })?;
        let _ = write!(out, "{:depth$}", "");
        if member.members.is_empty() {
            out.push_str(&own);
            continue;
        }
        let _ = write!(out, "{},\"members\":[", own.strip_suffix('}').unwrap_or(&own));
        members(out, &member.members, depth + 1)?;
    }
    out.push_str("]}");
    Ok(())
}
