//! Made-up hosts: parts of real profiles, in three builds and three cohorts.

use anyhow::Result;
use fieldline_access::AccessProfile;
use fieldline_access::access::{Recording, TypeProfile};
use fieldline_fleet::file::to_parquet;
use fieldline_fleet::profile_rows::{ProfileFacts, to_tables};
use fieldline_fleet::schema::Table;
use fieldline_layout::{Layout, Member};
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes that each further build has in front of a struct's members.
const SHIFT: u64 = 64;
/// By how much addresses of instructions differ between builds.
const CODE_SHIFT: u64 = 0x100;
/// Every so many time blocks, one is a host's.
const PART: usize = 10;
const COHORTS: [&str; 3] = ["web", "db", "batch"];

/// Writes hosts, a folder each; returns how many rows they have.
pub(super) fn write(profiles: &[AccessProfile], hosts: usize, folder: &Path) -> Result<usize> {
    let numbers: Vec<usize> = (0..hosts).collect();
    let rows = fieldline_parallel::map(&numbers, |host| write_host(profiles, *host, folder));
    rows.into_iter().sum()
}

fn write_host(profiles: &[AccessProfile], host: usize, folder: &Path) -> Result<usize> {
    let cohort = host % COHORTS.len();
    // The first cohorts run one load each, the last all of them.
    let source =
        if cohort + 1 < COHORTS.len() { cohort } else { host / COHORTS.len() } % profiles.len().max(1);
    let mut profile = part(&profiles[source], host);
    let build = host / 7 % 3;
    change_build(&mut profile, build as u64);
    let facts = ProfileFacts {
        host: Some(format!("host{host:04}")),
        day: Some(format!("2026-05-{:02}", 1 + host % 7)),
        labels: BTreeMap::from([("cohort".to_owned(), COHORTS[cohort].to_owned())]),
    };
    let tables = to_tables(&profile, &facts)??;
    let folder = folder.join(format!("host{host:04}"));
    std::fs::create_dir_all(&folder)?;
    for table in Table::ALL {
        std::fs::write(folder.join(format!("{}.parquet", table.name())), to_parquet(&tables, table)?)?;
    }
    Ok(Table::ALL.iter().map(|table| tables.rows_of(*table).len()).sum())
}

/// One time block in [`PART`] of a profile, in turns by host.
fn part(profile: &AccessProfile, host: usize) -> AccessProfile {
    let is_kept = |block: u32| block as usize % PART == host % PART;
    let weights: Vec<u64> = (0..profile.blocks.len() as u32).map(|block| u64::from(is_kept(block))).collect();
    let mut some = profile.resample(&weights, &|_| true, &|_| true);
    for (kept, known) in some.types.iter_mut().zip(&profile.types) {
        let mut blocks: BTreeMap<(u64, u64, u64, u32), _> = known
            .accesses
            .iter()
            .map(|access| ((access.ip, access.offset, access.size, access.function), access.blocks.clone()))
            .collect();
        for access in &mut kept.accesses {
            let key = (access.ip, access.offset, access.size, access.function);
            access.blocks = blocks.remove(&key).unwrap_or_default();
            access.blocks.retain(|count| is_kept(count.block));
        }
    }
    some.windows = profile.windows.clone();
    for window in &mut some.windows {
        window.blocks.retain(|(block, _)| is_kept(*block));
        window.count = window.blocks.iter().map(|(_, count)| count).sum();
    }
    some.windows.retain(|window| window.count > 0);
    some.blocks = profile.blocks.iter().zip(&weights).map(|(samples, weight)| samples * weight).collect();
    let samples = some.blocks.iter().sum();
    some.recordings = profile.recordings.iter().map(|known| Recording { samples, ..known.clone() }).collect();
    some
}

/// Makes a profile one of another build: all members lie further back, behind one of the build's own, the last
/// is another, and code is elsewhere.
fn change_build(profile: &mut AccessProfile, build: u64) {
    if build == 0 {
        return;
    }
    for recording in &mut profile.recordings {
        recording.build_id =
            recording.build_id.as_ref().map(|id| format!("{build:02}{}", &id[2.min(id.len())..]));
    }
    for known in &mut profile.types {
        change_type(known, build);
    }
}

fn change_type(known: &mut TypeProfile, build: u64) {
    let shift = SHIFT * build;
    for access in &mut known.accesses {
        access.offset += shift;
        access.ip = access.ip.wrapping_add(CODE_SHIFT * build);
    }
    known.cpus.iter_mut().for_each(|access| access.offset += shift);
    for pair in known.turns.iter_mut().flat_map(|turns| &mut turns.pairs) {
        (pair.offset, pair.written) = (pair.offset + shift, pair.written + shift);
    }
    known.size += shift;
    if let Some(layout) = &mut known.layout {
        change_layout(layout, build, shift);
        known.fingerprint = layout.fingerprint();
    }
}

fn change_layout(layout: &mut Layout, build: u64, shift: u64) {
    layout.members.iter_mut().for_each(|member| move_member(member, shift));
    if let Some(last) = layout.members.last_mut() {
        last.name = last.name.as_ref().map(|name| format!("{name}_of_build_{build}"));
    }
    let first = Member {
        name: Some(format!("first_of_build_{build}")),
        type_name: format!("char[{shift}]"),
        bit_size: 8 * shift,
        align: 1,
        ..Member::default()
    };
    layout.members.insert(0, first);
    layout.size += shift;
}

fn move_member(member: &mut Member, shift: u64) {
    member.bit_offset += 8 * shift;
    member.members.iter_mut().for_each(|inner| move_member(inner, shift));
}
