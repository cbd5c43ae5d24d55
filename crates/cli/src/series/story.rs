//! What the mails of a series say: measured, predicted, moved, left alone.

use super::mail::paragraph;
use crate::report::plan::{member_name, member_names};
use fieldline_access::access::{Access, AccessProfile, EventCoverage, Recording, TypeProfile};
use fieldline_plan::result::{Basis, Candidate, Group, GroupAlignment, Mark};
use fieldline_plan::visits::source;
use fieldline_plan::{Outcome, Plan, StructPlan};
use fieldline_tree::edits::PatchStep;
use std::fmt::Write;

/// Reasons why samples were not attributed that a letter names.
const REASONS: usize = 4;
/// Members of a group that a letter names.
const NAMED: usize = 12;

/// Why the aligned macros are no substitute for those with a condition.
const CONDITION: &str = "Groups made for cachelines of one size waste memory where cachelines are longer, if they are aligned \
    there too. The optional alignment of __cacheline_group_begin_aligned() doesn't help: a number given there holds on every \
    machine, so that a group of 64 bytes begins at a multiple of 64 on machines with lines of 128 bytes as well, where that \
    pads the struct and keeps nobody off the line; and 0 stands for SMP_CACHE_BYTES. It could be an expression that tests \
    SMP_CACHE_BYTES, repeated at both ends of each group, but the end marker would still be aligned to a long everywhere.";

/// The subject of a struct's patch; the header's name stands for the area.
pub(crate) fn subject(step: &PatchStep, plan: &Plan) -> String {
    let path = step.files.first().map_or("", |file| file.path.as_str());
    let file = path.rsplit('/').next().unwrap_or(path);
    let area = file.split('.').next().unwrap_or(file);
    match (step.name(), plan.basis) {
        (None, _) => format!("{area}: Add cacheline groups aligned on some machines only"),
        (Some(name), Basis::Profile) => format!("{area}: Reorder struct {name} by what is touched together"),
        (Some(name), Basis::Layout) => format!("{area}: Pack struct {name}"),
    }
}

pub(crate) fn cover_subject(steps: &[PatchStep]) -> String {
    let names: Vec<&str> = steps.iter().filter_map(PatchStep::name).collect();
    match names.as_slice() {
        [one] => format!("Reorder struct {one}"),
        [one, other] => format!("Reorder struct {one} and struct {other}"),
        many => format!("Reorder {} structs", many.len()),
    }
}

/// The body of the cover letter.
pub(crate) fn cover(plan: &Plan, profile: Option<&AccessProfile>, steps: &[PatchStep]) -> String {
    let mut out = String::new();
    paragraph(
        &mut out,
        "",
        "These patches change the order of members, so that members that are hot and touched together share cachelines. \
         No member is added, removed or changed. Stated are counts of samples and predictions from them: cachelines that a \
         visit touches, a visit being what one CPU does to one object in one go. No run time was measured, and no speed-up \
         is predicted.",
    );
    if let Some(profile) = profile {
        measured(&mut out, profile);
    }
    for of in plan.structs.iter().filter(|of| of.outcome == Outcome::Moved) {
        let _ = write!(out, "\nstruct {}\n{}\n\n", of.name, "=".repeat(of.name.len() + 7));
        forecast(&mut out, plan, of);
        evidence(&mut out, of);
        let step = steps.iter().find(|step| step.name() == Some(&of.name));
        let marked = step.map_or(&[][..], |step| step.groups.as_slice());
        groups(&mut out, of, profile, marked);
        for remark in step.map_or(&[][..], |step| step.shared.as_slice()) {
            apart(&mut out, remark);
        }
        // Configurations that pay for the order.
        for case in &of.grows {
            let text = format!("It costs cachelines in a configuration that was not planned for: {case}.");
            apart(&mut out, &text);
        }
        smaller(&mut out, of);
        if !of.held.is_empty() {
            out.push_str("\nMembers that don't move freely:\n\n");
        }
        for held in &of.held {
            paragraph(&mut out, "  * ", &format!("{}: {}", member_name(of, held.index), held.reason));
        }
    }
    if steps.iter().any(|step| step.needs_macros) {
        out.push_str("\nWhy alignment has a condition\n=============================\n\n");
        paragraph(&mut out, "", CONDITION);
    }
    left_alone(&mut out, plan);
    out
}

/// The body of the patch that adds macros.
pub(crate) fn of_macros(step: &PatchStep) -> String {
    let mut out = String::new();
    paragraph(&mut out, "", CONDITION);
    apart(
        &mut out,
        "Add __cacheline_group_begin_aligned_cond() and __cacheline_group_end_aligned_cond(), which align a group where \
         cachelines have a given size and behave as the plain markers elsewhere.",
    );
    if step.files.len() > 1 {
        apart(&mut out, "Teach the scripts that know the other markers about them.");
    }
    out
}

