//! Uses of a struct by file, as constraints and notes.

use fieldline_layout::constraint::{PinnedMember, PlacementRequests};
use fieldline_layout::{Layout, Member};
use fieldline_source::uses::{StructUse, UseDemand};
use std::collections::{BTreeMap, BTreeSet};

/// Uses of one struct by file, in order of paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsesByFile(pub(super) Vec<(String, StructUse)>, pub(super) UsesOfBases);

/// Uses of a struct's base classes that hold all of its members.
pub(super) type UsesOfBases = Vec<(String, StructUse)>;

impl UsesByFile {
    /// Sorts the uses; of those that demand the same at the same place, found in several ways, the first stays.
    pub(super) fn drop_repeated(&mut self) {
        let mut seen = BTreeSet::new();
        self.0
            .retain(|(path, used)| seen.insert((path.clone(), used.line, used.demand, used.members.clone())));
        self.0.sort();
    }

    /// Leaves out uses at places that something else answers for, each a file and a line, but those of base classes.
    pub(crate) fn retain_places(&mut self, is_kept: impl Fn(&str, u32) -> bool) {
        self.0.retain(|(path, used)| is_kept(path, used.line));
    }

    /// Adds constraints to the requests; gives notes, a sentence each.
    pub(crate) fn add_to(&self, requests: &mut PlacementRequests, layout: &Layout) -> Vec<String> {
        let mut limits: BTreeMap<(usize, bool), Vec<String>> = BTreeMap::new();
        let mut notes = Vec::new();
        let (mut files, mut members) = (BTreeSet::new(), BTreeSet::new());
        for (path, used) in self.0.iter().chain(&self.1) {
            let place = format!("{path}:{}", used.line);
            match used.demand {
                UseDemand::Assembler => {
                    files.insert(path.as_str());
                    members.extend(used.members.iter().map(String::as_str));
                }
                UseDemand::Size => {
                    requests.size_is_asserted = true;
                    notes.push(format_note(&place, used));
                }
                UseDemand::Note => notes.push(format_note(&place, used)),
                UseDemand::Last => {
                    let reason = format!("{} ({place})", used.description);
                    let named = |name: &String| member_named(&layout.members, name);
                    for member in used.members.iter().filter_map(named) {
                        if !requests.last.iter().any(|pin| pin.member == member) {
                            requests.last.push(PinnedMember { member, reason: reason.clone() });
                        }
                    }
                }
                demand => {
                    for member in limited_members(demand, used, layout) {
                        let limit = limits.entry((member, demand == UseDemand::Offset)).or_default();
                        limit.push(format!("{} ({place})", used.description));
                    }
                }
            }
        }
        for ((member, keeps_offset), reasons) in limits {
            let pins = if keeps_offset { &mut requests.keep } else { &mut requests.fixed };
            pins.push(PinnedMember { member, reason: summarize_reasons(&reasons) });
        }
        notes.extend(assembler(&files, &members));
        notes
    }
}

/// That assembler code follows the members by constants made anew from these files.
fn assembler(files: &BTreeSet<&str>, members: &BTreeSet<&str>) -> Option<String> {
    let first = files.first()?;
    let more = match files.len() {
        1 => String::new(),
        count => format!(" and {} more files", count - 1),
    };
    let members: Vec<&str> = members.iter().copied().collect();
    let members = members.join(", ");
    Some(format!("{first}{more}: assembler code reads {members}; the build generates their offsets anew"))
}

fn format_note(place: &str, used: &StructUse) -> String {
    match used.members.is_empty() {
        true => format!("{place}: {}", used.description),
        false => format!("{place}: {}: {}", used.members.join(", "), used.description),
    }
}

/// Members that a use limits, by declared index.
fn limited_members(demand: UseDemand, used: &StructUse, layout: &Layout) -> Vec<usize> {
    let named = |name: &String| member_named(&layout.members, name);
    match demand {
        UseDemand::First => Vec::from_iter(layout.members.iter().position(|member| member.bit_size > 0)),
        UseDemand::Whole => (0..layout.members.len()).collect(),
        UseDemand::Positions(count) => first_declared(&layout.members, count).collect(),
        _ => used.members.iter().filter_map(named).collect(),
    }
}

/// Index of the member that code says a name for: of those of base classes only if none is declared that hides it.
pub(crate) fn member_named(members: &[Member], name: &str) -> Option<usize> {
    let mut named = members.iter().enumerate().filter(|(_, member)| has_name(member, name));
    let found = named.clone().find(|(_, member)| !member.is_inherited()).or_else(|| named.next());
    found.map(|(index, _)| index)
}

/// Indices of the first declared members, so many of them, and of what is inherited, which lists may give values too.
pub(crate) fn first_declared(members: &[Member], count: usize) -> std::ops::Range<usize> {
    let inherited = members.iter().filter(|member| member.is_inherited()).count();
    0..inherited.saturating_add(count).min(members.len())
}

/// Whether code says a name for a member or, if that is unnamed, for something in it.
pub(crate) fn has_name(member: &Member, name: &str) -> bool {
    match &member.name {
        Some(own) => own == name,
        None => member.members.iter().any(|inner| has_name(inner, name)),
    }
}

/// The first reason, and how many more there are.
pub(crate) fn summarize_reasons(reasons: &[String]) -> String {
    match reasons {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first}, likewise in {} more places", rest.len()),
    }
}

/// Names that code can say: of unnamed structs and unions those inside.
pub(crate) fn names(members: &[Member]) -> Vec<&str> {
    let names = members.iter().flat_map(|member| match &member.name {
        Some(name) => vec![name.as_str()],
        None => names(&member.members),
    });
    names.collect()
}
