//! `fieldline verify`: compares built layouts with those a plan predicted, and runs tests with the patch.

use super::read_plan;
use crate::args::{BuiltObject, VerifyArgs};
use crate::output::{self, CommandOutcome};
use crate::report::plan::verify_text;
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::edits::{self, PatchSet, PatchSubject};
use fieldline_tree::proof::{BuildProof, BuildToProve, declared_layouts, holds_planned, judge_layouts};
#[cfg(unix)]
use fieldline_tree::proof::{TestRun, TestVerdict};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;

pub(crate) fn run(args: &VerifyArgs) -> Result<CommandOutcome> {
    let plan = read_plan(&args.plan)?;
    let mut out = String::new();
    let mut holds = true;
    for object in &args.objects {
        holds &= verify_object(&mut out, &plan, object)?;
    }
    if let Some(tree) = &args.tree {
        holds &= verify_tree(&mut out, &plan, tree, args)?;
    }
    output::print(&out)?;
    Ok(if holds { CommandOutcome::Done } else { CommandOutcome::Negative })
}

/// Compiles the patch, and runs the tests with it.
fn verify_tree(out: &mut String, plan: &Plan, tree: &Path, args: &VerifyArgs) -> Result<bool> {
    if args.builds.is_empty() && args.test.is_none() {
        bail!("--tree goes with --build, which compiles the patch, or --test, which runs tests with it");
    }
    let patched = edits::build_patches(plan, tree, &args.idiom_args.options())?;
    verify_text::draw_refusals(out, &patched.refusals);
    let mut holds = patched.refusals.is_empty();
    if !args.builds.is_empty() {
        holds &= verify_builds(out, plan, tree, &patched, args)?;
    }
    if let Some(command) = &args.test {
        holds &= verify_tests(out, tree, command, &patched, args)?;
    }
    Ok(holds)
}

/// Runs the project's tests without and with the patch.
#[cfg(unix)]
fn verify_tests(
    out: &mut String,
    tree: &Path,
    command: &str,
    patched: &PatchSet,
    args: &VerifyArgs,
) -> Result<bool> {
    if patched.files.is_empty() {
        out.push_str("nothing moves, so there is nothing to test\n");
        return Ok(true);
    }
    output::print_progress("testing without and with the patch");
    let timeout = (args.timeout > 0).then(|| Duration::from_secs(args.timeout));
    let (patch, logs) = (&patched.files, args.output.as_deref());
    let proof = TestRun { tree, patch, command, timeout, logs }.run().context("cannot test the patch")?;
    verify_text::draw_tests(out, command, &proof);
    Ok(proof.verdict() != TestVerdict::Changed)
}

#[cfg(not(unix))]
fn verify_tests(_: &mut String, _: &Path, _: &str, _: &PatchSet, _: &VerifyArgs) -> Result<bool> {
    bail!("--test: tests are run on Unix systems")
}

/// Compares every struct of the plan with one build.
fn verify_object(out: &mut String, plan: &Plan, object: &BuiltObject) -> Result<bool> {
    let before = object.before.as_deref();
    let structs: Vec<&StructPlan> = plan.structs.iter().collect();
    let declared = before.map(|path| declared_layouts(path, &structs)).transpose()?;
    let built = layouts(&object.after, &plan.structs)?;
    let mut holds = true;
    out.push_str(&format!("{}:\n", object.after.display()));
    for (index, (struct_plan, built)) in plan.structs.iter().zip(built).enumerate() {
        let mut declared = declared.as_ref().and_then(|all| all.get(index)).map(Vec::as_slice);
        // The plan has the sizes of what it holds as they were: here they are as planned.
        if declared.is_none() && holds_planned(&object.after, struct_plan, &plan.structs)? {
            declared = Some(&built);
        }
        for judged in judge_layouts(struct_plan, declared, &built)? {
            holds &= judged.verdict.holds();
            verify_text::draw_verdict(out, &judged);
        }
    }
    Ok(holds)
}

fn layouts(path: &Path, structs: &[StructPlan]) -> Result<Vec<Vec<Layout>>> {
    types::with_types(path, None, None, |types| {
        structs.iter().map(|struct_plan| types.layouts(&struct_plan.name)).collect()
    })
}

/// Compiles the patch in every build folder.
fn verify_builds(
    out: &mut String,
    plan: &Plan,
    tree: &Path,
    patched: &PatchSet,
    args: &VerifyArgs,
) -> Result<bool> {
    let structs = patched.steps.iter().filter_map(|step| {
        let PatchSubject::Struct(name) = &step.subject else { return None };
        Some((plan.find_struct(name)?, step.files.first()?.path.as_str()))
    });
    let structs: Vec<(&StructPlan, &str)> = structs.collect();
    let prove = |folder: &PathBuf| {
        BuildToProve { tree, folder, patch: &patched.files, structs: &structs, units: &args.units }.prove()
    };
    // Without structs there is nothing to compile.
    let builds = if structs.is_empty() { &[] } else { args.builds.as_slice() };
    let found: Vec<BuildProof> = fieldline_parallel::map(builds, prove)
        .into_iter()
        .collect::<Result<_>>()
        .context("cannot verify the patch")?;
    verify_text::draw_builds(out, &args.builds, &found);
    Ok(found.iter().all(BuildProof::holds))
}
