//! Why a member moves, in words a maintainer can check: who touches it, with whom, read or written.

use crate::cost::Model;
use crate::result::{MovedMember, rounded};
use crate::visits::sources;
use fieldline_access::AccessProfile;
use fieldline_access::access::Access;
use fieldline_layout::{Layout, Member};
use std::collections::{BTreeMap, BTreeSet};

/// Functions and members named in a reason.
const NAMED: usize = 3;
/// Below this share of stores a member is mostly read, above one less it is mostly written.
const MOSTLY: f64 = 0.1;

/// Explains moved members of a new layout.
pub struct Explainer<'a> {
    profile: &'a AccessProfile,
    declared: &'a Layout,
    heat: Vec<Heat>,
    samples: u64,
    line: u64,
}

#[derive(Clone, Debug, Default)]
struct Heat {
    loads: u64,
    stores: u64,
    by_function: BTreeMap<u32, u64>,
    cpus: BTreeSet<u32>,
}

impl<'a> Explainer<'a> {
    /// Sums what is known of each member. `line` is the cacheline size in bytes.
    pub fn new(profile: &'a AccessProfile, declared: &'a Layout, model: &Model, line: u64) -> Self {
        let heat = declared.members.iter().map(|member| Heat::of(member, &model.accesses));
        let mut heat: Vec<Heat> = heat.collect();
        for source in sources(profile, declared) {
            let held = profile.types.get(source.type_index).into_iter();
            for access in held.flat_map(|held| &held.cpus) {
                let offset = access.offset.checked_sub(source.base);
                let member = offset.and_then(|offset| declared.member_at(offset));
                if let Some(heat) = member.and_then(|member| heat.get_mut(member)) {
                    heat.cpus.insert(access.cpu);
                }
            }
        }
        Self { profile, declared, heat, samples: model.enough.have, line: line.max(1) }
    }

    /// Explains why the member with a declared index is where it is in the new layout, whose members have `order`.
    pub fn explain(&self, index: usize, chosen: &Layout, order: &[usize]) -> Option<MovedMember> {
        let place = order.iter().position(|other| *other == index)?;
        let member = chosen.members.get(place)?;
        let heat = self.heat.get(index)?;
        let neighbours = self.neighbours(member, chosen, order, index);
        let functions = self.functions(heat, &neighbours);
        let with: Vec<String> = neighbours.iter().map(|(other, _)| self.label(*other)).collect();
        let samples = heat.loads + heat.stores;
        let share = samples as f64 / self.samples.max(1) as f64;
        let mut moved = MovedMember {
            index,
            name: member.name.clone(),
            from: self.declared.members.get(index)?.offset(),
            to: member.offset(),
            loads: heat.loads,
            stores: heat.stores,
            cpus: heat.cpus.len(),
            share: rounded(share, 10_000.0),
            functions,
            with,
            reason: String::new(),
        };
        moved.reason = sentence(&moved, heat.by_function.len());
        Some(moved)
    }

    fn label(&self, index: usize) -> String {
        self.declared.members.get(index).map_or_else(String::new, |member| member.label().to_owned())
    }

    /// Members on the same lines that functions touch together with this one, by how often they do.
    fn neighbours(
        &self,
        member: &Member,
        chosen: &Layout,
        order: &[usize],
        index: usize,
    ) -> Vec<(usize, u64)> {
        let lines = self.lines(member);
        let near = order.iter().zip(&chosen.members);
        let near = near.filter(|(other, placed)| **other != index && !self.lines(placed).is_disjoint(&lines));
        let shared = near.map(|(other, _)| (*other, self.heat[index].shared_with(&self.heat[*other])));
        let mut shared: Vec<(usize, u64)> = shared.filter(|(_, samples)| *samples > 0).collect();
        shared.sort_by_key(|(other, samples)| (std::cmp::Reverse(*samples), *other));
        shared.truncate(NAMED);
        shared
    }

    fn lines(&self, member: &Member) -> BTreeSet<u64> {
        let last = (member.offset() + member.size()).saturating_sub(1).max(member.offset());
        (member.offset() / self.line..=last / self.line).collect()
    }

    /// Functions that touch the member and its neighbours, or else those that touch it most.
    fn functions(&self, heat: &Heat, neighbours: &[(usize, u64)]) -> Vec<String> {
        let joint = |function: &u32| {
            neighbours.iter().any(|(other, _)| self.heat[*other].by_function.contains_key(function))
        };
        let mut functions: Vec<(bool, u64, u32)> = heat
            .by_function
            .iter()
            .map(|(function, samples)| (joint(function), *samples, *function))
            .collect();
        functions
            .sort_by_key(|(joint, samples, function)| (std::cmp::Reverse((*joint, *samples)), *function));
        let names =
            functions.iter().filter_map(|(_, _, function)| self.profile.functions.get(*function as usize));
        names.take(NAMED).cloned().collect()
    }
}

impl Heat {
    fn of(member: &Member, accesses: &[Access]) -> Self {
        let mut heat = Self::default();
        for access in accesses.iter().filter(|access| access.touches(member)) {
            heat.loads += access.loads.samples;
            heat.stores += access.stores.samples;
            *heat.by_function.entry(access.function).or_default() += access.samples();
        }
        heat
    }

    /// How often functions touch both members: the less frequent one's samples, by function.
    fn shared_with(&self, other: &Self) -> u64 {
        let both = self.by_function.iter().filter_map(|(function, samples)| {
            let others = other.by_function.get(function)?;
            Some((*samples).min(*others))
        });
        both.sum()
    }
}

fn sentence(moved: &MovedMember, functions: usize) -> String {
    let samples = moved.loads + moved.stores;
    if samples == 0 {
        return "no sample touched it; it makes room for members that are touched together".to_owned();
    }
    let who = match functions.saturating_sub(moved.functions.len()) {
        0 => list(&moved.functions),
        more => format!("{} and {more} more", moved.functions.join(", ")),
    };
    let verb = verb(moved.stores as f64 / samples as f64, functions == 1);
    let share = percent(moved.share);
    let cpus = match moved.cpus {
        0 => String::new(),
        1 => " on one CPU".to_owned(),
        many => format!(" on {many} CPUs"),
    };
    let what = format!("{who} {verb} it{cpus} ({share} of accesses)");
    if moved.with.is_empty() {
        return format!("{what}; nothing touched with it shares its cacheline");
    }
    format!("{what} together with {}, now on its cacheline", list(&moved.with))
}

fn verb(stores: f64, one: bool) -> &'static str {
    match (stores < MOSTLY, stores > 1.0 - MOSTLY, one) {
        (true, _, true) => "reads",
        (true, _, false) => "read",
        (_, true, true) => "writes",
        (_, true, false) => "write",
        (_, _, true) => "reads and writes",
        (_, _, false) => "read and write",
    }
}

fn percent(share: f64) -> String {
    if share < 0.001 { "under 0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[String]) -> String {
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
    fn sentences_name_who_how_often_and_with_whom() {
        assert_eq!(
            sentence(&moved(99, 1, &["a", "b", "c"]), 2),
            "f and g read it on 4 CPUs (4.1 % of accesses) together with a, b and c, now on its cacheline"
        );
        assert!(sentence(&moved(5, 5, &["a"]), 7).starts_with("f, g and 5 more read and write it"));
        assert!(sentence(&moved(0, 5, &[]), 2).contains("write it"));
        assert!(sentence(&moved(0, 0, &[]), 0).starts_with("no sample touched it"));
    }
}
