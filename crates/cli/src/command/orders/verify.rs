//! `fieldline verify`: compares built layouts with those a plan predicted.

use super::read_plan;
use crate::args::{BuiltObject, VerifyArgs};
use crate::output::{self, CommandOutcome};
use crate::report::plan::verify_text;
use anyhow::{Context, Result};
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::edits::{self, PatchSubject};
use fieldline_tree::proof::{BuildProof, BuildToProve, judge_layouts};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &VerifyArgs) -> Result<CommandOutcome> {
    let plan = read_plan(&args.plan)?;
    let mut out = String::new();
    let mut holds = true;
    for object in &args.objects {
        holds &= verify_object(&mut out, &plan, object)?;
    }
    if let Some(tree) = &args.tree {
        holds &= verify_builds(&mut out, &plan, tree, args)?;
    }
    output::print(&out)?;
    Ok(if holds { CommandOutcome::Done } else { CommandOutcome::Negative })
}

/// Compares every struct of the plan with one build.
fn verify_object(out: &mut String, plan: &Plan, object: &BuiltObject) -> Result<bool> {
    let before = object.before.as_deref();
    let declared = before.map(|path| layouts(path, &plan.structs)).transpose()?;
    let built = layouts(&object.after, &plan.structs)?;
    let mut holds = true;
    out.push_str(&format!("{}:\n", object.after.display()));
    for (index, (struct_plan, built)) in plan.structs.iter().zip(built).enumerate() {
        let declared = declared.as_ref().and_then(|all| all.get(index)).map(Vec::as_slice);
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
fn verify_builds(out: &mut String, plan: &Plan, tree: &Path, args: &VerifyArgs) -> Result<bool> {
    let patched = edits::build_patches(plan, tree, &args.idiom_args.options())?;
    let structs = patched.steps.iter().filter_map(|step| {
        let PatchSubject::Struct(name) = &step.subject else { return None };
        Some((plan.find_struct(name)?, step.files.first()?.path.as_str()))
    });
    let structs: Vec<(&StructPlan, &str)> = structs.collect();
    verify_text::draw_refusals(out, &patched.refusals);
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
    Ok(patched.refusals.is_empty() && found.iter().all(BuildProof::holds))
}
