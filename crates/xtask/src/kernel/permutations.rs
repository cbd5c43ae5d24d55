//! Random legal orders of many structs: the headers still compile, and every offset is the predicted one.

use crate::kernel::source;
use crate::tools::builds;
use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::dwarf::{self, TypeReader};
use fieldline_layout::types::{Aggregate, Type};
use fieldline_layout::{Layout, TypeId, TypeTable};
use fieldline_source::{DefinitionQuery, SourceText};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Objects whose units read the headers, for CI and for the whole test.
const CI_OBJECTS: &[&str] = &["arch/x86/kernel/asm-offsets.s", "kernel/sched/core.o"];
const ALL_OBJECTS: &[&str] =
    &["mm/memory.o", "fs/namei.o", "net/ipv4/tcp.o", "block/blk-mq.o", "kernel/cgroup/cgroup.o"];
const CI_STRUCTS: usize = 100;
const ALL_STRUCTS: usize = 500;
/// Most structs whose declaration can't be edited, in percent.
const MAX_REFUSED_PERCENT: usize = 5;
/// Fewest structs that an order makes larger, in percent.
const MIN_GROWN_PERCENT: usize = 5;
/// Equal numbers draw equal orders.
const SEED: u64 = 1;

/// A struct that may be chosen.
struct ReorderableStruct {
    name: String,
    /// Tags of all it holds by value.
    inner: BTreeSet<String>,
}

/// `cargo xtask permutations [--full]`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    check_random_orders(&inputs::vmlinux()?, args.iter().any(|arg| arg == "--full"))
}

