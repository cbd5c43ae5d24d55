//! The page of a profile, and of a plan made from it.

use super::accesses::FunctionNames;
use super::builds::OtherBuilds;
use super::facts::RecordedFacts;
use super::file::Page;
use super::model::{MemberData, PageData, StructData};
use super::orders::{named_orders, place_orders};
use super::section::{self, Section};
use super::{accesses, sharing};
use crate::report::profile::name_cpus;
use crate::series::letter;
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::Layout;
use fieldline_plan::cost::AlternateBuild;
use fieldline_plan::result::Group;
use fieldline_plan::search::moved_units;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::edits::PatchSet;

/// The content of the page.
pub(crate) struct PlannedPage<'p> {
    pub(crate) profile: &'p AccessProfile,
    /// The structs, each with the layout it was compiled to.
    pub(crate) structs: Vec<ShownStruct<'p>>,
    pub(crate) plan: Option<&'p Plan>,
    /// The patches of the plan, where they were made.
    pub(crate) patched: Option<&'p PatchSet>,
    /// Other builds to switch between.
    pub(crate) also: &'p [AlternateBuild],
    /// Measured results, as `compare` wrote them.
    pub(crate) measured: Option<&'p str>,
    /// Line sizes to switch between, in bytes.
    pub(crate) lines: &'p [u64],
    /// Line size in bytes of the machine that the program was compiled for.
    pub(crate) build_line: u64,
}

/// A struct to show.
pub(crate) struct ShownStruct<'p> {
    pub(crate) layout: Layout,
    /// Its accesses, if there are any.
    pub(crate) accesses: Option<&'p TypeProfile>,
    pub(crate) plan: Option<&'p StructPlan>,
}

/// The page of a profile, and of a plan if there is one.
pub(crate) fn planned(page: &PlannedPage<'_>) -> Page {
    let mut functions = FunctionNames::default();
    let mut data =
        PageData { lines: page.lines.to_vec(), who: name_cpus(page.profile), ..PageData::default() };
    let mut sections = Vec::new();
    for (index, shown) in page.structs.iter().enumerate() {
        let of_struct = struct_data(page, shown, &mut functions);
        sections.push(Section { index, ..section_of(page, shown, &of_struct) });
        data.structs.push(of_struct);
    }
    data.functions = functions.into_names();
    let subtitle =
        if page.plan.is_some() { "Members as declared and as planned" } else { "Members by accesses" };
    Page {
        title: title(&sections),
        subtitle: subtitle.to_owned(),
        recorded: Some(RecordedFacts::new(page.profile)),
        patches: page.patched.map(patches).unwrap_or_default(),
        measured: page.measured.map(str::to_owned),
        notes: page.patched.map(patch_notes).unwrap_or_default(),
        sections,
        data,
    }
}

