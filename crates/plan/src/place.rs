//! Where a new member costs least: in a hole, on no hot cacheline, without growth.
//!
//! * `spot`: which places are legal, and what a reader should know of them.
//! * `growth`: what is to be added; sizes, members that move, members pushed to other cachelines.
//! * `heat`: what a profile says of the cacheline, and of visits before and after.
//! * `rank`: which place is better, and why in a sentence.
//! * `result`: the answer as a value that can be a file.

mod growth;
mod heat;
mod rank;
pub mod result;
mod spot;

pub use growth::Addition;
pub use result::{AddedMember, PlaceReport, RankedPlace};

use crate::options::PlanOptions;
use crate::result::Basis;
use crate::visits::source::bases_of;
use fieldline_access::AccessProfile;
use fieldline_layout::Layout;
use fieldline_layout::constraint::limits;
use growth::Growth;
use heat::Heat;
use rank::{Rank, Room};
use result::{FORMAT, VERSION};
use spot::Text;
use std::collections::BTreeSet;

/// Spots in a result.
const SHOWN: usize = 5;
/// Structs named that grow with this one.
const HOLDERS: usize = 5;

/// Ranks the places where a new member can stand.
pub fn place(addition: &Addition<'_>, profile: Option<&AccessProfile>, options: &PlanOptions) -> PlaceReport {
    let (layout, member) = (addition.layout, addition.member);
    let heat = profile.map(|profile| Heat::new(profile, addition, options)).filter(|heat| heat.samples > 0);
    let name = |index: &usize| layout.members.get(*index).map(|member| member.label().to_owned());
    let mut result = PlaceReport {
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
        ..PlaceReport::default()
    };
    let limits = match limits(layout, addition.wishes) {
        Ok(limits) => limits,
        Err(refusal) => {
            result.refusal = Some(refusal.to_string());
            return result;
        }
    };
    let text = Text::new(addition, &limits);
    let mut ranked: Vec<(Rank, Room, RankedPlace)> = Vec::new();
    for place in 0..=layout.members.len() {
        result.considered += 1;
        let Ok(notes) = text.check(place) else { continue };
        let Some(growth) = Growth::new(addition, place, options) else { continue };
        if let Some(broken) = text.broken_pin(&growth.own, place, options.build_line) {
            result.barred.extend(Some(broken).filter(|broken| !result.barred.contains(broken)));
            continue;
        }
        result.legal += 1;
        ranked.push(rank::judge(addition, place, notes, &growth, heat.as_ref(), options));
    }
    ranked.sort_by(|one, other| one.0.cmp(&other.0));
    // Of places that differ only in who makes room, the best stands for all.
    let mut rooms = BTreeSet::new();
    ranked.retain(|(_, room, _)| rooms.insert(*room));
    result.spots = ranked.into_iter().map(|(_, _, spot)| spot).take(SHOWN).collect();
    if result.legal == 0 {
        result.refusal = Some(text.why_nowhere());
    }
    if result.spots.iter().any(RankedPlace::grows) {
        result.holders = profile.map_or_else(Vec::new, |profile| holders(profile, layout));
    }
    result
}

/// Structs of a profile that hold this one by value and so grow with it.
fn holders(profile: &AccessProfile, layout: &Layout) -> Vec<String> {
    let wanted = format!("{} {}", layout.kind, layout.name);
    let holds = |of: &Layout| !bases_of(&of.members, &wanted, layout.size).is_empty();
    let known = profile.types.iter().filter(|of| of.layout.as_ref().is_some_and(holds));
    let mut names: Vec<String> = known.map(|of| of.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(HOLDERS);
    names
}

#[cfg(test)]
mod tests;
