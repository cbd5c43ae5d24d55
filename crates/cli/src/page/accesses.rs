//! Where a profile has accesses to a struct.

use super::model::{CpuTouch, StructData, Touch};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::Layout;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that a page names, each with the index it has there.
#[derive(Default)]
pub(super) struct FunctionNames {
    names: Vec<String>,
    indexes: BTreeMap<u32, usize>,
}

impl FunctionNames {
    /// The page's index of a function of the profile.
    fn index(&mut self, profile: &AccessProfile, function: u32) -> usize {
        *self.indexes.entry(function).or_insert_with(|| {
            let name = profile.functions.get(function as usize).map_or("?", |name| name);
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }
}

/// Adds the accesses that a profile has to a struct.
pub(super) fn add(
    data: &mut StructData,
    functions: &mut FunctionNames,
    (profile, type_profile): (&AccessProfile, &TypeProfile),
    layout: &Layout,
) {
    data.samples = type_profile.samples();
    data.touches = touches(functions, profile, type_profile);
    data.cpus = cpus(type_profile);
    data.inside = paths_inside(layout, &data.touches);
}

/// Accesses by the bytes touched and by function.
fn touches(functions: &mut FunctionNames, profile: &AccessProfile, type_profile: &TypeProfile) -> Vec<Touch> {
    let mut sums: BTreeMap<(u64, u64, u32), [u64; 4]> = BTreeMap::new();
    for access in &type_profile.accesses {
        let sum = sums.entry((access.offset, access.size, access.function)).or_default();
        let counts =
            [access.loads.samples, access.stores.samples, access.latency, access.lost_line_samples()];
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum = sum.saturating_add(count);
        }
    }
    let touch = |((offset, size, function), [loads, stores, latency, lost]): ((u64, u64, u32), [u64; 4])| {
        (offset, size, functions.index(profile, function), loads, stores, latency, lost)
    };
    sums.into_iter().map(touch).collect()
}

fn cpus(type_profile: &TypeProfile) -> Vec<CpuTouch> {
    let mut sums: BTreeMap<(u64, u32), (u64, u64)> = BTreeMap::new();
    for access in &type_profile.cpus {
        let (loads, stores) = sums.entry((access.offset, access.cpu)).or_default();
        *loads += access.loads;
        *stores += access.stores;
    }
    sums.into_iter().map(|((offset, cpu), (loads, stores))| (offset, cpu, loads, stores)).collect()
}

/// Paths of the touched offsets that lie inside of a member.
fn paths_inside(layout: &Layout, touches: &[Touch]) -> Vec<(u64, String)> {
    let offsets: BTreeSet<u64> = touches.iter().map(|touch| touch.0).collect();
    let named = offsets.into_iter().filter_map(|offset| {
        let member = layout.members.get(layout.member_at(offset)?)?;
        let path = layout.path_at(offset)?;
        (path != member.label()).then_some((offset, path))
    });
    named.collect()
}