/// The body of a struct's patch.
pub(crate) fn of_struct(plan: &Plan, of: &StructPlan, step: &PatchStep) -> String {
    let mut out = String::new();
    let all = of.declared.members.len();
    let moved = of.moved.len();
    let basis = match plan.basis {
        Basis::Profile => format!(
            "Members of struct {} that are touched together lie on more cachelines than they need. Move {moved} of its {all} \
             members, by {} samples of accesses to it.",
            of.name, of.samples
        ),
        Basis::Layout => {
            let name = &of.name;
            format!(
                "Struct {name} is larger than its members need. Move {moved} of its {all} members into holes."
            )
        }
    };
    paragraph(&mut out, "", &basis);
    out.push('\n');
    forecast(&mut out, plan, of);
    out.push_str("\nWhat moves, by byte offset, and why:\n\n");
    for member in &of.moved {
        let name = member.name.as_deref().unwrap_or("(anonymous)");
        let text = format!("{name}: {} -> {}, {}", member.from, member.to, member.reason);
        paragraph(&mut out, "  * ", &text);
    }
    for remark in &step.shared {
        apart(&mut out, remark);
    }
    out
}

fn measured(out: &mut String, profile: &AccessProfile) {
    out.push_str("\nHow it was measured\n===================\n\n");
    let unseen = profile.blind_spots.iter().map(|spot| format!("not seen: {spot}"));
    let texts = profile.recordings.iter().map(recorded).chain(profile.coverage.iter().map(covered));
    texts.chain(unseen).for_each(|text| paragraph(out, "  * ", &text));
}

fn recorded(recording: &Recording) -> String {
    let command = recording.command.as_deref().unwrap_or("a recording");
    let release = recording.release.as_deref().map(|release| format!(" on {release}")).unwrap_or_default();
    let lost =
        if recording.lost > 0 { format!(", {} more were lost", recording.lost) } else { String::new() };
    format!("{command}{release}: {}{lost}", recording.samples_in_words())
}

fn covered(event: &EventCoverage) -> String {
    let total = event.total.samples;
    let mut reasons: Vec<(&String, u64)> =
        event.unattributed.iter().map(|(reason, tally)| (reason, tally.samples)).collect();
    reasons.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(right.0)));
    let named = reasons.iter().take(REASONS);
    let reasons: Vec<String> =
        named.map(|(reason, count)| format!("{} {count}", reason.replace('_', " "))).collect();
    let rest = if reasons.is_empty() { String::new() } else { format!("; not: {}", reasons.join(", ")) };
    let (event, attributed) = (&event.event, event.attributed.samples);
    let share = percent(attributed as f64 / total.max(1) as f64);
    format!("{event}: {attributed} of {total} samples attributed to a member ({share}){rest}")
}

/// Lines per visit and sizes, before and after.
fn forecast(out: &mut String, plan: &Plan, of: &StructPlan) {
    if !of.forecasts.is_empty() {
        out.push_str("  cachelines per visit               before   after\n");
    }
    for row in &of.forecasts {
        let build = row.build.as_deref().map(|build| format!(", {build}")).unwrap_or_default();
        let mut label = format!("{} B lines", row.line);
        if row.build_line != row.line {
            let _ = write!(label, ", compiled for {} B", row.build_line);
        }
        label += &build;
        let _ = writeln!(out, "    {label:<31} {:>7.2} {:>7.2}", row.together.before, row.together.after);
    }
    if !of.sizes.is_empty() {
        out.push_str("  bytes (and what kmalloc takes)\n");
    }
    for row in &of.sizes {
        let build = row.build.as_deref().map(|build| format!(", {build}")).unwrap_or_default();
        let label = format!("compiled for {} B{build}", row.build_line);
        let (before, after) =
            (format!("{} ({})", row.before, row.slab_before), format!("{} ({})", row.after, row.slab_after));
        let _ = writeln!(out, "    {label:<24} {before:>14} -> {after}");
    }
    for holder in &of.embedded_in {
        let text = format!(
            "struct {} holds it ({}): {} -> {} bytes compiled for {} B lines",
            holder.name, holder.member, holder.before, holder.after, plan.build_line
        );
        paragraph(out, "  ", &text);
    }
}

/// Appends a paragraph with a blank line above.
fn apart(out: &mut String, text: &str) {
    out.push('\n');
    paragraph(out, "", text);
}

/// What the visits were learnt from, and how sure the advice is.
fn evidence(out: &mut String, of: &StructPlan) {
    let Some(evidence) = &of.evidence else { return };
    let mut text = format!(
        "Visits were learnt from {} samples in {} functions; {} of {} windows of time hold several samples.",
        evidence.samples, evidence.functions, evidence.joint_windows, evidence.windows
    );
    if let Some(interval) = of.confidence.as_ref().and_then(|confidence| confidence.interval) {
        let _ = write!(
            text,
            " In 95% of the resamples of blocks of time, whose visits are settled from those of the whole recording \
             on, this order changes the lines per visit by {:+.1}% to {:+.1}%.",
            100.0 * interval.low,
            100.0 * interval.high
        );
    }
    let all = of.declared.members.len();
    let still = all.saturating_sub(of.moved.len());
    let _ = write!(text, " {still} of {all} members keep their place among the others.");
    apart(out, &text);
}

