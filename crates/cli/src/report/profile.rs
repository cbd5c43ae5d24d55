//! Access profiles as text.

pub(crate) mod coverage;
pub(crate) mod coverage_json;
pub(crate) mod heat;
pub(crate) mod heat_text;
pub(crate) mod report_json;
pub(crate) mod sharing_text;
pub(crate) mod turns_text;

use super::color::Palette;
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_perfdata::perf_data::is_step_event;
use heat_text::percent;
use std::fmt::Write;

/// Most structs shown.
const MAX_TYPES: usize = 20;

/// Appends coverage, and the structs with most samples: loads, stores, share of all samples.
pub(crate) fn draw(out: &mut String, profile: &AccessProfile, paint: Palette) {
    coverage::draw(out, profile, paint);
    let mut types: Vec<&TypeProfile> = profile.types.iter().collect();
    types.sort_by_key(|ty| (std::cmp::Reverse(ty.samples()), &ty.name));
    let total: u64 = profile.coverage.iter().map(|event| event.total.samples).sum();
    let _ = writeln!(out, "{}", paint.dim("   share   loads  stores  size  struct"));
    for ty in types.iter().take(MAX_TYPES) {
        let loads: u64 = ty.accesses.iter().map(|access| access.loads.samples).sum();
        let stores: u64 = ty.accesses.iter().map(|access| access.stores.samples).sum();
        let share = percent(loads + stores, total);
        let _ = writeln!(out, "  {share:>6} {loads:>7} {stores:>7} {:>5}  {}", ty.size, ty.name);
    }
    if types.len() > MAX_TYPES {
        let _ = writeln!(out, "  and {} more", types.len() - MAX_TYPES);
    }
}

/// The name for CPUs of a profile: `record` gives each thread one of its own.
pub(crate) fn name_cpus(profile: &AccessProfile) -> &'static str {
    let is_stepped = profile.coverage.iter().all(|event| is_step_event(&event.event));
    if is_stepped { "threads" } else { "CPUs" }
}
