//! Random legal orders of many structs: the headers still compile, and every offset is the predicted one.

use crate::kernel::source;
use crate::tools::builds;
use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result, bail, ensure};
use fieldline_debuginfo::dwarf::{self, TypeReader};
use fieldline_layout::types::{Aggregate, Type};
use fieldline_layout::{Layout, TypeId, TypeTable};
use fieldline_source::{DefinitionQuery, SourceText};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Objects whose units read the headers, for CI and for the whole test.
const CI_OBJECTS: &[&str] = &["arch/x86/kernel/asm-offsets.s", "kernel/sched/core.o"];
const FULL_OBJECTS: &[&str] =
    &["mm/memory.o", "fs/namei.o", "net/ipv4/tcp.o", "block/blk-mq.o", "kernel/cgroup/cgroup.o"];
const CI_STRUCTS: usize = 60;
const FULL_STRUCTS: usize = 500;
/// How many are tried for one that must move: a third and more are refused, as their order matters.
const TRIED: usize = 2;
/// Most structs whose declaration can't be edited, in percent.
const MAX_REFUSED: usize = 5;
/// Fewest structs that an order makes larger, in percent.
const MIN_GROWN: usize = 5;
/// Equal numbers draw equal orders.
const SEED: u64 = 1;

/// A struct that may be chosen.
struct Reorderable {
    name: String,
    /// Tags of all it holds by value.
    contained: BTreeSet<String>,
}

/// `cargo xtask permutations [--full]`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    check_random_orders(&inputs::vmlinux()?, args.iter().any(|arg| arg == "--full"))
}

/// Reorders structs at random, all in one patch, and compiles the units that read them.
pub(crate) fn check_random_orders(vmlinux: &Path, is_full: bool) -> Result<bool> {
    let tree = inputs::tree(vmlinux)?;
    let mut objects = CI_OBJECTS.to_vec();
    objects.extend(FULL_OBJECTS.iter().filter(|_| is_full));
    let build = builds::prepared_build(&tree, &objects)?;
    let read = read_headers(&tree, &build, &objects)?;
    let structs = reorderable_structs(vmlinux, &tree, &read)?;
    let wanted = if is_full { FULL_STRUCTS } else { CI_STRUCTS };
    let names = choose_independent(&structs, wanted * TRIED);
    let (structs, files, tried) = (structs.len(), read.len(), names.len());
    print_line!("  {structs} structs in {files} files that the units read; {tried} tried");
    let (folder, fieldline) = (shell::temporary("orders"), shell::fieldline()?);
    std::fs::create_dir_all(&folder)?;
    let plan = folder.join("plan.json");
    let mut shuffle = Command::new(&fieldline);
    shuffle.arg("plan").args(names).args(["--static", "--shuffle", &SEED.to_string()]);
    shuffle.arg("--vmlinux").arg(vmlinux).arg("--tree").arg(&tree).arg("-o").arg(&plan);
    let mut verify = Command::new(&fieldline);
    verify.arg("verify").arg("--plan").arg(&plan).arg("--tree").arg(&tree).arg("--build").arg(&build);
    let units = objects.iter().map(|object| Path::new(object).with_extension("c"));
    verify.args(units.flat_map(|unit| [PathBuf::from("--unit"), unit]));
    let result = compile_orders(&mut shuffle, &plan, &mut verify);
    std::fs::remove_dir_all(&folder)?;
    result.map(|(moved, refused)| moved >= wanted && refused * 100 <= (moved + refused) * MAX_REFUSED)
}

/// Plans, patches, compiles. Returns how many structs moved, and how many could not be edited.
fn compile_orders(shuffle: &mut Command, plan: &Path, verify: &mut Command) -> Result<(usize, usize)> {
    // The exit code is 1 if nothing may move in a struct.
    let output = shuffle.output().context("cannot run fieldline")?;
    if output.status.code().is_none_or(|code| code > 1) {
        bail!("plan: {}", String::from_utf8_lossy(&output.stderr));
    }
    let Outcomes { moved, fixed, grown } = count_outcomes(plan)?;
    let output = verify.output().context("cannot run fieldline")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (agreeing, others): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.ends_with("members as predicted"));
    let proven = agreeing.iter().filter(|line| !line.contains("NOT")).count();
    // Structs that the plan refused are printed again; the others can't be edited.
    let refused = others.iter().filter(|line| line.starts_with("refused: ")).count().saturating_sub(fixed);
    others.iter().for_each(|line| print_line!("  {line}"));
    print_line!("{}", String::from_utf8_lossy(&output.stderr));
    print_line!(
        "  {moved} structs reordered, of which {grown} grow, {refused} refused by the source, {proven} compiled as predicted"
    );
    ensure!(proven + refused == moved && proven > 0, "not every order is proven");
    ensure!(
        grown * 100 >= moved * MIN_GROWN,
        "hardly any order makes its struct larger: padding is not tried"
    );
    Ok((proven, refused))
}