/// Groups of the new order with their heat.
fn groups(out: &mut String, of: &StructPlan, profile: Option<&AccessProfile>, marked: &[(usize, String)]) {
    if of.groups.is_empty() {
        return;
    }
    let shares = profile.map(|profile| shares(of, profile));
    out.push_str("\nGroups in order of place: share of the accesses, loads per store, share\nof the visits that touch it\n\n");
    out.push_str("  offset  bytes  accesses  load:store  visits\n");
    for (index, group) in of.groups.iter().enumerate() {
        let share = shares.as_ref().and_then(|shares| shares.get(index));
        let share = share.map_or_else(|| "?".to_owned(), |share| percent(*share));
        let Group { first_offset: offset, bytes, .. } = group;
        let (ratio, visits) = (ratio(group.stores), percent(group.visits));
        let _ = writeln!(out, "  {offset:>6} {bytes:>6}  {share:>8}  {ratio:>10}  {visits:>6}");
        let name = marked.iter().find(|(at, _)| *at == index).map(|(_, name)| format!("{name}: "));
        let mut text = name.unwrap_or_default() + &names(of, group);
        if group.alignment == GroupAlignment::Aligned && marked.is_empty() {
            text.push_str("; aligning it to the cacheline would cost no byte");
        }
        paragraph(out, "          ", &text);
    }
}

fn names(of: &StructPlan, group: &Group) -> String {
    match group.members.split_at_checked(NAMED) {
        Some((named, more @ [_, ..])) => format!("{}, {} more", member_names(of, named), more.len()),
        _ => member_names(of, &group.members),
    }
}

/// Share of each group in the struct's accesses, by the place they begin at.
fn shares(of: &StructPlan, profile: &AccessProfile) -> Vec<f64> {
    let is_it = |held: &TypeProfile| held.fingerprint == of.fingerprint && held.name == of.name;
    let places = (0..).zip(&profile.types).filter(|(_, held)| is_it(held));
    let sources = places.map(|(type_index, _)| source::ProfileSource { type_index, base: 0 });
    let accesses: Vec<Access> =
        sources.flat_map(|source| source::accesses(profile, source, of.declared.size)).collect();
    let weight = |access: &Access| access.loads.period.saturating_add(access.stores.period);
    let all: u64 = accesses.iter().map(weight).sum();
    let of_group = |group: &Group| {
        let begins = |access: &&Access| {
            let mut members = group.members.iter().filter_map(|index| of.declared.members.get(*index));
            members.any(|member| (member.offset..member.offset + member.size.max(1)).contains(&access.offset))
        };
        accesses.iter().filter(begins).map(weight).sum::<u64>() as f64 / all.max(1) as f64
    };
    of.groups.iter().map(of_group).collect()
}

/// Loads per store.
fn ratio(stores: f64) -> String {
    let (loads, stores) = (1.0 - stores, stores);
    match stores {
        _ if stores <= 0.0 => "loads only".to_owned(),
        _ if loads <= 0.0 => "stores only".to_owned(),
        _ if loads >= stores => format!("{:.1}:1", loads / stores),
        _ => format!("1:{:.1}", stores / loads),
    }
}

/// The smallest candidate, for those who want fewer moves.
fn smaller(out: &mut String, of: &StructPlan) {
    let marked = |candidate: &&Candidate| {
        candidate.marks.contains(&Mark::Smallest) && !candidate.marks.contains(&Mark::Chosen)
    };
    let Some(candidate) = of.candidates.iter().find(marked) else { return };
    let Some(forecast) = candidate.forecasts.first() else { return };
    let (few, many, lines) = (candidate.moved, of.moved.len(), forecast.together.after);
    let change = format!("{few} instead of {many} members moved give {lines:.2} cachelines per visit");
    apart(out, &format!("A smaller change is to be had: {change} at {} B.", forecast.line));
}

/// Structs that were looked at and keep their order.
fn left_alone(out: &mut String, plan: &Plan) {
    let alone: Vec<&StructPlan> = plan.structs.iter().filter(|of| of.outcome != Outcome::Moved).collect();
    if alone.is_empty() {
        return;
    }
    out.push_str("\nLeft alone\n==========\n\n");
    for of in alone {
        let why = of.reason.as_deref().unwrap_or("no order is worth a change");
        paragraph(out, "  * ", &format!("struct {}: {why}", of.name));
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::ratio;

    #[test]
    fn ratios_name_the_smaller_side_once() {
        let found: Vec<String> = [0.0, 0.1, 0.5, 0.75, 1.0].iter().map(|share| ratio(*share)).collect();
        assert_eq!(found, ["loads only", "9.0:1", "1.0:1", "1:3.0", "stores only"]);
    }
}
