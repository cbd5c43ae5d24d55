//! Notes of a plan on contended locks: hot members on a lock's line lose it to CPUs that wait.

use crate::input::layout_set;
use crate::lock_lines::{self, HOT_PERCENT, LockContext, LockLine};
use crate::output;
use anyhow::Result;
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_plan::result::{Arrangement, PlacedMember};
use fieldline_plan::{Plan, StructPlan};
use std::path::Path;

/// Most names in a note.
const MAX_NAMES: usize = 6;

/// Adds a note for each contended lock of a planned struct.
pub(super) fn add(
    plan: &mut Plan,
    profile: &AccessProfile,
    program: &Path,
    (lock_stat, named): (&Path, &[String]),
) -> Result<()> {
    let classes = lock_lines::read_classes(lock_stat)?;
    let named = lock_lines::parse_named(named)?;
    // All structs: a class that names a member only may mean any of them.
    let layouts = layout_set::read(program, &[], None)?;
    let line_size = layouts.line;
    let context = LockContext { layouts: &layouts.layouts, line_size, profile: Some(profile), named: &named };
    let (placed, unplaced) = context.place(&classes);
    for struct_plan in &mut plan.structs {
        let accesses = profile.types.iter().find(|known| known.name == struct_plan.name);
        let own = placed.iter().filter(|lock| lock.struct_name == struct_plan.name);
        let notes = own.filter_map(|lock| note(struct_plan, accesses?, lock, plan.build_line));
        let notes: Vec<String> = notes.collect();
        // The first screen has no place for them, and they were asked for.
        notes.iter().for_each(|note| output::print_note(&format!("struct {}: {note}", struct_plan.name)));
        struct_plan.notes.extend(notes);
    }
    if !unplaced.is_empty() {
        let count = unplaced.len();
        output::print_note(&format!(
            "{count} classes of locks could not be placed in structs (compare --locks says why; --lock-struct names one)"
        ));
    }
    Ok(())
}

fn note(plan: &StructPlan, accesses: &TypeProfile, lock: &LockLine, line: u64) -> Option<String> {
    let percent = lock.contention()?;
    let own = plan.declared.members.iter().find(|member| holds(member, lock.offset))?.index;
    let hot = |arrangement: &Arrangement| names(&hot_beside(plan, accesses, arrangement, own, line));
    let (declared, chosen) = (hot(&plan.declared), hot(&plan.chosen));
    let planned = match plan.changes() {
        true => format!("; as planned: {chosen}"),
        false => String::new(),
    };
    let LockLine { class, member, .. } = lock;
    Some(format!(
        "{percent:.1} % of the acquisitions of {member} ({class}) wait, and waiting CPUs write its line; hot members on it as \
         declared: {declared}{planned}"
    ))
}

fn holds(member: &PlacedMember, offset: u64) -> bool {
    member.offset <= offset && offset < member.offset + member.size.max(1)
}

/// Names of hot members that share a line with a member in an arrangement.
fn hot_beside(
    plan: &StructPlan,
    accesses: &TypeProfile,
    arrangement: &Arrangement,
    own: usize,
    line: u64,
) -> Vec<String> {
    let lines = |member: &PlacedMember| {
        let line = line.max(1);
        (member.offset / line, (member.offset + member.size.max(1) - 1) / line)
    };
    let Some(lock) = arrangement.members.iter().find(|member| member.index == own).map(lines) else {
        return Vec::new();
    };
    let shares = |member: &&PlacedMember| {
        let (first, last) = lines(member);
        member.index != own && first <= lock.1 && lock.0 <= last
    };
    let beside =
        arrangement.members.iter().filter(shares).filter(|member| is_hot(plan, accesses, member.index));
    beside.map(|member| member.name.clone().unwrap_or_else(|| "an unnamed member".to_owned())).collect()
}

/// Whether a member has its share of the struct's samples, which were recorded with the declared layout.
fn is_hot(plan: &StructPlan, accesses: &TypeProfile, index: usize) -> bool {
    let Some(member) = plan.declared.members.iter().find(|member| member.index == index) else {
        return false;
    };
    let own = accesses.accesses.iter().filter(|access| holds(member, access.offset));
    let samples: u64 = own.map(|access| access.loads.samples + access.stores.samples).sum();
    samples > 0 && 100.0 * samples as f64 >= HOT_PERCENT * accesses.samples() as f64
}

fn names(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    let shown = names.get(..names.len() - more).unwrap_or_default().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
