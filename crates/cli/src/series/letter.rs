//! Bodies of a series' mails: measurement, prediction, moved members, unchanged structs.

use super::mail::{SeriesOptions, write_paragraph, write_separate_paragraph};
use super::{alignment, visibility};
use crate::report::plan::{member_name, member_names};
use crate::report::profile::coverage::rank_reasons;
use fieldline_access::access::{Access, AccessProfile, EventCoverage, Recording, TypeProfile};
use fieldline_plan::result::{
    Basis, Candidate, CrossValidation, Forecast, Group, GroupAlignment, Insistence, Interval, Mark,
};
use fieldline_plan::visits::occurrences;
use fieldline_plan::{Outcome, Plan, StructPlan};
use fieldline_tree::edits::{PatchStep, PatchSubject};
use std::fmt::Write;
use std::path::Path;

/// Most reasons for unattributed samples that a letter names.
const MAX_NAMED_REASONS: usize = 4;
/// Most members of a group that a letter names.
const MAX_NAMED_MEMBERS: usize = 12;

/// Most functions of a group that a letter names.
const MAX_NAMED_FUNCTIONS: usize = 4;

/// The reason for macros with a condition.
const ALIGNMENT_RATIONALE: &str = "Groups made for cachelines of one size waste memory where cachelines are longer, if they are aligned \
    there too. The optional alignment of __cacheline_group_begin_aligned() doesn't help: a number given there holds on every \
    machine, so that a group of 64 bytes begins at a multiple of 64 on machines with lines of 128 bytes as well, where that \
    pads the struct and keeps no other group off the line; and 0 stands for SMP_CACHE_BYTES. It could be an expression that tests \
    SMP_CACHE_BYTES, repeated at both ends of each group, but the end marker would still be aligned to a long everywhere.";

/// The subject of a struct's patch; the header's name stands for the area.
pub(crate) fn subject(step: &PatchStep, plan: &Plan) -> String {
    let path = step.files.first().map_or("", |file| file.path.as_str());
    let file = path.rsplit('/').next().unwrap_or(path);
    let area = file.split('.').next().unwrap_or(file);
    match (&step.subject, plan.basis) {
        (PatchSubject::Macros, _) => format!("{area}: Add cacheline groups aligned on some machines only"),
        (PatchSubject::Alignment(holder), _) => alignment::subject(area, plan, holder),
        (PatchSubject::Struct(name), Basis::Profile) => {
            format!("{area}: Reorder struct {name} by what is touched together")
        }
        (PatchSubject::Struct(name), Basis::Layout) => format!("{area}: Pack struct {name}"),
    }
}

pub(crate) fn cover_subject(steps: &[PatchStep]) -> String {
    let names: Vec<&str> = steps.iter().filter_map(PatchStep::name).collect();
    match names.as_slice() {
        [name] => format!("Reorder struct {name}"),
        [first, second] => format!("Reorder struct {first} and struct {second}"),
        many => format!("Reorder {} structs", many.len()),
    }
}

