//! Layouts of the kernels that were built: as the plans have them, and nothing else changed.

use super::subjects::Subject;
use crate::args::TrialArgs;
use crate::input::layout_set;
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_check::{MemberChange, TypeChange};
use fieldline_layout::Layout;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::proof::judge_layouts;
use fieldline_trial::{KernelChanges, compare_kernels};
use std::path::{Path, PathBuf};

/// The kernels' layouts.
pub(super) struct TriedKernels {
    /// Layouts by kernel.
    pub(super) layouts: Vec<Vec<Layout>>,
    /// Changes of each kernel but the first.
    pub(super) changes: Vec<KernelChanges>,
    /// By kernel but the first: what isn't as its plan predicts, a sentence each.
    pub(super) mismatches: Vec<Vec<String>>,
}

/// Reads all layouts and compares them. `recorded` is the kernel or program that was recorded, if it is known.
pub(super) fn compare(
    subjects: &[Subject],
    built: &[PathBuf],
    recorded: Option<&Path>,
    args: &TrialArgs,
) -> Result<TriedKernels> {
    let read = |file: &PathBuf| Ok(layout_set::read(file, &[], None)?.layouts);
    let layouts = built.iter().map(read).collect::<Result<Vec<Vec<Layout>>>>()?;
    let (base, others) = layouts.split_first().context("nothing was built")?;
    if let Some(path) = recorded {
        check_recorded(subjects, path, base, args)?;
    }
    let mut kernels = TriedKernels { layouts: Vec::new(), changes: Vec::new(), mismatches: Vec::new() };
    for (subject, layouts) in subjects.iter().skip(1).zip(others) {
        let name = &subject.variant.name;
        let changes = compare_kernels(base, layouts, &args.score.lines);
        if let Some(first) = changes.others.first() {
            let count = changes.others.len();
            let text = format!("{name}: more than places of members changed ({count}): {first}");
            require_force(args, &text)?;
        }
        let mut mismatches = Vec::new();
        if let Some(plan) = &subject.plan {
            check_declared(plan, base, args)?;
            mismatches = mismatches_of(plan, base, layouts)?;
            mismatches.iter().for_each(|text| output::print_note(&format!("{name}: {text}")));
        }
        kernels.changes.push(changes);
        kernels.mismatches.push(mismatches);
    }
    kernels.layouts = layouts;
    Ok(kernels)
}

fn require_force(args: &TrialArgs, text: &str) -> Result<()> {
    if !args.force {
        bail!("{text} (--force goes on)");
    }
    output::print_note(text);
    Ok(())
}

impl TriedKernels {
    /// The structs that are counted one by one: those named, else those of the plans, else those that patches reorder.
    pub(super) fn choose_structs(&self, args: &TrialArgs, subjects: &[Subject]) -> Result<Vec<String>> {
        let planned = subjects.iter().filter_map(|subject| subject.plan.as_ref()).flat_map(|plan| {
            plan.structs.iter().filter(|planned| planned.changes()).map(|planned| planned.name.clone())
        });
        let mut structs: Vec<String> = args.score.structs.clone();
        if structs.is_empty() {
            structs.extend(planned);
        }
        if structs.is_empty() {
            structs.extend(self.changes.iter().flat_map(|changes| changes.reordered.iter().cloned()));
        }
        structs.sort();
        structs.dedup();
        if structs.is_empty() {
            bail!("no struct is in another order than in the first: name the structs to count (--structs)");
        }
        self.check_structs(&structs)?;
        Ok(structs)
    }

    /// Fails for a name that no struct has.
    fn check_structs(&self, structs: &[String]) -> Result<()> {
        let base = self.layouts.first().map(Vec::as_slice).unwrap_or_default();
        match structs.iter().find(|name| base.iter().all(|layout| layout.name != **name)) {
            Some(name) => {
                bail!("what was built has no struct {name}: an option of its configuration may be missing")
            }
            None => Ok(()),
        }
    }
}

fn definitions(layouts: &[Layout], name: &str) -> Vec<Layout> {
    layouts.iter().filter(|layout| layout.name == name).cloned().collect()
}

/// Members of the unpatched kernel must lie as in the layout that was planned on.
fn check_declared(plan: &Plan, base: &[Layout], args: &TrialArgs) -> Result<()> {
    for planned in plan.structs.iter().filter(|planned| planned.changes()) {
        if let Some(text) = first_difference(planned, &definitions(base, &planned.name)) {
            require_force(args, &format!("struct {}: {text}", planned.name))?;
        }
    }
    Ok(())
}

