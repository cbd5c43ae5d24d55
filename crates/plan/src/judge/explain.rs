//! Why a member moves, in facts a maintainer can check: functions, neighbours, reads or writes.

use crate::cost::VisitModel;
use crate::result::{MovedMember, rounded};
use fieldline_access::AccessProfile;
use fieldline_access::access::Access;
use fieldline_layout::{Layout, Member};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Functions and members named in a reason.
const NAMED: usize = 3;
/// Below this share of stores a member is mostly read, above one less it is mostly written.
const MOSTLY: f64 = 0.1;

/// Explains moved members of a new layout.
pub struct Explainer<'a> {
    profile: &'a AccessProfile,
    declared: &'a Layout,
    heat: Vec<MemberAccessCounts>,
    samples: u64,
    line: u64,
}

#[derive(Clone, Debug, Default)]
struct MemberAccessCounts {
    loads: u64,
    stores: u64,
    by_function: BTreeMap<u32, u64>,
    cpus: BTreeSet<u32>,
}

impl<'a> Explainer<'a> {
    /// Sums the accesses to each member. `line` is the cacheline size in bytes.
    pub fn new(profile: &'a AccessProfile, declared: &'a Layout, model: &VisitModel, line: u64) -> Self {
        let counts = |member| MemberAccessCounts::from_accesses(member, &model.accesses);
        let mut heat: Vec<MemberAccessCounts> = declared.members.iter().map(counts).collect();
        for access in &model.cpus {
            let member = declared.member_at(access.offset);
            if let Some(heat) = member.and_then(|member| heat.get_mut(member)) {
                heat.cpus.insert(access.cpu);
            }
        }
        Self { profile, declared, heat, samples: model.sufficiency.have, line: line.max(1) }
    }

    /// Explains why a member is where it is in the new layout, whose members have `order`.
    pub fn explain(&self, moved: MovedMember, chosen: &Layout, order: &[usize]) -> MovedMember {
        let Some(heat) = self.heat.get(moved.index) else { return moved };
        let neighbours = self.neighbours(moved.index, chosen, order);
        let samples = heat.loads + heat.stores;
        let mut moved = MovedMember {
            loads: heat.loads,
            stores: heat.stores,
            cpus: heat.cpus.len(),
            share: rounded(samples as f64 / self.samples.max(1) as f64, 10_000.0),
            functions: self.functions(heat, &neighbours),
            with: neighbours.iter().map(|other| self.declared.members[*other].label().to_owned()).collect(),
            ..moved
        };
        moved.reason = describe_move(&moved, heat.by_function.len());
        moved
    }

    /// Members on the same lines that functions touch together with this one, by how often they do.
    fn neighbours(&self, index: usize, chosen: &Layout, order: &[usize]) -> Vec<usize> {
        let placed = || order.iter().copied().zip(&chosen.members);
        let own = placed().filter(|(other, _)| *other == index);
        let lines: BTreeSet<u64> = own.flat_map(|(_, member)| self.lines(member)).collect();
        let is_near = |member: &Member| self.lines(member).any(|line| lines.contains(&line));
        let near = placed().filter(|(other, member)| *other != index && is_near(member));
        let heat = &self.heat[index];
        let shared = near.map(|(other, _)| (Reverse(heat.shared_samples(&self.heat[other])), other));
        let mut shared: Vec<(Reverse<u64>, usize)> = shared.filter(|(samples, _)| samples.0 > 0).collect();
        shared.sort_unstable();
        shared.into_iter().map(|(_, other)| other).take(NAMED).collect()
    }

    fn lines(&self, member: &Member) -> RangeInclusive<u64> {
        let last = (member.offset() + member.size()).saturating_sub(1).max(member.offset());
        member.offset() / self.line..=last / self.line
    }

    /// Functions that touch the member and its neighbours, or else those that touch it most.
    fn functions(&self, heat: &MemberAccessCounts, neighbours: &[usize]) -> Vec<String> {
        let touches = |other: &usize, function| self.heat[*other].by_function.contains_key(function);
        let joint = |function| neighbours.iter().any(|other| touches(other, function));
        let mut functions: Vec<(&u32, &u64)> = heat.by_function.iter().collect();
        functions.sort_by_key(|(function, samples)| (Reverse((joint(function), *samples)), *function));
        let names = &self.profile.functions;
        let names = functions.iter().filter_map(|(function, _)| names.get(**function as usize));
        names.take(NAMED).cloned().collect()
    }
}

impl MemberAccessCounts {
    fn from_accesses(member: &Member, accesses: &[Access]) -> Self {
        let mut heat = Self::default();
        for access in accesses.iter().filter(|access| access.touches(member)) {
            heat.loads += access.loads.samples;
            heat.stores += access.stores.samples;
            *heat.by_function.entry(access.function).or_default() += access.samples();
        }
        heat
    }

    /// How often functions touch both members: the less frequent one's samples, by function.
    fn shared_samples(&self, other: &Self) -> u64 {
        let both = self.by_function.iter();
        both.filter_map(|(function, samples)| other.by_function.get(function).min(Some(samples))).sum()
    }
}

fn describe_move(moved: &MovedMember, functions: usize) -> String {
    let samples = moved.loads + moved.stores;
    if samples == 0 {
        return "no sample touched it; it makes room for members that are touched together".to_owned();
    }
    let who = match functions.saturating_sub(moved.functions.len()) {
        0 => join_names(&moved.functions),
        more => format!("{} and {more} more", moved.functions.join(", ")),
    };
    let verb = verb(moved.stores as f64 / samples as f64, functions == 1);
    let share = match moved.share {
        share if share < 0.001 => "under 0.1 %".to_owned(),
        share => format!("{:.1} %", share * 100.0),
    };
    let cpus = match moved.cpus {
        0 => String::new(),
        1 => " on one CPU".to_owned(),
        many => format!(" on {many} CPUs"),
    };
    let what = format!("{who} {verb} it{cpus} ({share} of accesses)");
    if moved.with.is_empty() {
        return format!("{what}; nothing touched with it shares its cacheline");
    }
    format!("{what} together with {}, now on its cacheline", join_names(&moved.with))
}

fn verb(stores: f64, is_single: bool) -> &'static str {
    match (stores < MOSTLY, stores > 1.0 - MOSTLY, is_single) {
        (true, _, true) => "reads",
        (true, _, false) => "read",
        (_, true, true) => "writes",
        (_, true, false) => "write",
        (_, _, true) => "reads and writes",
        (_, _, false) => "read and write",
    }
}

/// `a`, `a and b`, `a, b and c`.
fn join_names(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(loads: u64, stores: u64, with: &[&str]) -> MovedMember {
        MovedMember {
            index: 0,
            name: None,
            from: 0,
            to: 8,
            loads,
            stores,
            cpus: 4,
            share: 0.041,
            functions: vec!["f".to_owned(), "g".to_owned()],
            with: with.iter().map(|name| (*name).to_owned()).collect(),
            reason: String::new(),
        }
    }

    #[test]
    fn reasons_name_functions_shares_and_neighbours() {
        assert_eq!(
            describe_move(&moved(99, 1, &["a", "b", "c"]), 2),
            "f and g read it on 4 CPUs (4.1 % of accesses) together with a, b and c, now on its cacheline"
        );
        assert!(describe_move(&moved(5, 5, &["a"]), 7).starts_with("f, g and 5 more read and write it"));
        assert!(describe_move(&moved(0, 5, &[]), 2).contains("write it"));
        assert!(describe_move(&moved(0, 0, &[]), 0).starts_with("no sample touched it"));
    }
}