/// The body of the cover letter.
pub(crate) fn cover_body(
    plan: &Plan,
    profile: Option<&AccessProfile>,
    steps: &[PatchStep],
    options: &SeriesOptions,
    tree: &Path,
) -> String {
    let mut out = String::new();
    let purpose = match plan.basis {
        Basis::Profile => {
            "These patches change the order of members, so that members that are hot and touched together share cachelines. \
             No member is added, removed or changed. Stated are counts of samples and predictions from them: cachelines that a \
             visit touches; a visit is the accesses one CPU makes to one object in one episode. No speed-up is predicted."
        }
        Basis::Layout => {
            "These patches change the order of members, so that structs have fewer holes. No member is added, removed or \
             changed. Which members are hot is not known. No speed-up is predicted."
        }
    };
    write_paragraph(&mut out, "", purpose);
    write_results(&mut out, options.measured.as_deref());
    if let Some(profile) = profile {
        write_recording(&mut out, profile, options.workload.as_deref());
    }
    for struct_plan in plan.structs.iter().filter(|struct_plan| struct_plan.outcome() == Outcome::Moved) {
        let _ = write!(out, "\nstruct {}\n{}\n\n", struct_plan.name, "=".repeat(struct_plan.name.len() + 7));
        write_forecast(&mut out, plan, struct_plan);
        write_evidence(&mut out, struct_plan);
        let step = steps.iter().find(|step| step.name() == Some(&struct_plan.name));
        let marked = step.map_or(&[][..], |step| step.groups.as_slice());
        write_groups(&mut out, struct_plan, profile, marked);
        for remark in step.map_or(&[][..], |step| step.notes.as_slice()) {
            write_separate_paragraph(&mut out, remark);
        }
        // Configurations that pay for the order.
        for case in &struct_plan.grows {
            let text = format!("It costs cachelines in a configuration that was not planned for: {case}.");
            write_separate_paragraph(&mut out, &text);
        }
        write_smaller_candidate(&mut out, struct_plan);
        write_proof(&mut out, struct_plan);
        if !struct_plan.constraints.is_empty() {
            out.push_str("\nConstrained members:\n\n");
        }
        for constraint in &struct_plan.constraints {
            let text = format!("{}: {}", member_name(struct_plan, constraint.index), constraint.reason);
            write_paragraph(&mut out, "  * ", &text);
        }
        write_comments(&mut out, struct_plan);
        write_builds(&mut out, plan, struct_plan);
        let header = step.and_then(|step| step.files.first()).map(|file| file.path.as_str());
        let seen = header.map(|header| visibility::describe(struct_plan, header, tree)).unwrap_or_default();
        write_list(&mut out, "Who sees the layout:", &seen);
    }
    alignment::write_cover(&mut out, plan, steps);
    if steps.iter().any(|step| step.needs_macros) {
        out.push_str("\nWhy alignment has a condition\n=============================\n\n");
        write_paragraph(&mut out, "", ALIGNMENT_RATIONALE);
    }
    write_unchanged(&mut out, plan);
    out
}

/// The proof that nothing depends on the order, and what does though the author insists.
fn write_proof(out: &mut String, struct_plan: &StructPlan) {
    if let Some(proof) = struct_plan.proof_sentence() {
        write_separate_paragraph(out, &format!("As far as fieldline can tell, {proof}."));
    }
    let Some(Insistence { reason, uses }) = &struct_plan.insistence else { return };
    write_separate_paragraph(out, &format!("Its order is depended on, and changes all the same ({reason}):"));
    out.push('\n');
    uses.iter().for_each(|used| write_paragraph(out, "  * ", used));
}

/// Builds that the order was judged in, which of them it makes larger, and that nothing was compiled.
fn write_builds(out: &mut String, plan: &Plan, struct_plan: &StructPlan) {
    let mut builds = vec![format!("the build that was recorded, compiled for {} B lines", plan.build_line)];
    for row in &struct_plan.sizes {
        let build = match &row.build {
            Some(build) => format!("{build}, {} B lines", row.build_line),
            None => format!("the same compiled for {} B lines", row.build_line),
        };
        if (row.build_line != plan.build_line || row.build.is_some()) && !builds.contains(&build) {
            builds.push(build);
        }
    }
    let text = format!(
        "Builds that this order was laid out for: {}. fieldline did not compile the patched source for this letter; its \
         `verify` does.",
        builds.join("; ")
    );
    write_separate_paragraph(out, &text);
}

/// A list under a title; nothing if it is empty.
fn write_list(out: &mut String, title: &str, items: &[String]) {
    if !items.is_empty() {
        let _ = write!(out, "\n{title}\n\n");
    }
    items.iter().for_each(|item| write_paragraph(out, "  * ", item));
}

/// Comments that speak of places where members move.
fn write_comments(out: &mut String, struct_plan: &StructPlan) {
    if !struct_plan.comments.is_empty() {
        out.push_str("\nComments to look at, since members around them move:\n\n");
    }
    for comment in &struct_plan.comments {
        let text = format!("{}:{}: {}", comment.file, comment.line, comment.text);
        write_paragraph(out, "  * ", &text);
    }
}

/// The body of the patch that adds macros.
pub(crate) fn macros_body(step: &PatchStep) -> String {
    let mut out = String::new();
    write_paragraph(&mut out, "", ALIGNMENT_RATIONALE);
    write_separate_paragraph(
        &mut out,
        "Add __cacheline_group_begin_aligned_cond() and __cacheline_group_end_aligned_cond(), which align a group where \
         cachelines have a given size and behave as the plain markers elsewhere.",
    );
    if step.files.len() > 1 {
        write_separate_paragraph(&mut out, "Add them to the scripts that know the other markers.");
    }
    out
}

