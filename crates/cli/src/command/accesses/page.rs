//! The page of `report`.

use crate::args::ReportArgs;
use crate::output;
use crate::page::planned::{PlannedPage, ShownStruct, planned};
use anyhow::{Context, Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::{Layout, abi};
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::builds::{self, BuildMachine};
use std::path::Path;

/// Line size in bytes where nothing says another one.
const USUAL_LINE: u64 = 64;

/// Writes the page of structs, with a plan if there is one.
pub(super) fn write(
    path: &Path,
    args: &ReportArgs,
    (profile, plan): (&AccessProfile, Option<&Plan>),
    structs: &[(&TypeProfile, Option<&Layout>)],
) -> Result<()> {
    let shown = structs.iter().map(|(type_profile, layout)| {
        let layout = layout.with_context(|| {
            format!(
                "the profile has no layout of struct {}: add --vmlinux FILE, the program",
                type_profile.name
            )
        })?;
        let plan = plan.and_then(|plan| plan.find_struct(&type_profile.name));
        plan.map(|plan| check_plan(plan, layout)).transpose().with_context(|| plan_place(args))?;
        Ok(ShownStruct { layout: layout.clone(), accesses: Some(*type_profile), plan })
    });
    let names: Vec<String> = structs.iter().map(|(type_profile, _)| type_profile.name.clone()).collect();
    let also = builds::read_builds(&args.also, &names)?;
    let page = PlannedPage {
        profile,
        structs: shown.collect::<Result<Vec<_>>>()?,
        plan,
        patched: None,
        also: &also,
        measured: None,
        lines: &args.lines,
        build_line: build_line(args, profile, plan)?,
    };
    output::write_file(path, planned(&page).html()?.as_bytes())
}

fn plan_place(args: &ReportArgs) -> String {
    args.plan.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
}

/// Refuses a plan of another layout, and one whose orders are none.
fn check_plan(plan: &StructPlan, layout: &Layout) -> Result<()> {
    if plan.declared.members.is_empty() {
        // A struct that couldn't be read has no order.
        return Ok(());
    }
    plan.predicted(layout)?;
    let count = layout.members.len();
    if let Some(at) =
        plan.candidates.iter().position(|candidate| !abi::is_permutation(&candidate.order, count))
    {
        bail!("struct {}: candidate {} is no order of its members", plan.name, at + 1);
    }
    Ok(())
}

/// The plan's, the program's, or the recorded machine's.
fn build_line(args: &ReportArgs, profile: &AccessProfile, plan: Option<&Plan>) -> Result<u64> {
    if let Some(plan) = plan {
        return Ok(plan.build_line);
    }
    if let Some(program) = &args.vmlinux {
        return Ok(BuildMachine::from_file(program)?.line);
    }
    Ok(profile.recordings.iter().find_map(|recording| recording.cacheline).unwrap_or(USUAL_LINE))
}
