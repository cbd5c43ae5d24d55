//! `fieldline trial` on kernels whose answer is known: one with each member of a struct on a line of its own is worse, and
//! one with a changed comment is no other kernel.

use super::source::in_tree;
use crate::tools::chosen::{self, Purpose};
use crate::tools::debian;
use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::{self, cache, print_line};
use anyhow::{Context, Result};
use fieldline_layout::Layout;
use fieldline_source::{DefinitionQuery, Edit, Edits, SourceText, StructBody, diff};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Boots of each kernel if the caller names no number.
const RUNS: &str = "6";
/// The attribute that puts a member on a line of its own (include/linux/cache.h).
const OWN_LINE: &str = " ____cacheline_aligned";
/// The level of a change that counts as known.
const KNOWN_LEVEL: f64 = 0.001;
/// The level of a change that counts as one.
const LEVEL: f64 = 0.05;

/// `cargo xtask trial [VMLINUX [RUNS]]`. A trial that was interrupted goes on.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let vmlinux = args.first().map_or_else(inputs::vmlinux, |path| Ok(path.into()))?;
    let runs = args.get(1).map_or(RUNS, String::as_str);
    let tree = inputs::whole_tree(&vmlinux)?;
    let names = chosen::structs(Purpose::Planned)?;
    let name = names.first().context("no struct is named")?;
    let layout = layout(&vmlinux, name)?;
    let folder = cache()?.join("trial");
    write_patches(&tree, &layout, &folder)?;
    let mut command = Command::new(shell::fieldline()?);
    command.args([
        "trial",
        "-v",
        "--format",
        "json",
        "--runs",
        runs,
        "--names",
        "base,spread,same",
        "--structs",
        name,
    ]);
    command.arg("--patches").arg(folder.join("spread.patch")).arg("--vs").arg(folder.join("same.patch"));
    command.arg("--tree").arg(&tree).arg("--qemu").arg(debian::qemu()?).arg("-o").arg(folder.join("out"));
    let found: Value = serde_json::from_str(&shell::output(&mut command)?).context("fieldline trial")?;
    judge(&found, name)
}

fn layout(vmlinux: &Path, name: &str) -> Result<Layout> {
    with_dwarf(vmlinux, |dwarf| {
        let mut layouts = inputs::layouts(dwarf)?;
        let is_meant = |layout: &Result<Layout>| layout.as_ref().is_ok_and(|layout| layout.name == *name);
        layouts.find(is_meant).with_context(|| format!("no struct {name}"))?
    })
}

/// Writes the two patches of the file that declares a struct.
fn write_patches(tree: &Path, layout: &Layout, folder: &Path) -> Result<()> {
    let declared = layout.file.as_deref().context("no file declares it")?;
    let path = in_tree(tree, declared).with_context(|| format!("{declared}: not in {}", tree.display()))?;
    let text = fs::read(&path).with_context(|| path.display().to_string())?;
    let source = SourceText::new(&text);
    let definition = source.find(&DefinitionQuery::for_name(&layout.name))?;
    let body = StructBody::parse(&source, &definition)?;
    let mut spread = Edits::default();
    for statement in body.statements() {
        let end = statement.range.end - usize::from(text.get(statement.range.end - 1) == Some(&b';'));
        spread.insert(Edit { range: end..end, replacement: OWN_LINE.as_bytes().to_vec() })?;
    }
    let first = body.statements().first().context("no member")?.range.start;
    let mut same = Edits::default();
    same.insert(Edit { range: first..first, replacement: b"/* A comment. */ ".to_vec() })?;
    let name = path.strip_prefix(tree)?.display().to_string();
    fs::create_dir_all(folder)?;
    for (file, edits) in [("spread.patch", spread), ("same.patch", same)] {
        fs::write(folder.join(file), diff::unified(&name, &text, &edits.apply(&text)))?;
    }
    Ok(())
}

/// The spread kernel is worse in lines and in misses of all accesses, and nothing is shown of the other.
fn judge(found: &Value, name: &str) -> Result<bool> {
    let rows = found["structs"]["rows"].as_array().context("no rows")?;
    let mut holds = true;
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let label = format!("{} {} {}", text("test"), text("case"), text("measure"));
        let p = |variant: usize| row["changes"][variant]["adjusted_p"].as_f64().unwrap_or(1.0);
        let percent = |variant: usize| row["changes"][variant]["percent"].as_f64().unwrap_or(0.0);
        let is_known = text("test") == name && text("measure") == "lines per visit"
            || text("test") == "all accesses" && text("measure").ends_with("LLC misses");
        let is_worse = !is_known || percent(0) > 0.0 && p(0) < KNOWN_LEVEL;
        let is_same = p(1) >= LEVEL;
        let word = if is_worse && is_same { "ok" } else { "FAILED" };
        print_line!(
            "  {label}: spread {:+.1} % (p {:.4}), same {:+.1} % (p {:.3}) ... {word}",
            percent(0),
            p(0),
            percent(1),
            p(1)
        );
        holds &= is_worse && is_same;
    }
    Ok(holds)
}