/// The body of a struct's patch.
pub(crate) fn struct_body(plan: &Plan, struct_plan: &StructPlan, step: &PatchStep) -> String {
    let mut out = String::new();
    let all = struct_plan.declared.members.len();
    let moved = struct_plan.moved.len();
    let basis = match plan.basis {
        Basis::Profile => format!(
            "Members of struct {} that are touched together lie on more cachelines than they need. Move {moved} of its {all} \
             members, by {} samples of accesses to it.",
            struct_plan.name, struct_plan.samples
        ),
        Basis::Layout => {
            let name = &struct_plan.name;
            format!(
                "Struct {name} is larger than its members need. Move {moved} of its {all} members into holes."
            )
        }
    };
    write_paragraph(&mut out, "", &basis);
    out.push('\n');
    write_forecast(&mut out, plan, struct_plan);
    out.push_str("\nMoved members, by byte offset, with reasons:\n\n");
    for member in &struct_plan.moved {
        let name = member.name.as_deref().unwrap_or("(anonymous)");
        let text = format!("{name}: {} -> {}, {}", member.from, member.to, member.reason);
        write_paragraph(&mut out, "  * ", &text);
    }
    write_proof(&mut out, struct_plan);
    for remark in &step.notes {
        write_separate_paragraph(&mut out, remark);
    }
    out
}

/// Measured results as they are, or that there are none.
fn write_results(out: &mut String, measured: Option<&str>) {
    out.push_str("\nMeasured results\n================\n\n");
    match measured {
        Some(text) => {
            let _ = writeln!(out, "{text}");
        }
        None => out.push_str("Not measured yet.\n"),
    }
}

fn write_recording(out: &mut String, profile: &AccessProfile, workload: Option<&str>) {
    out.push_str("\nWhat was recorded\n=================\n\n");
    workload.iter().for_each(|text| write_paragraph(out, "  * ", &format!("workload: {text}")));
    let blind_spots = profile.blind_spots.iter().map(|spot| format!("blind spot: {spot}"));
    let coverage = profile.coverage.iter().map(describe_coverage);
    let texts = profile.recordings.iter().map(describe_recording).chain(coverage);
    texts.chain(blind_spots).for_each(|text| write_paragraph(out, "  * ", &text));
}

fn describe_recording(recording: &Recording) -> String {
    let command = recording.command.as_deref().unwrap_or("a recording");
    let release = recording.release.as_deref().map(|release| format!(" on {release}")).unwrap_or_default();
    let lost = if recording.lost > 0 { format!(", {} lost", recording.lost) } else { String::new() };
    format!("{command}{release}: {}{lost}", recording.describe_samples())
}

fn describe_coverage(event: &EventCoverage) -> String {
    let total = event.total.samples;
    let named = rank_reasons(event).into_iter().take(MAX_NAMED_REASONS);
    let reasons = named.map(|(reason, count)| format!("{} {}", reason.replace('_', " "), count.samples));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    let rest = if reasons.is_empty() { reasons } else { format!("; unattributed: {reasons}") };
    let (event, attributed) = (&event.event, event.attributed.samples);
    let share = percent(attributed as f64 / total.max(1) as f64);
    format!("{event}: {attributed} of {total} samples attributed to a member ({share}){rest}")
}

/// The change of lines per visit in cross-validation with its interval, or in the samples that were planned on.
pub(crate) fn describe_change(struct_plan: &StructPlan, row: &Forecast) -> String {
    let rows = struct_plan.confidence.iter().flat_map(|confidence| &confidence.cross_validation);
    let is_same = |known: &&CrossValidation| {
        row.build.is_none() && (known.line, known.build_line) == (row.line, row.build_line)
    };
    match rows.into_iter().find(is_same) {
        Some(CrossValidation { interval: Interval { change, low, high }, .. }) => {
            let [change, low, high] = [change, low, high].map(|share| 100.0 * share);
            format!("{change:+.1}% [{low:+.1}, {high:+.1}]")
        }
        None => format!("{:+.1}% (in sample)", 100.0 * (row.together.after / row.together.before - 1.0)),
    }
}

