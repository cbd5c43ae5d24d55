//! The accesses to structs side by side, as accesses to their holder.
//!
//! A visit is learnt from what functions touch together. Two structs of one holder are taken to be touched in one
//! visit where the same functions run: samples don't say whether both were of one object. Lines that both touch may
//! so count once too often, which is the cheaper error (docs/METHOD.md).

use super::side::SideBySide;
use crate::options::PlanRequest;
use crate::visits::find_occurrences;
use crate::visits::occurrences::{collect_accesses, cpu_accesses};
use fieldline_access::access::{Access, AccessProfile, CpuAccess, TypeProfile};
use fieldline_access::line_turns::LineTurns;
use fieldline_layout::Layout;

/// The profile with an entry for the holder, whose members are those of `flat`.
pub(super) fn pool(
    profile: &AccessProfile,
    side: &SideBySide,
    requests: &[PlanRequest<'_>],
    flat: &Layout,
) -> AccessProfile {
    let mut pooled = TypeProfile {
        name: flat.name.clone(),
        size: flat.size,
        fingerprint: flat.fingerprint(),
        layout: Some(flat.clone()),
        ..TypeProfile::default()
    };
    let mut turns: Vec<LineTurns> = Vec::new();
    for part in &side.parts {
        let Some(PlanRequest { layout, .. }) = requests.get(part.request) else { continue };
        let base = side.base(part);
        let found = find_occurrences(profile, layout);
        let accesses = collect_accesses(profile, layout, &found).into_iter();
        pooled.accesses.extend(accesses.map(|access| Access { offset: access.offset + base, ..access }));
        let cpus = cpu_accesses(profile, &found, layout.size);
        pooled.cpus.extend(cpus.map(|access| CpuAccess { offset: access.offset + base, ..access }));
        let held = found.iter().filter_map(|found| Some((found.base, profile.types.get(found.type_index)?)));
        for (inside, held) in held {
            // Where the holder begins, if this struct begins there: the same for all objects of the holder.
            for (phase, objects) in &held.phases {
                let begin = (phase + inside + 256).wrapping_sub(base % 256) % 256;
                *pooled.phases.entry(begin).or_default() += objects;
            }
            pooled.homes.add(held.homes);
            for own in &held.turns {
                match turns.iter_mut().find(|turns| turns.line == own.line) {
                    Some(known) => known.add(own),
                    None => turns.push(own.clone()),
                }
            }
        }
    }
    pooled.turns = turns;
    let mut profile = profile.clone();
    match profile.types.iter_mut().find(|known| known.name == flat.name && known.size == flat.size) {
        Some(known) => *known = pooled,
        None => profile.types.push(pooled),
    }
    profile
}
