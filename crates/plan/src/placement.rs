//! Where a new member costs least: in a hole, not on a hot cacheline, without growth.
//!
//! * `position`: which positions are legal, and notes on them.
//! * `growth`: the addition; sizes, members that move, members pushed to other cachelines.
//! * `heat`: accesses to the cacheline, and visits before and after.
//! * `neighbours`: whether it can lie on the cachelines of members it is wanted with.
//! * `rank`: which position is better, and why.
//! * `result`: the answer as a serialisable value.

mod growth;
mod heat;
mod neighbours;
mod position;
mod rank;
pub mod result;

pub use growth::MemberAddition;
pub use result::{AddedMember, PlacementReport, RankedPlacement};

use crate::options::PlanOptions;
use crate::result::Basis;
use crate::visits::occurrences::find_bases;
use fieldline_access::AccessProfile;
use fieldline_layout::Layout;
use fieldline_layout::constraint::constraints_for_new_member;
use growth::LayoutGrowth;
use heat::ProfileHeat;
use position::DeclarationRules;
use rank::{PlacementRank, RoomKey};
use result::{FORMAT, VERSION};
use std::collections::BTreeSet;

/// Positions in a result.
const MAX_SHOWN: usize = 5;
/// Structs named that grow with this one.
const MAX_HOLDERS: usize = 5;

/// Ranks the positions of a new member.
pub fn rank_positions(
    addition: &MemberAddition<'_>,
    profile: Option<&AccessProfile>,
    options: &PlanOptions,
) -> PlacementReport {
    let (layout, member) = (addition.layout, addition.member);
    let heat = profile.map(|profile| ProfileHeat::new(profile, addition, options));
    let heat = heat.filter(|heat| heat.samples > 0);
    let name = |index: &usize| layout.members.get(*index).map(|member| member.label().to_owned());
    let mut result = PlacementReport {
        format: FORMAT.to_owned(),
        version: VERSION,
        basis: if heat.is_some() { Basis::Profile } else { Basis::Layout },
        name: layout.name.clone(),
        fingerprint: layout.fingerprint(),
        file: layout.file.clone(),
        member: AddedMember {
            declaration: addition.declaration.to_owned(),
            name: member.label().to_owned(),
            type_name: member.type_name.clone(),
            bit_size: member.bit_size,
            align: member.align.min(addition.align_limit).max(member.explicit_align.unwrap_or(1)),
        },
        with: addition.with.iter().filter_map(name).collect(),
        cold: addition.is_cold,
        lines: options.lines.clone(),
        build_line: options.build_line,
        samples: heat.as_ref().map_or(0, |heat| heat.samples),
        ..PlacementReport::default()
    };
    let limits = match constraints_for_new_member(layout, addition.requests) {
        Ok(limits) => limits,
        Err(refusal) => {
            result.refusal = Some(refusal.to_string());
            return result;
        }
    };
    let text = DeclarationRules::new(addition, &limits);
    let mut ranked: Vec<(PlacementRank, RoomKey, RankedPlacement)> = Vec::new();
    for index in 0..=layout.members.len() {
        result.considered += 1;
        let Ok(notes) = text.check(index) else { continue };
        let Some(growth) = LayoutGrowth::new(addition, index, options) else { continue };
        if let Some(broken) = text.violated_pin(&growth.own, index, options.build_line) {
            result.barred.extend(Some(broken).filter(|broken| !result.barred.contains(broken)));
            continue;
        }
        result.legal += 1;
        if !neighbours::satisfies_with(addition, &growth, index) {
            continue;
        }
        result.suitable += 1;
        ranked.push(rank::rank_position(addition, index, notes, &growth, heat.as_ref(), options));
    }
    ranked.sort_by(|this, other| this.0.cmp(&other.0));
    // Of positions that differ only in the members that make room, the best stands for all.
    let mut rooms = BTreeSet::new();
    ranked.retain(|(_, room, _)| rooms.insert(*room));
    result.placements = ranked.into_iter().map(|(_, _, placement)| placement).take(MAX_SHOWN).collect();
    if result.legal == 0 {
        result.refusal = Some(text.most_frequent_reason());
    }
    if !addition.with.is_empty() && result.suitable == 0 {
        result.impossible = true;
        result.refusal = Some(neighbours::explain_impossible(addition, &text, options));
    }
    if result.placements.iter().any(RankedPlacement::grows) {
        result.holders = profile.map_or_else(Vec::new, |profile| find_holders(profile, layout));
    }
    result
}

/// Structs of a profile that hold this one by value and so grow with it.
fn find_holders(profile: &AccessProfile, layout: &Layout) -> Vec<String> {
    let wanted = format!("{} {}", layout.kind, layout.name);
    let holds = |outer: &Layout| !find_bases(&outer.members, &wanted, layout.size).is_empty();
    let known = profile.types.iter().filter(|profile_type| profile_type.layout.as_ref().is_some_and(holds));
    let mut names: Vec<String> = known.map(|profile_type| profile_type.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MAX_HOLDERS);
    names
}

#[cfg(test)]
mod tests;