/// Lines per visit and sizes, before and after.
fn write_forecast(out: &mut String, plan: &Plan, struct_plan: &StructPlan) {
    if !struct_plan.forecasts.is_empty() {
        out.push_str("  cachelines per visit               before   after  change, 95 % interval\n");
    }
    for row in &struct_plan.forecasts {
        let build = row.build.as_deref().map(|build| format!(", {build}")).unwrap_or_default();
        let mut label = format!("{} B lines", row.line);
        if row.build_line != row.line {
            let _ = write!(label, ", compiled for {} B", row.build_line);
        }
        label += &build;
        let change = describe_change(struct_plan, row);
        let (before, after) = (row.together.before, row.together.after);
        let _ = writeln!(out, "    {label:<31} {before:>7.2} {after:>7.2}  {change}");
    }
    if !struct_plan.sizes.is_empty() {
        out.push_str("  bytes (and kmalloc class)\n");
    }
    for row in &struct_plan.sizes {
        let build = row.build.as_deref().map(|build| format!(", {build}")).unwrap_or_default();
        let label = format!("compiled for {} B{build}", row.build_line);
        let (before, after) =
            (format!("{} ({})", row.before, row.slab_before), format!("{} ({})", row.after, row.slab_after));
        let _ = writeln!(out, "    {label:<24} {before:>14} -> {after}");
    }
    for holder in &struct_plan.embedded_in {
        let text = format!(
            "struct {} embeds it ({}): {} -> {} bytes compiled for {} B lines{}",
            holder.name,
            holder.member,
            holder.before,
            holder.after,
            plan.build_line,
            holder.describe_all()
        );
        write_paragraph(out, "  ", &text);
    }
}

/// The data that access patterns were fitted to, and the interval that the choice of samples gives.
fn write_evidence(out: &mut String, struct_plan: &StructPlan) {
    let Some(evidence) = &struct_plan.evidence else { return };
    let mut text = format!(
        "Access patterns were fitted to {} samples in {} functions; {} of {} windows have several samples.",
        evidence.samples, evidence.functions, evidence.joint_windows, evidence.windows
    );
    if let Some(interval) = struct_plan.confidence.as_ref().and_then(|confidence| confidence.interval) {
        let _ = write!(
            text,
            " By the choice of samples alone, the change in lines per visit lies from {:+.1}% to {:+.1}% (95%, block \
             bootstrap over time); the intervals above add what samples don't show of visits.",
            100.0 * interval.low,
            100.0 * interval.high
        );
    }
    let all = struct_plan.declared.members.len();
    let unmoved = all.saturating_sub(struct_plan.moved.len());
    let _ = write!(text, " {unmoved} of {all} members keep their order.");
    write_separate_paragraph(out, &text);
}

/// Groups of the new order with their heat.
fn write_groups(
    out: &mut String,
    struct_plan: &StructPlan,
    profile: Option<&AccessProfile>,
    marked: &[(usize, String)],
) {
    if struct_plan.groups.is_empty() {
        return;
    }
    let shares = profile.map(|profile| group_shares(struct_plan, profile));
    out.push_str(
        "\nGroups by offset: share of the accesses, loads per store, share of the\nvisits that touch it\n\n",
    );
    out.push_str("  offset  bytes  accesses  load:store  visits\n");
    for (index, group) in struct_plan.groups.iter().enumerate() {
        let share = shares.as_ref().and_then(|shares| shares.get(index));
        let share = share.map_or_else(|| "?".to_owned(), |share| percent(*share));
        let Group { first_offset: offset, bytes, .. } = group;
        let (ratio, visits) = (load_store_ratio(group.stores), percent(group.visits));
        let _ = writeln!(out, "  {offset:>6} {bytes:>6}  {share:>8}  {ratio:>10}  {visits:>6}");
        let name = marked.iter().find(|(at, _)| *at == index).map(|(_, name)| format!("{name}: "));
        let mut text = name.unwrap_or_default() + &name_members(struct_plan, group);
        if group.alignment == GroupAlignment::Aligned && marked.is_empty() {
            text.push_str("; aligning it to the cacheline would cost no byte");
        }
        write_paragraph(out, "          ", &text);
        let functions = group.functions.iter().take(MAX_NAMED_FUNCTIONS);
        let functions: Vec<String> =
            functions.map(|(name, share)| format!("{name} {}", percent(*share))).collect();
        if !functions.is_empty() {
            write_paragraph(out, "          ", &format!("by {}", functions.join(", ")));
        }
    }
}

