//! Tests on a real kernel.

pub(crate) mod bench_guest;
pub(crate) mod guest;
pub(crate) mod packing;
pub(crate) mod parity;
pub(crate) mod permutations;
pub(crate) mod regressions;
pub(crate) mod source;
pub(crate) mod trial;

use crate::fixtures::synthetic;
use crate::research::emulated;
use crate::tools::chosen::{self, Purpose};
use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::{self, print_line};
use crate::tools::{builds, debian};
use anyhow::{Context, Result, ensure};
use fieldline_debuginfo::btf::{self, BtfKind};
use fieldline_debuginfo::dwarf::{self, DebugSections, Dwarf, LazyDwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::{Layout, abi};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compile unit whose functions access the planned structs.
const UNIT: &str = "kernel/sched/fair.c";
const UNKNOWN_NAME: &str = "a name of the file is not found";

/// `cargo xtask kernel [--full]`: each test prints its result; `true` if all hold.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let vmlinux = inputs::vmlinux()?;
    print_line!("kernel: {}", vmlinux.display());
    let (mut passed, mut failed) = (0, 0);
    let mut count = |name: &str, result: Result<bool>| {
        let (sum, word) = match result {
            Ok(true) => (&mut passed, "ok".to_owned()),
            Ok(false) => (&mut failed, "FAILED".to_owned()),
            Err(error) => (&mut failed, format!("FAILED: {error:#}")),
        };
        *sum += 1;
        print_line!("test {name} ... {word}");
    };
    count("placement rules reproduce every struct", placement(&vmlinux));
    count("names found one by one are those of the whole file", name_search(&vmlinux));
    count("names found together are those found one by one", batch_search(&vmlinux));
    count("typedefs and first definitions are found early", lazy_search(&vmlinux));
    count("plans by size alone are possible", with_dwarf(&vmlinux, packing::every_struct));
    count("a second decoder reads the same operands", second_decoder(&vmlinux));
    count("tests that need real inputs", ignored_tests(&vmlinux));
    count("AArch64: operands as objdump has them, programs attributed under qemu", emulated::run(&[]));
    count("pahole parity", parity::run(&[vmlinux.display().to_string()]));
    count(
        "a kernel in QEMU: attribution by its own objects, known order of layouts",
        guest::record_and_score(&vmlinux),
    );
    count("recording to a patch that applies", propose_end_to_end(&vmlinux));
    count("a kernel against itself passes the gate", regressions::compare_with_itself(&vmlinux));
    let is_full = args.iter().any(|arg| arg == "--full");
    count("random orders compile as predicted", permutations::check_random_orders(&vmlinux, is_full));
    if is_full {
        let args = [vmlinux.display().to_string()];
        count("declarations in the tree are those of debug info", source::run(&args));
        count("the gate finds what grew between kernels", regressions::compare_releases(&vmlinux));
    }
    print_line!("\nkernel: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// The placement rules give the offsets and size that debug info states, for every struct.
fn placement(vmlinux: &Path) -> Result<bool> {
    with_dwarf(vmlinux, |dwarf| {
        let (mut structs, mut wrong) = (0, 0);
        for layout in inputs::layouts(dwarf)? {
            let layout = layout?;
            structs += 1;
            if let Some(mismatch) = abi::find_mismatch(&layout) {
                wrong += 1;
                print_line!("  {} {}: {mismatch:?}", layout.kind, layout.name);
            }
        }
        print_line!("  {structs} structs and unions, {wrong} placed elsewhere");
        Ok(structs > 5000 && wrong == 0)
    })
}

/// A search by name finds the definitions that the index of the whole file has.
fn name_search(vmlinux: &Path) -> Result<bool> {
    with_dwarf(vmlinux, |dwarf| {
        let all = dwarf::index_definitions(dwarf)?;
        let mut checked = 0;
        // A prime step picks names from all over the file.
        for definition in all.iter().step_by(97) {
            let same = all.iter().filter(|other| other.name == definition.name);
            let expected = sorted(same.map(|other| other.units));
            let found = dwarf::find_many(dwarf, &[&definition.name])?.concat();
            let found = sorted(found.iter().map(|other| other.units));
            if expected != found {
                print_line!("  {}: {found:?} units by name, {expected:?} in the file", definition.name);
                return Ok(false);
            }
            checked += 1;
        }
        print_line!("  {checked} names of {}", all.len());
        Ok(checked > 50)
    })
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values
}

/// A search for many names at once finds what searches for each find, and what the index of the whole file has.
fn batch_search(vmlinux: &Path) -> Result<bool> {
    with_dwarf(vmlinux, |dwarf| {
        let all = dwarf::index_definitions(dwarf)?;
        let mut names: Vec<&str> = all.iter().step_by(7).map(|definition| definition.name.as_ref()).collect();
        names.extend(["no_such_struct", ""]);
        let (together, firsts) = (dwarf::find_many(dwarf, &names)?, dwarf::find_first_many(dwarf, &names)?);
        for (index, (found, first)) in together.iter().zip(&firsts).enumerate() {
            let name = names[index];
            let same = all.iter().filter(|definition| *definition.name == *name);
            let (indexed, batched) = (sorted(same.map(key)), sorted(found.iter().map(key)));
            let is_first = first.as_ref().map(|definition| definition.die)
                == found.iter().map(|definition| definition.die).min();
            let matches_single_search = index % 31 != 0
                || (dwarf::find_many(dwarf, &[name])? == std::slice::from_ref(found)
                    && dwarf::find_first_many(dwarf, &[name])? == std::slice::from_ref(first));
            if indexed != batched || !is_first || !matches_single_search {
                print_line!("  {name}: {batched:?} together, {indexed:?} in the file");
                return Ok(false);
            }
        }
        print_line!("  {} names at once", names.len());
        Ok(names.len() > 500)
    })
}

fn key(definition: &dwarf::DwarfDefinition) -> (&str, u64, u32) {
    (&definition.name, definition.signature, definition.units)
}

/// A search in the first units alone finds what a search in all finds, and typedefs that BTF has are found in DWARF.
fn lazy_search(vmlinux: &Path) -> Result<bool> {
    let file = FileBytes::open(vmlinux)?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    let all = Dwarf::new(&sections)?;
    let (mut count, mut early) = (0, 0);
    let definitions = dwarf::index_definitions(&all)?;
    for definition in definitions.iter().filter(|definition| !definition.is_nested).step_by(61) {
        let (lazy, name) = (LazyDwarf::new(&sections)?, [&*definition.name]);
        let found = lazy.find_first_many(&name)?.pop().flatten().context(UNKNOWN_NAME)?;
        let first = dwarf::find_first_many(&all, &name)?.pop().flatten().context(UNKNOWN_NAME)?;
        if (found.die, found.signature) != (first.die, first.signature) {
            print_line!("  {}: {:?} early, {:?} of all", definition.name, found.die, first.die);
            return Ok(false);
        }
        count += 1;
        early += u32::from(lazy.is_in_first_units(found.die));
    }
    let typedefs = count_typedefs(&elf, &sections)?;
    print_line!("  {count} definitions, {early} in the first units; {typedefs} typedefs");
    Ok(early > 0)
}

/// Every instruction of the kernel, decoded by two libraries (crates/machinecode/tests/suite/second_decoder.rs).
fn second_decoder(vmlinux: &Path) -> Result<bool> {
    let test = ["test", "--release", "--quiet", "--package", "fieldline-machinecode", "--test", "suite"];
    let mut test = shell::cargo(&test);
    test.args(["--features", "second-decoder", "--", "--nocapture"]).env("FIELDLINE_VMLINUX", vmlinux);
    shell::run(&mut test)?;
    Ok(true)
}

/// The tests that `cargo test` ignores because they need a kernel, its tree, perf, or recordings.
fn ignored_tests(vmlinux: &Path) -> Result<bool> {
    let members = shell::temporary("members");
    std::fs::write(&members, with_dwarf(vmlinux, list_members)?)?;
    let mut test = shell::cargo(&["test", "--quiet", "--workspace", "--tests", "--", "--ignored"]);
    test.env("FIELDLINE_VMLINUX", vmlinux).env("FIELDLINE_TREE", inputs::tree(vmlinux)?);
    test.env("FIELDLINE_MEMBERS", &members).env("FIELDLINE_PERF_ROOT", debian::peers_root()?);
    match inputs::all_recordings()? {
        Some(folder) => test.env("FIELDLINE_DATA", folder),
        None => {
            print_line!("  tests of recordings left out: FIELDLINE_DATA is not set");
            test.args(["--skip", "recordings"])
        }
    };
    shell::run(&mut test)?;
    std::fs::remove_file(&members)?;
    Ok(true)
}

/// File, line, kind, name and members of each struct, a line each.
fn list_members(dwarf: &Dwarf<'_>) -> Result<String> {
    let mut list = String::new();
    for layout in inputs::layouts(dwarf)? {
        let Layout { file, line, kind, name, members, .. } = layout?;
        let Some(file) = file.filter(|_| !name.is_empty()) else { continue };
        let members = members.iter().map(|member| member.name.as_deref().unwrap_or("-"));
        let (members, line) = (members.collect::<Vec<_>>().join(","), line.unwrap_or(0));
        list.push_str(&format!("{file}\t{line}\t{kind}\t{name}\t{members}\n"));
    }
    Ok(list)
}

/// How many typedefs of structs BTF has that DWARF has too; an error if it lacks one.
fn count_typedefs(elf: &Elf<'_>, sections: &DebugSections<'_>) -> Result<u32> {
    let Some(section) = elf.section(".BTF")? else { return Ok(0) };
    let btf = btf::parse(&section, None)?;
    let mut found = 0;
    for typedef in btf.definitions().filter(|definition| definition.kind == BtfKind::Typedef).step_by(17) {
        let name = std::str::from_utf8(typedef.name)?;
        let definition = LazyDwarf::new(sections)?.find_typedefs(&[name])?.pop().flatten();
        definition.with_context(|| format!("typedef {name} is not found"))?;
        found += 1;
    }
    Ok(found)
}

/// Recording, profile, plan, patch, `git apply --check`, and the proof by compiling, for both structs.
fn propose_end_to_end(vmlinux: &Path) -> Result<bool> {
    let out = shell::temporary("end-to-end");
    let recording = match inputs::recording()? {
        Some(recording) => recording,
        None => write_synthetic_recording(vmlinux, &out)?,
    };
    let tree = inputs::tree(vmlinux)?;
    let fieldline = shell::fieldline()?;
    let mut propose = Command::new(&fieldline);
    propose
        .arg("propose")
        .args(chosen::structs(Purpose::Planned)?)
        .arg("--vmlinux")
        .arg(vmlinux)
        .arg("--perf")
        .arg(&recording);
    shell::run(propose.arg("--tree").arg(&tree).arg("-o").arg(&out))?;
    let patches = patch_files(&out)?;
    ensure!(!patches.is_empty(), "{}: propose wrote no patch", out.display());
    for patch in &patches {
        let mut apply = Command::new("git");
        shell::run(apply.current_dir(&tree).args(["apply", "--check", "--verbose"]).arg(patch))?;
    }
    check_plan_improves(&out.join("plan.json"))?;
    let build = builds::prepared_build(&tree, &["kernel/sched/core.o"])?;
    let mut verify = Command::new(&fieldline);
    verify.arg("verify").arg("--plan").arg(out.join("plan.json")).arg("--tree").arg(&tree);
    shell::run(verify.arg("--build").arg(&build))?;
    std::fs::remove_dir_all(&out).with_context(|| format!("{}", out.display()))?;
    Ok(true)
}

/// A recording for a kernel of which there is none.
fn write_synthetic_recording(vmlinux: &Path, folder: &Path) -> Result<PathBuf> {
    print_line!(
        "  no recordings (FIELDLINE_DATA is not set): a synthetic one of this kernel's code replaces them"
    );
    std::fs::create_dir_all(folder)?;
    let path = folder.join("synthetic.perf.data");
    let planned = chosen::structs(Purpose::Planned)?;
    let planned: Vec<&str> = planned.iter().map(String::as_str).collect();
    std::fs::write(&path, synthetic::record(vmlinux, UNIT, &planned)?)?;
    Ok(path)
}

fn patch_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "patch"));
    paths.sort();
    Ok(paths)
}

/// The plan moves something, keeps every member, and grows nothing.
fn check_plan_improves(plan: &Path) -> Result<()> {
    let plan: serde_json::Value = serde_json::from_slice(&std::fs::read(plan)?)?;
    let structs = plan["structs"].as_array().context("plan.json: no structs")?;
    for target in chosen::structs(Purpose::Planned)? {
        let plan = structs.iter().find(|entry| entry["name"] == target.as_str());
        let plan = plan.context("plan.json: a struct is missing")?;
        let names = |order: &str| -> Result<Vec<String>> {
            let members = plan[order]["members"].as_array().context("plan.json: no members")?;
            Ok(members.iter().map(|member| member["name"].to_string()).collect())
        };
        let (mut declared, mut chosen) = (names("declared")?, names("chosen")?);
        ensure!(declared != chosen, "{target}: nothing moves");
        declared.sort();
        chosen.sort();
        let grows = plan["chosen"]["size"].as_u64() > plan["declared"]["size"].as_u64();
        ensure!(declared == chosen && !grows, "{target}: members lost or the struct grew");
    }
    Ok(())
}
