//! What a profile says.

pub(crate) mod coverage;
pub(crate) mod heat;
pub(crate) mod heat_sharing;
pub(crate) mod heat_text;

use super::color::Paint;
use fieldline_access::access::{AccessProfile, TypeProfile};
use heat_text::percent;
use std::fmt::Write;

/// How many structs are shown.
const SHOWN: usize = 20;

/// Appends what a profile says in short, and the structs with most samples: loads, stores, share of all samples.
pub(crate) fn draw(out: &mut String, profile: &AccessProfile, paint: Paint) {
    coverage::draw(out, profile, paint);
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