/// Reorders structs at random, all in one patch, and compiles what reads them.
pub(crate) fn check_random_orders(vmlinux: &Path, is_full: bool) -> Result<bool> {
    let tree = inputs::tree(vmlinux)?;
    let objects: Vec<&str> =
        CI_OBJECTS.iter().chain(ALL_OBJECTS.iter().filter(|_| is_full)).copied().collect();
    let build = builds::prepared_build(&tree, &objects)?;
    let read = read_headers(&tree, &build, &objects)?;
    let candidates = reorderable_structs(vmlinux, &tree, &read)?;
    let wanted = if is_full { ALL_STRUCTS } else { CI_STRUCTS };
    let names = choose_independent(&candidates, wanted + wanted / 2);
    let (tried, files) = (names.len(), read.len());
    print_line(&format!(
        "  {} structs in {files} files that the units read; {tried} tried",
        candidates.len()
    ));
    let folder = std::env::temp_dir().join(format!("fieldline-orders-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = compile_orders(vmlinux, &tree, &build, &objects, &names, &folder);
    std::fs::remove_dir_all(&folder)?;
    result.map(|(moved, refused)| moved >= wanted && refused * 100 <= (moved + refused) * MAX_REFUSED_PERCENT)
}

/// Plans, patches, compiles. How many structs moved, and how many could not be edited.
fn compile_orders(
    vmlinux: &Path,
    tree: &Path,
    build: &Path,
    objects: &[&str],
    names: &[String],
    folder: &Path,
) -> Result<(usize, usize)> {
    let fieldline = shell::fieldline()?;
    let plan = folder.join("plan.json");
    let mut draw = Command::new(&fieldline);
    draw.arg("plan").args(names).args(["--static", "--shuffle", &SEED.to_string(), "--vmlinux"]).arg(vmlinux);
    draw.arg("--tree").arg(tree).arg("-o").arg(&plan);
    // Structs that nothing may move in end it with 1.
    let output = draw.output().context("cannot run fieldline")?;
    if output.status.code().is_none_or(|code| code > 1) {
        bail!("plan: {}", String::from_utf8_lossy(&output.stderr));
    }
    let PermutationOutcomes { moved, fixed, grown } = count_outcomes(&plan)?;
    let mut verify = Command::new(&fieldline);
    verify.arg("verify").arg("--plan").arg(&plan).arg("--tree").arg(tree).arg("--build").arg(build);
    for object in objects {
        verify.arg("--unit").arg(Path::new(object).with_extension("c"));
    }
    let output = verify.output().context("cannot run fieldline")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (agreeing, others): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.ends_with("members as predicted"));
    let proven = agreeing.iter().filter(|line| !line.contains("NOT")).count();
    // What the plan refused is printed again; the rest can't be edited.
    let refused = others.iter().filter(|line| line.starts_with("refused: ")).count().saturating_sub(fixed);
    others.iter().for_each(|line| print_line(&format!("  {line}")));
    print_line(&String::from_utf8_lossy(&output.stderr));
    print_line(&format!(
        "  {moved} structs reordered, of which {grown} grow, {refused} refused by the source, {proven} compiled as predicted"
    ));
    if proven + refused != moved || proven == 0 {
        bail!("not every order is proven");
    }
    if grown * 100 < moved * MIN_GROWN_PERCENT {
        bail!("hardly any order makes its struct larger: padding is not tried");
    }
    Ok((proven, refused))
}

/// How many structs of a plan move, may not move, and become larger.
struct PermutationOutcomes {
    moved: usize,
    fixed: usize,
    grown: usize,
}

/// Counts the structs of a plan, and prints all by outcome.
fn count_outcomes(plan: &Path) -> Result<PermutationOutcomes> {
    let plan: serde_json::Value = serde_json::from_slice(&std::fs::read(plan)?)?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let structs = plan["structs"].as_array().context("plan.json: no structs")?;
    let size = |plan: &serde_json::Value, side: &str| plan[side]["size"].as_u64();
    let grown = structs.iter().filter(|plan| size(plan, "chosen") > size(plan, "declared")).count();
    for plan in structs {
        let outcome = plan["outcome"].as_str().unwrap_or_default();
        let reason = if outcome == "refused" { plan["reason"].as_str().unwrap_or_default() } else { "" };
        *counts.entry(format!("{outcome} {reason}")).or_default() += 1;
    }
    counts.iter().for_each(|(outcome, count)| print_line(&format!("  {count} {outcome}")));
    let count = |outcome: &str| {
        counts.iter().filter(|(key, _)| key.starts_with(outcome)).map(|(_, count)| *count).sum()
    };
    Ok(PermutationOutcomes { moved: count("moved"), fixed: count("refused"), grown })
}

/// Files of the tree that the units read, from their `.cmd` files.
fn read_headers(tree: &Path, build: &Path, objects: &[&str]) -> Result<BTreeSet<PathBuf>> {
    let mut read = BTreeSet::new();
    for object in objects.iter().map(Path::new) {
        let name = object.file_name().context("no file name")?.to_string_lossy();
        let path = build.join(object.with_file_name(format!(".{name}.cmd")));
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let words = text.split_whitespace().map(PathBuf::from);
        read.extend(words.filter(|word| word.starts_with(tree) && word.is_file()));
    }
    Ok(read)
}

/// Structs with one definition, declared in files that are read, in order of names.
fn reorderable_structs(
    vmlinux: &Path,
    tree: &Path,
    read: &BTreeSet<PathBuf>,
) -> Result<Vec<ReorderableStruct>> {
    with_dwarf(vmlinux, |dwarf| {
        let mut reader = TypeReader::new(dwarf);
        let mut found: BTreeMap<String, Option<ReorderableStruct>> = BTreeMap::new();
        for definition in dwarf::index_definitions(dwarf)? {
            let id = reader.read(definition.die)?;
            let Some(layout) = Layout::from_type(reader.table(), id) else { continue };
            let candidate = is_reorderable(&layout, tree, read).then(|| {
                let mut inner = BTreeSet::new();
                collect_contained_structs(reader.table(), id, &mut inner);
                inner.remove(&layout.name);
                ReorderableStruct { name: layout.name.clone(), inner }
            });
            // Several definitions of a name are no candidate.
            let is_first = !found.contains_key(&layout.name);
            found.insert(layout.name, candidate.filter(|_| is_first));
        }
        Ok(found.into_values().flatten().collect())
    })
}

/// Structs made by macros have no declaration to edit.
fn is_reorderable(layout: &Layout, tree: &Path, read: &BTreeSet<PathBuf>) -> bool {
    let file = || layout.file.as_deref().and_then(|file| source::in_tree(tree, file));
    let is_written = |file: &PathBuf| {
        let text = std::fs::read(file).unwrap_or_default();
        SourceText::new(&text).find(&DefinitionQuery::for_name(&layout.name).with_line(layout.line)).is_ok()
    };
    layout.kind == "struct"
        && layout.members.len() > 2
        && file().is_some_and(|file| {
            let is_public = file.components().any(|part| part.as_os_str() == "uapi");
            read.contains(&file) && !is_public && is_written(&file)
        })
}

/// Tags of everything that a type holds by value, its own included.
fn collect_contained_structs(table: &TypeTable, id: TypeId, into: &mut BTreeSet<String>) {
    match table.get(table.strip(id)) {
        Type::Array { element, .. } => collect_contained_structs(table, *element, into),
        Type::Aggregate(Aggregate { name, members, .. }) => {
            into.extend(name.iter().map(|name| name.to_string()));
            members.iter().for_each(|member| collect_contained_structs(table, member.ty, into));
        }
        _ => {}
    }
}

/// Structs of which none holds another, spread over the names.
fn choose_independent(candidates: &[ReorderableStruct], wanted: usize) -> Vec<String> {
    let mut chosen: BTreeSet<&str> = BTreeSet::new();
    let mut inside: BTreeSet<&str> = BTreeSet::new();
    let mut ranked: Vec<&ReorderableStruct> = candidates.iter().collect();
    ranked.sort_by_cached_key(|candidate| (hash_name(&candidate.name), candidate.name.clone()));
    for candidate in ranked {
        let holds_chosen = candidate.inner.iter().any(|tag| chosen.contains(tag.as_str()));
        if chosen.len() < wanted && !holds_chosen && !inside.contains(candidate.name.as_str()) {
            chosen.insert(&candidate.name);
            inside.extend(candidate.inner.iter().map(String::as_str));
        }
    }
    chosen.into_iter().map(str::to_owned).collect()
}

/// A number that says nothing about a name (FNV-1a, 64 bits).
fn hash_name(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_chosen_struct_holds_another() {
        let candidate = |name: &str, inner: &[&str]| ReorderableStruct {
            name: name.to_owned(),
            inner: inner.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        let all =
            [candidate("a", &["b"]), candidate("b", &[]), candidate("c", &["b", "d"]), candidate("d", &[])];
        let chosen = choose_independent(&all, 4);
        assert!(chosen == ["a", "c"] || chosen == ["b", "d"] || chosen == ["a", "d"], "{chosen:?}");
        assert_eq!(choose_independent(&all, 1).len(), 1);
    }
}
