//! `fieldline verify`: what was built against what the plan predicted.

use crate::args::verify::{Object, VerifyArgs};
use crate::command::patch::read_plan;
use crate::input;
use crate::prediction;
use crate::{Outcome, output};
use anyhow::{Context, Result};
use fieldline_check::PredictionVerdict;
use fieldline_layout::Layout;
use fieldline_plan::{Plan, StructPlan};
use std::fmt::Write;
use std::path::Path;

pub(crate) fn run(args: &VerifyArgs) -> Result<Outcome> {
    let plan = read_plan(&args.plan)?;
    let mut out = String::new();
    let mut holds = true;
    for object in &args.objects {
        holds &= verify(&mut out, &plan, object)?;
    }
    output::print(&out)?;
    Ok(if holds { Outcome::Done } else { Outcome::No })
}

/// Compares every struct of the plan with one build.
fn verify(out: &mut String, plan: &Plan, object: &Object) -> Result<bool> {
    let mut holds = true;
    let _ = writeln!(out, "{}:", object.after.display());
    let before = object.before.as_deref();
    let declared = before.map(|path| layouts(path, &plan.structs)).transpose()?;
    let built = layouts(&object.after, &plan.structs)?;
    for (index, (of, built)) in plan.structs.iter().zip(built).enumerate() {
        let declared = declared.as_ref().and_then(|all| all.get(index));
        let predicted = match declared.map(|all| like(of, all)) {
            Some(Some(declared)) => prediction::of_build(of, declared, like(of, &built))
                .with_context(|| format!("struct {}: a union has no order", of.name))?,
            _ => prediction::of_plan(of, like(of, &built)),
        };
        let verdicts = built.iter().map(|built| PredictionVerdict::new(&predicted, built));
        let verdicts: Vec<PredictionVerdict> = verdicts.collect();
        // Several structs may have the name: the plan's is one that has its members.
        let own: Vec<&PredictionVerdict> = verdicts
            .iter()
            .zip(&built)
            .filter(|(_, built)| has_members(&predicted, built))
            .map(|both| both.0)
            .collect();
        let judged = if own.is_empty() { verdicts.iter().take(1).collect() } else { own };
        holds &= judged.iter().all(|verdict| verdict.holds());
        judged.iter().for_each(|verdict| tell(out, verdict, &predicted));
    }
    Ok(holds)
}

/// All layouts of each struct in a file.
fn layouts(path: &Path, structs: &[StructPlan]) -> Result<Vec<Vec<Layout>>> {
    input::with_types(path, None, None, |types| structs.iter().map(|of| types.layouts(&of.name)).collect())
}

/// The definition that has most members of the plan's, the one most units share first.
fn like<'l>(of: &StructPlan, layouts: &'l [Layout]) -> Option<&'l Layout> {
    let known = |layout: &Layout| {
        let names = layout.members.iter().filter_map(|member| member.name.as_deref());
        names.filter(|name| of.declared.members.iter().any(|own| own.name.as_deref() == Some(name))).count()
    };
    layouts.iter().rev().max_by_key(|layout| known(layout))
}

fn has_members(predicted: &Layout, built: &Layout) -> bool {
    let names = |layout: &Layout| {
        let mut names: Vec<Option<String>> =
            layout.members.iter().map(|member| member.name.clone()).collect();
        names.sort();
        names
    };
    names(predicted) == names(built)
}

fn tell(out: &mut String, verdict: &PredictionVerdict, predicted: &Layout) {
    let (name, members, size) = (&verdict.name, verdict.members, predicted.size);
    if verdict.holds() {
        let _ = writeln!(out, "  struct {name}: {members} members and {size} bytes are as predicted");
        return;
    }
    let _ = writeln!(out, "  struct {name}: not as predicted");
    for mismatch in &verdict.mismatches {
        let _ = writeln!(out, "    {mismatch}");
    }
}