/// The structs must lie in the unpatched kernel as in the recorded one.
fn check_recorded(subjects: &[Subject], path: &Path, base: &[Layout], args: &TrialArgs) -> Result<()> {
    let plans = subjects.iter().filter_map(|subject| subject.plan.as_ref());
    let planned = plans.flat_map(|plan| plan.structs.iter().filter(|planned| planned.changes()));
    let mut names: Vec<String> = planned.map(|planned| planned.name.clone()).collect();
    names.extend(args.score.structs.iter().cloned());
    let recorded = layout_set::read(path, &names, None)?;
    for layout in &recorded.layouts {
        let here = definitions(base, &layout.name);
        let differences = here.iter().map(|here| TypeChange::between(layout, here, &[]));
        let Some(mut changes) = differences.collect::<Option<Vec<TypeChange>>>() else { continue };
        let first = changes.pop().and_then(|change| change.members.into_iter().next());
        let text = first.map_or_else(|| "is not in this kernel".to_owned(), |member| describe(&member));
        let conditions = conditions(subjects, &layout.name, &text);
        let place = path.display();
        require_force(
            args,
            &format!("struct {} does not lie as in {place}: {text}{conditions}", layout.name),
        )?;
    }
    Ok(())
}

/// A member that lies elsewhere, or is in one kernel only.
fn describe(member: &MemberChange) -> String {
    let name = &member.member;
    match (&member.before, &member.after) {
        (Some(_), None) => format!("{name} is not in this kernel"),
        (None, Some(_)) => format!("{name} is in this kernel only"),
        (Some(before), Some(after)) => {
            format!("{name} is at {} there and at {} here", before.bit_offset / 8, after.bit_offset / 8)
        }
        (None, None) => name.clone(),
    }
}

/// The options that a member named in a text depends on, if a plan knows them.
fn conditions(subjects: &[Subject], name: &str, text: &str) -> String {
    let plans = subjects.iter().filter_map(|subject| subject.plan.as_ref());
    let planned = plans.flat_map(|plan| &plan.structs).find(|planned| planned.name == name);
    let member = text.split(' ').next();
    let known = planned.and_then(|planned| {
        let found = planned.declared.members.iter().find(|known| known.name.as_deref() == member)?;
        Some(condition_of(planned, found.index))
    });
    known.unwrap_or_default()
}

/// The first member that doesn't lie as planned on, in the definition that agrees most.
fn first_difference(planned: &StructPlan, definitions: &[Layout]) -> Option<String> {
    let differences = definitions.iter().map(|layout| differences(planned, layout));
    let Some(mut fewest) = differences.min_by_key(Vec::len) else {
        return Some("it is not in this kernel".to_owned());
    };
    (!fewest.is_empty()).then(|| fewest.swap_remove(0))
}

fn differences(planned: &StructPlan, layout: &Layout) -> Vec<String> {
    let mut found = Vec::new();
    for (at, member) in planned.declared.members.iter().enumerate() {
        let label = member.name.as_deref().unwrap_or("(anonymous)");
        let here = match &member.name {
            Some(name) => layout.members.iter().find(|here| here.name.as_ref() == Some(name)),
            None => layout.members.get(at),
        };
        let why = condition_of(planned, member.index);
        match here {
            None => found.push(format!("{label} is in the plan and not in this kernel{why}")),
            Some(here) if here.bit_offset / 8 != member.offset => {
                let offset = here.bit_offset / 8;
                found.push(format!(
                    "{label} is at {} in the plan and at {offset} in this kernel",
                    member.offset
                ));
            }
            Some(_) => {}
        }
    }
    let is_planned =
        |name: &Option<String>| planned.declared.members.iter().any(|member| &member.name == name);
    let extra = layout.members.iter().find(|here| here.name.is_some() && !is_planned(&here.name));
    if let Some(extra) = extra {
        // An unplanned member is why others lie elsewhere.
        found.insert(0, format!("{} is in this kernel and not in the plan", extra.label()));
    }
    found.sort_by_key(|text| text.contains(" at "));
    found
}

/// The options that a member depends on, in parentheses.
fn condition_of(planned: &StructPlan, index: usize) -> String {
    let conditions = planned.conditions.iter().find(|member| member.index == index);
    conditions.map_or_else(String::new, |member| format!(" ({})", member.conditions.join(", ")))
}

/// Differences from the plan's prediction, a sentence each.
fn mismatches_of(plan: &Plan, base: &[Layout], built: &[Layout]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for planned in plan.structs_and_holders().iter().filter(|planned| planned.changes()) {
        let (declared, built) = (definitions(base, &planned.name), definitions(built, &planned.name));
        // A holder has its parts in their planned sizes, which the unpatched kernel doesn't show.
        let declared = if planned.aligned.is_empty() { &declared } else { &built };
        let verdicts = judge_layouts(planned, Some(declared), &built)?;
        if verdicts.is_empty() {
            found.push(format!("struct {} is not in the patched kernel", planned.name));
        }
        for verdict in verdicts {
            let all = verdict.verdict.mismatches.into_iter();
            found.extend(all.map(|text| format!("struct {}: {text}", planned.name)));
        }
    }
    Ok(found)
}
