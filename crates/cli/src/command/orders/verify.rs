//! `fieldline verify`: compares built layouts with those a plan predicted, and runs tests with the patch.

use super::read_plan;
use crate::args::{BuiltObject, VerifyArgs};
use crate::output::{self, CommandOutcome, OutputFormat};
use crate::report::plan::verify_json;
use crate::report::plan::verify_text::{self, VerifyReport};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::edits::{self, PatchSet, PatchSubject};
#[cfg(unix)]
use fieldline_tree::proof::TestRun;
use fieldline_tree::proof::{
    BuildProof, BuildToProve, LayoutVerdict, TestProof, declared_layouts, holds_planned, judge_layouts,
    set_sizes_before,
};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;

pub(crate) fn run(args: &VerifyArgs) -> Result<CommandOutcome> {
    let plan = read_plan(&args.plan)?;
    let mut report = VerifyReport::default();
    for object in &args.objects {
        report.files.push((object.after.clone(), judge_object(&plan, object)?));
    }
    if let Some(tree) = &args.tree {
        verify_tree(&mut report, &plan, tree, args)?;
    }
    match args.format {
        OutputFormat::Json => output::print_json(&verify_json::document(&report))?,
        OutputFormat::Text => output::print_drawn(|out, _| verify_text::draw(out, &report))?,
    };
    Ok(if report.holds() { CommandOutcome::Done } else { CommandOutcome::Negative })
}

/// Compiles the patch, and runs the tests with it.
fn verify_tree(report: &mut VerifyReport, plan: &Plan, tree: &Path, args: &VerifyArgs) -> Result<()> {
    if args.builds.is_empty() && args.test.is_none() {
        bail!("--tree goes with --build, which compiles the patch, or --test, which runs tests with it");
    }
    let patched = edits::build_patches(plan, tree, &args.idiom_args.options())?;
    if !args.builds.is_empty() {
        report.builds = Some(prove_builds(plan, tree, &patched, args)?);
    }
    if let Some(command) = &args.test {
        report.tests = Some((command.clone(), run_tests(tree, command, &patched, args)?));
    }
    report.refusals = patched.refusals;
    Ok(())
}

/// Runs the project's tests without and with the patch, if there is one.
#[cfg(unix)]
fn run_tests(tree: &Path, command: &str, patched: &PatchSet, args: &VerifyArgs) -> Result<Option<TestProof>> {
    if patched.files.is_empty() {
        return Ok(None);
    }
    let _stage = output::begin_stage("testing without and with the patch");
    let timeout = (args.timeout > 0).then(|| Duration::from_secs(args.timeout));
    let (patch, logs) = (&patched.files, args.output.as_deref());
    let proof = TestRun { tree, patch, command, timeout, logs }.run().context("cannot test the patch")?;
    Ok(Some(proof))
}

#[cfg(not(unix))]
fn run_tests(_: &Path, _: &str, _: &PatchSet, _: &VerifyArgs) -> Result<Option<TestProof>> {
    bail!("--test: tests are run on Unix systems")
}

/// Compares every struct of the plan with one build.
fn judge_object(plan: &Plan, object: &BuiltObject) -> Result<Vec<LayoutVerdict>> {
    let before = object.before.as_deref();
    let planned = plan.structs_and_holders();
    let structs: Vec<&StructPlan> = planned.iter().collect();
    let declared = before.map(|path| declared_layouts(path, &structs)).transpose()?;
    let unpatched = before.map(|path| layouts(path, &planned)).transpose()?;
    let built = layouts(&object.after, &planned)?;
    let mut found = Vec::new();
    for (index, (struct_plan, built)) in planned.iter().zip(built).enumerate() {
        let mut declared = declared.as_ref().and_then(|all| all.get(index)).map(Vec::as_slice);
        // The plan has the sizes of what it holds as they were: here they are as planned.
        if declared.is_none() && holds_planned(&object.after, struct_plan, &planned)? {
            declared = Some(&built);
        }
        let mut judged = judge_layouts(struct_plan, declared, &built)?;
        if let Some(before) = unpatched.as_ref().and_then(|all| all.get(index)) {
            set_sizes_before(&mut judged, struct_plan, before);
        }
        if built.len() > judged.len() {
            let (file, name) = (object.after.display(), &struct_plan.name);
            output::print_note(&format!(
                "{file}: struct {name} has {} definitions; {} with the plan's members is compared",
                built.len(),
                judged.len()
            ));
        }
        found.extend(judged);
    }
    Ok(found)
}

fn layouts(path: &Path, structs: &[StructPlan]) -> Result<Vec<Vec<Layout>>> {
    types::with_types(path, None, None, |types| {
        structs.iter().map(|struct_plan| types.layouts(&struct_plan.name)).collect()
    })
}

/// Compiles the patch in every build folder; none if nothing moves.
fn prove_builds(
    plan: &Plan,
    tree: &Path,
    patched: &PatchSet,
    args: &VerifyArgs,
) -> Result<Vec<(PathBuf, BuildProof)>> {
    let planned = plan.structs_and_holders();
    let structs = patched.steps.iter().filter_map(|step| {
        let (PatchSubject::Struct(name) | PatchSubject::Alignment(name)) = &step.subject else { return None };
        let own = planned.iter().find(|own| own.name == *name)?;
        Some((own, step.files.first()?.path.as_str()))
    });
    let structs: Vec<(&StructPlan, &str)> = structs.collect();
    let prove = |folder: &PathBuf| {
        let patch =
            BuildToProve { tree, folder, patch: &patched.files, structs: &structs, units: &args.units };
        Ok((folder.clone(), patch.prove()?))
    };
    // Without structs there is nothing to compile.
    let builds = if structs.is_empty() { &[] } else { args.builds.as_slice() };
    let found = fieldline_parallel::map(builds, prove).into_iter();
    found.collect::<Result<_>>().context("cannot verify the patch")
}
