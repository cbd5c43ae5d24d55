//! The structs with most samples.

use crate::report::color::Paint;
use crate::report::profile::heat_text::percent;
use fieldline_access::access::{AccessProfile, TypeProfile};
use std::fmt::Write;

/// How many structs are shown.
const SHOWN: usize = 20;

/// Appends the structs with most samples: loads, stores, share of all samples.
pub(crate) fn draw(out: &mut String, profile: &AccessProfile, paint: Paint) {
    let mut types: Vec<&TypeProfile> = profile.types.iter().collect();
    types
        .sort_by(|left, right| right.samples().cmp(&left.samples()).then_with(|| left.name.cmp(&right.name)));
    let total: u64 = profile.coverage.iter().map(|event| event.total.samples).sum();
    let _ = writeln!(out, "{}", paint.dim("   share   loads  stores  size  struct"));
    for of in types.iter().take(SHOWN) {
        let loads: u64 = of.accesses.iter().map(|access| access.loads.samples).sum();
        let stores: u64 = of.accesses.iter().map(|access| access.stores.samples).sum();
        let share = percent(loads + stores, total);
        let _ = writeln!(out, "  {share:>6} {loads:>7} {stores:>7} {:>5}  {}", of.size, of.name);
    }
    if types.len() > SHOWN {
        let _ = writeln!(out, "  and {} more", types.len() - SHOWN);
    }
}
