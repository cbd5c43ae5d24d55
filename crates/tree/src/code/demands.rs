//! Demands of code, as requests for the planner.

use super::read::StructCode;
use crate::uses::{first_declared, member_named};
use fieldline_frontend::{CodeUse, Demand, Edge};
use fieldline_layout::Layout;
use fieldline_layout::constraint::{MemberRun, PinnedMember, PlacementRequests};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Notes on a struct, and why none of its members may move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeLimits {
    /// A sentence each.
    pub(crate) notes: Vec<String>,
    /// Units that could not be read, and demands on all members at once: those that code shows where it stands, those
    /// that addresses lead to, what isn't understood.
    pub(crate) whole: Vec<String>,
}

/// How a member is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    Fixed,
    Offset,
    Order,
}

/// Members with limits, and the reasons of each.
type Limits = BTreeMap<(Limit, usize), Vec<String>>;

impl StructCode {
    /// How many units were read because they may see the struct.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Adds constraints to the requests; gives the rest.
    pub(crate) fn add_to(&self, requests: &mut PlacementRequests, layout: &Layout) -> CodeLimits {
        let mut found = CodeLimits { whole: self.unknown.clone(), ..CodeLimits::default() };
        let mut limits = Limits::new();
        let (mut read_by_assembler, mut unclear) = (BTreeSet::new(), Vec::new());
        for used in self.uses.iter().chain(&self.followed) {
            let reason = format!("{} ({})", used.why, self.place(used));
            match &used.demand {
                Demand::Assembler { member } => {
                    read_by_assembler.insert(member.as_str());
                }
                Demand::Size | Demand::Room => {
                    requests.size_is_asserted = true;
                    requests.size_is_kept |= used.demand == Demand::Size;
                    found.notes.push(format!("{}: {}", self.place(used), used.why));
                }
                Demand::Unclear => unclear.push(reason),
                demand => {
                    let is_known = add_limit(demand, layout, &reason, requests, &mut limits);
                    found.whole.extend((!is_known).then_some(reason));
                }
            }
        }
        found.whole.extend(unclear);
        for ((limit, member), reasons) in limits {
            let pins = match limit {
                Limit::Fixed => &mut requests.fixed,
                Limit::Offset => &mut requests.keep,
                Limit::Order => &mut requests.ordered,
            };
            pins.push(PinnedMember { member, reason: crate::uses::summarize_reasons(&reasons) });
        }
        if !read_by_assembler.is_empty() {
            let members: Vec<&str> = read_by_assembler.into_iter().collect();
            let members = members.join(", ");
            found
                .notes
                .push(format!("assembler code reads {members}; the build generates their offsets anew"));
        }
        found
    }

    fn place(&self, used: &CodeUse) -> String {
        let name = |path: &Path| path.strip_prefix(&self.tree).unwrap_or(path).display().to_string();
        let place = format!("{}:{}", name(&used.file), used.line);
        match &used.macro_definition {
            Some(found) => format!("{place}, {} of {}:{}", found.name, name(&found.file), found.line),
            None => place,
        }
    }
}

/// Adds a demand on some members; `false` if it is one on all.
fn add_limit(
    demand: &Demand,
    layout: &Layout,
    reason: &str,
    requests: &mut PlacementRequests,
    limits: &mut Limits,
) -> bool {
    let index = |name: &String| member_named(&layout.members, name);
    let mut add = |limit: Limit, member: usize| {
        limits.entry((limit, member)).or_default().push(reason.to_owned());
    };
    match demand {
        Demand::First { count } => {
            first_declared(&layout.members, *count).for_each(|member| add(Limit::Fixed, member))
        }
        Demand::Run { members } => {
            let found: Option<Vec<usize>> = members.iter().map(index).collect();
            let Some((first, last)) =
                found.and_then(|found| Some((found.iter().copied().min()?, found.iter().copied().max()?)))
            else {
                return false;
            };
            requests.runs.push(MemberRun { first, last, reason: reason.to_owned() });
        }
        Demand::Range { from, to } => {
            for edge in [from, to] {
                let (Edge::Before(name) | Edge::Behind(name)) = edge else { continue };
                let Some(member) = index(name) else { return false };
                add(Limit::Fixed, member);
            }
        }
        Demand::Offset { member } | Demand::Last { member } => {
            let limit = if matches!(demand, Demand::Offset { .. }) { Limit::Offset } else { Limit::Fixed };
            let Some(member) = index(member) else { return false };
            add(limit, member);
        }
        Demand::Order { first, then } => {
            let (Some(first), Some(then)) = (index(first), index(then)) else { return false };
            add(Limit::Order, first);
            add(Limit::Order, then);
        }
        Demand::Whole | Demand::Unclear => return false,
        Demand::Size | Demand::Room | Demand::Assembler { .. } => {}
    }
    true
}