/// How many structs of a plan move, may not move, and become larger.
struct Outcomes {
    moved: usize,
    fixed: usize,
    grown: usize,
}

/// Counts the structs of a plan, and prints all by outcome.
fn count_outcomes(plan: &Path) -> Result<Outcomes> {
    let plan: serde_json::Value = serde_json::from_slice(&std::fs::read(plan)?)?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let structs = plan["structs"].as_array().context("plan.json: no structs")?;
    let size = |plan: &serde_json::Value, order: &str| plan[order]["size"].as_u64();
    let grown = structs.iter().filter(|plan| size(plan, "chosen") > size(plan, "declared")).count();
    for plan in structs {
        let outcome = plan["outcome"].as_str().unwrap_or_default();
        let reason = if outcome == "refused" { plan["reason"].as_str().unwrap_or_default() } else { "" };
        *counts.entry(format!("{outcome} {reason}")).or_default() += 1;
    }
    counts.iter().for_each(|(outcome, count)| print_line!("  {count} {outcome}"));
    let count = |outcome: &str| {
        counts.iter().filter(|(key, _)| key.starts_with(outcome)).map(|(_, count)| count).sum()
    };
    Ok(Outcomes { moved: count("moved"), fixed: count("refused"), grown })
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
fn reorderable_structs(vmlinux: &Path, tree: &Path, read: &BTreeSet<PathBuf>) -> Result<Vec<Reorderable>> {
    with_dwarf(vmlinux, |dwarf| {
        let mut reader = TypeReader::new(dwarf);
        let mut found: BTreeMap<String, Option<Reorderable>> = BTreeMap::new();
        for definition in dwarf::index_definitions(dwarf)? {
            let id = reader.read(definition.die)?;
            let Some(layout) = Layout::from_type(reader.table(), id) else { continue };
            let entry = is_reorderable(&layout, tree, read).then(|| {
                let mut contained = BTreeSet::new();
                collect_contained(reader.table(), id, &mut contained);
                contained.remove(&layout.name);
                Reorderable { name: layout.name.clone(), contained }
            });
            // A name with several definitions is left out.
            let is_first = !found.contains_key(&layout.name);
            found.insert(layout.name, entry.filter(|_| is_first));
        }
        Ok(found.into_values().flatten().collect())
    })
}

/// Structs made by macros have no declaration to edit.
fn is_reorderable(layout: &Layout, tree: &Path, read: &BTreeSet<PathBuf>) -> bool {
    let file = || layout.file.as_deref().and_then(|file| source::in_tree(tree, file));
    let query = DefinitionQuery::for_name(&layout.name).with_line(layout.line);
    let is_declared =
        |file: &PathBuf| std::fs::read(file).is_ok_and(|text| SourceText::new(&text).find(&query).is_ok());
    layout.kind == "struct"
        && layout.members.len() > 2
        && file().is_some_and(|file| {
            let is_public = file.components().any(|part| part.as_os_str() == "uapi");
            read.contains(&file) && !is_public && is_declared(&file)
        })
}

/// Tags of everything that a type holds by value, its own included.
fn collect_contained(table: &TypeTable, id: TypeId, into: &mut BTreeSet<String>) {
    match table.get(table.strip(id)) {
        Type::Array { element, .. } => collect_contained(table, *element, into),
        Type::Aggregate(Aggregate { name, members, .. }) => {
            into.extend(name.iter().map(|name| name.to_string()));
            members.iter().for_each(|member| collect_contained(table, member.ty, into));
        }
        _ => {}
    }
}

/// Structs of which none contains another, chosen by hash of the name.
fn choose_independent(structs: &[Reorderable], wanted: usize) -> Vec<String> {
    let (mut chosen, mut inside) = (BTreeSet::<&str>::new(), BTreeSet::<&str>::new());
    let mut ranked: Vec<&Reorderable> = structs.iter().collect();
    ranked.sort_by_cached_key(|entry| (hash_name(&entry.name), entry.name.clone()));
    for entry in ranked {
        let contains_chosen = entry.contained.iter().any(|tag| chosen.contains(tag.as_str()));
        if chosen.len() < wanted && !contains_chosen && !inside.contains(entry.name.as_str()) {
            chosen.insert(&entry.name);
            inside.extend(entry.contained.iter().map(String::as_str));
        }
    }
    chosen.into_iter().map(str::to_owned).collect()
}

/// FNV-1a, 64 bits.
fn hash_name(name: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_chosen_struct_holds_another() {
        let entry = |name: &str, contained: &[&str]| Reorderable {
            name: name.to_owned(),
            contained: contained.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        let all = [entry("a", &["b"]), entry("b", &[]), entry("c", &["b", "d"]), entry("d", &[])];
        let chosen = choose_independent(&all, 4);
        assert!(chosen == ["a", "c"] || chosen == ["b", "d"] || chosen == ["a", "d"], "{chosen:?}");
        assert_eq!(choose_independent(&all, 1).len(), 1);
    }
}
