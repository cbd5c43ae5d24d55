//! Access profiles as text.

pub(crate) mod coverage;
pub(crate) mod heat;
pub(crate) mod heat_text;
pub(crate) mod sharing_text;

use super::color::Palette;
use fieldline_access::access::{AccessProfile, TypeProfile};
use heat_text::format_percent;
use std::fmt::Write;

/// Most structs shown.
const MAX_TYPES: usize = 20;

/// Appends coverage, and the structs with most samples: loads, stores, share of all samples.
pub(crate) fn draw(out: &mut String, profile: &AccessProfile, paint: Palette) {
    coverage::draw(out, profile, paint);
    let mut types: Vec<&TypeProfile> = profile.types.iter().collect();
    types
        .sort_by(|left, right| right.samples().cmp(&left.samples()).then_with(|| left.name.cmp(&right.name)));
    let total: u64 = profile.coverage.iter().map(|event| event.total.samples).sum();
    let _ = writeln!(out, "{}", paint.dim("   share   loads  stores  size  struct"));
    for type_profile in types.iter().take(MAX_TYPES) {
        let loads: u64 = type_profile.accesses.iter().map(|access| access.loads.samples).sum();
        let stores: u64 = type_profile.accesses.iter().map(|access| access.stores.samples).sum();
        let share = format_percent(loads + stores, total);
        let _ = writeln!(
            out,
            "  {share:>6} {loads:>7} {stores:>7} {:>5}  {}",
            type_profile.size, type_profile.name
        );
    }
    if types.len() > MAX_TYPES {
        let _ = writeln!(out, "  and {} more", types.len() - MAX_TYPES);
    }
}