fn name_members(struct_plan: &StructPlan, group: &Group) -> String {
    match group.members.split_at_checked(MAX_NAMED_MEMBERS) {
        Some((named, more @ [_, ..])) => format!("{}, {} more", member_names(struct_plan, named), more.len()),
        _ => member_names(struct_plan, &group.members),
    }
}

/// Share of each group in the struct's accesses, by the offset at which they begin.
fn group_shares(struct_plan: &StructPlan, profile: &AccessProfile) -> Vec<f64> {
    let is_this_struct = |candidate: &TypeProfile| {
        candidate.fingerprint == struct_plan.fingerprint && candidate.name == struct_plan.name
    };
    let type_indexes = (0..).zip(&profile.types).filter(|(_, held)| is_this_struct(held));
    let sources = type_indexes.map(|(type_index, _)| occurrences::StructOccurrence { type_index, base: 0 });
    let accesses: Vec<Access> = sources
        .flat_map(|source| occurrences::struct_accesses(profile, source, struct_plan.declared.size))
        .collect();
    let weight = |access: &Access| access.loads.period.saturating_add(access.stores.period);
    let all: u64 = accesses.iter().map(weight).sum();
    let of_group = |group: &Group| {
        let is_in_group = |access: &&Access| {
            let mut members = group.members.iter().filter_map(|at| struct_plan.declared.members.get(*at));
            members.any(|member| (member.offset..member.offset + member.size.max(1)).contains(&access.offset))
        };
        accesses.iter().filter(is_in_group).map(weight).sum::<u64>() as f64 / all.max(1) as f64
    };
    struct_plan.groups.iter().map(of_group).collect()
}

/// Loads per store.
fn load_store_ratio(stores: f64) -> String {
    let (loads, stores) = (1.0 - stores, stores);
    match stores {
        _ if stores <= 0.0 => "loads only".to_owned(),
        _ if loads <= 0.0 => "stores only".to_owned(),
        _ if loads >= stores => format!("{:.1}:1", loads / stores),
        _ => format!("1:{:.1}", stores / loads),
    }
}

/// The smallest candidate, for those who want fewer moves.
fn write_smaller_candidate(out: &mut String, struct_plan: &StructPlan) {
    let marked = |candidate: &&Candidate| {
        candidate.marks.contains(&Mark::Smallest) && candidate.moved < struct_plan.moved.len()
    };
    let Some(candidate) = struct_plan.candidates.iter().find(marked) else { return };
    let Some(forecast) = candidate.forecasts.first() else { return };
    let (few, many, lines) = (candidate.moved, struct_plan.moved.len(), forecast.together.after);
    let change = format!("{few} instead of {many} members moved give {lines:.2} cachelines per visit");
    write_separate_paragraph(out, &format!("A smaller change is possible: {change} at {} B.", forecast.line));
}

/// Structs that were planned and keep their order.
fn write_unchanged(out: &mut String, plan: &Plan) {
    let is_unchanged = |struct_plan: &&StructPlan| struct_plan.outcome() != Outcome::Moved;
    if plan.structs.iter().any(|struct_plan| is_unchanged(&struct_plan)) {
        out.push_str("\nUnchanged\n=========\n\n");
    }
    for struct_plan in plan.structs.iter().filter(is_unchanged) {
        let why = struct_plan.reason().unwrap_or("no order is worth a change");
        write_paragraph(out, "  * ", &format!("struct {}: {why}", struct_plan.name));
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::load_store_ratio;

    #[test]
    fn ratios_name_the_smaller_side_once() {
        let found: Vec<String> =
            [0.0, 0.1, 0.5, 0.75, 1.0].iter().map(|share| load_store_ratio(*share)).collect();
        assert_eq!(found, ["loads only", "9.0:1", "1.0:1", "1:3.0", "stores only"]);
    }
}