/// The structs' names.
pub(super) fn title(sections: &[Section]) -> String {
    let names: Vec<String> =
        sections.iter().map(|section| format!("{} {}", section.kind, section.name)).collect();
    match names.as_slice() {
        [] => "no struct".to_owned(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

fn patches(patched: &PatchSet) -> Vec<(String, String)> {
    let text =
        |(name, bytes): &(String, Vec<u8>)| (name.clone(), String::from_utf8_lossy(bytes).into_owned());
    patched.patches.iter().map(text).collect()
}

fn patch_notes(patched: &PatchSet) -> Vec<String> {
    let refusals =
        patched.refusals.iter().map(|(name, reason)| format!("No patch of struct {name}: {reason}"));
    patched.notes.iter().cloned().chain(refusals).collect()
}

fn struct_data(page: &PlannedPage<'_>, shown: &ShownStruct<'_>, functions: &mut FunctionNames) -> StructData {
    let ShownStruct { layout, plan, .. } = shown;
    let orders = named_orders(layout, *plan);
    let (mut placed, builds) = place_orders(layout, &orders, (page.build_line, page.lines));
    for (data, order) in placed.iter_mut().zip(&orders) {
        data.moved = moved_units(&order.order);
    }
    let mut data = StructData {
        name: layout.name.clone(),
        kind: layout.kind.clone(),
        members: members(layout, *plan),
        shown: orders.iter().position(|order| order.is_chosen).unwrap_or(0),
        orders: placed,
        builds,
        ..StructData::default()
    };
    OtherBuilds { files: page.also, plan: *plan }.add_to(&mut data, (layout, page.build_line), &orders);
    if let Some(type_profile) = shown.accesses {
        accesses::add(&mut data, functions, (page.profile, type_profile), layout);
        data.lost = sharing::lost_members(type_profile, layout, page.lines);
    }
    data
}

fn members(layout: &Layout, plan: Option<&StructPlan>) -> Vec<MemberData> {
    let member = |(index, member): (usize, &fieldline_layout::Member)| MemberData {
        name: member.label().to_owned(),
        type_name: member.type_name.clone(),
        conditions: plan.map(|plan| conditions(plan, index)).unwrap_or_default(),
        why: plan.map(|plan| reasons(plan, index)).unwrap_or_default(),
        change: None,
    };
    layout.members.iter().enumerate().map(member).collect()
}

fn conditions(plan: &StructPlan, index: usize) -> Vec<String> {
    let known = plan.conditions.iter().find(|known| known.index == index);
    known.map(|known| known.conditions.clone()).unwrap_or_default()
}

/// Why a member is where the plan puts it.
fn reasons(plan: &StructPlan, index: usize) -> Vec<String> {
    let mut says = Vec::new();
    says.extend(
        plan.moved.iter().find(|moved| moved.index == index).map(|moved| format!("moves: {}", moved.reason)),
    );
    let held = plan.constraints.iter().filter(|held| held.index == index);
    says.extend(held.map(|held| format!("may not move freely: {}", held.reason)));
    if plan.changes() {
        let groups = plan.groups.iter().filter(|group| group.members.contains(&index));
        says.extend(groups.map(describe_group));
    }
    says
}

fn describe_group(group: &Group) -> String {
    let purpose = group.purpose.as_ref().map(|purpose| format!(" \"{purpose}\"")).unwrap_or_default();
    format!("group{purpose} of {} members: {}", group.members.len(), group.why)
}

fn section_of(page: &PlannedPage<'_>, shown: &ShownStruct<'_>, data: &StructData) -> Section {
    let ShownStruct { layout, plan, accesses, .. } = shown;
    let place = layout.file.as_ref().zip(layout.line).map(|(file, line)| format!("{file}:{line}"));
    let mut section =
        Section { name: layout.name.clone(), kind: layout.kind.clone(), place, ..Section::default() };
    section.verdict = match (plan, page.plan) {
        (Some(plan), Some(all)) => section::verdict(plan, all.basis),
        _ => format!("{} samples; no plan was given.", data.samples),
    };
    if let Some(plan) = plan {
        section.figures = section::figures(plan, page.build_line);
        section.figures_note = section::figures_note(plan);
        section.table = section::order_table(plan);
        section.evidence = section::evidence(plan);
        section.remarks = section::remarks(plan);
    }
    if let Some(profile) = accesses {
        let truly = sharing::truly_shared(profile, layout, page.build_line);
        let absent = sharing::describe_absence(profile, &data.lost).map(str::to_owned);
        let sharing = [
            ("False sharing", absent.into_iter().collect()),
            ("True sharing: samples that found the line lost since the member itself is written", truly),
        ];
        section.remarks.extend(sharing.into_iter().filter(|(_, says): &(_, Vec<String>)| !says.is_empty()));
    }
    section.copies.extend(message(page, *plan).map(|text| ("commit message", text)));
    section
}

/// The text of a commit that makes the proposed order.
fn message(page: &PlannedPage<'_>, plan: Option<&StructPlan>) -> Option<String> {
    let (all, plan) = (page.plan?, plan.filter(|plan| plan.changes())?);
    let steps = page.patched.iter().flat_map(|patched| &patched.steps);
    match steps.into_iter().find(|step| step.name() == Some(&plan.name)) {
        Some(step) => {
            Some(format!("{}\n\n{}", letter::subject(step, all), letter::struct_body(all, plan, step)))
        }
        // Without the source the area of the subject isn't known.
        None => Some(letter::struct_body(all, plan, &Default::default())),
    }
}
