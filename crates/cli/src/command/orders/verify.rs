//! `fieldline verify`: what was built against what the plan predicted.

use super::read_plan;
use crate::args::{Object, VerifyArgs};
use crate::output::{self, Outcome};
use crate::report::plan::verify_text;
use anyhow::{Context, Result};
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::edits::{self, About};
use fieldline_tree::proof::{Build, BuildProof, judge};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &VerifyArgs) -> Result<Outcome> {
    let plan = read_plan(&args.plan)?;
    let mut out = String::new();
    let mut holds = true;
    for object in &args.objects {
        holds &= verify(&mut out, &plan, object)?;
    }
    if let Some(tree) = &args.tree {
        holds &= compiled(&mut out, &plan, tree, args)?;
    }
    output::print(&out)?;
    Ok(if holds { Outcome::Done } else { Outcome::No })
}

/// Compares every struct of the plan with one build.
fn verify(out: &mut String, plan: &Plan, object: &Object) -> Result<bool> {
    let before = object.before.as_deref();
    let declared = before.map(|path| layouts(path, &plan.structs)).transpose()?;
    let built = layouts(&object.after, &plan.structs)?;
    let mut holds = true;
    out.push_str(&format!("{}:\n", object.after.display()));
    for (index, (of, built)) in plan.structs.iter().zip(built).enumerate() {
        let declared = declared.as_ref().and_then(|all| all.get(index)).map(Vec::as_slice);
        for judged in judge(of, declared, &built)? {
            holds &= judged.verdict.holds();
            verify_text::verdict(out, &judged);
        }
    }
    Ok(holds)
}

fn layouts(path: &Path, structs: &[StructPlan]) -> Result<Vec<Vec<Layout>>> {
    types::with_types(path, None, None, |types| structs.iter().map(|of| types.layouts(&of.name)).collect())
}

/// Compiles the patch in every build folder.
fn compiled(out: &mut String, plan: &Plan, tree: &Path, args: &VerifyArgs) -> Result<bool> {
    let patched = edits::patch(plan, tree, &args.telling.options())?;
    let structs = patched.steps.iter().filter_map(|step| {
        let About::Struct(name) = &step.about else { return None };
        Some((plan.struct_named(name)?, step.files.first()?.path.as_str()))
    });
    let structs: Vec<(&StructPlan, &str)> = structs.collect();
    verify_text::refusals(out, &patched.refusals);
    let prove = |folder: &PathBuf| {
        Build { tree, folder, patch: &patched.files, structs: &structs, units: &args.units }.prove()
    };
    // Without structs there is nothing to compile.
    let builds = args.builds.par_iter().filter(|_| !structs.is_empty());
    let found: Vec<BuildProof> =
        builds.map(prove).collect::<Result<_>>().context("cannot prove the patch")?;
    verify_text::builds(out, &args.builds, &found);
    Ok(patched.refusals.is_empty() && found.iter().all(BuildProof::holds))
}
