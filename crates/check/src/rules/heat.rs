//! Hot members: those that have at least [`HOT_SHARE`] of the struct's samples.

use crate::field::{Field, fields};
use crate::matching::match_fields;
use fieldline_access::access::{Access, TypeProfile};
use fieldline_layout::Layout;

/// Least share of the struct's samples that a hot member has.
pub const HOT_SHARE: f64 = 0.05;
/// Least share of stores that a written member has; below it a member is read-mostly.
const WRITTEN_SHARE: f64 = 0.1;

/// Samples of each member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotMembers {
    /// Loads and stores, by index of the fields.
    members: Vec<(u64, u64)>,
    total: u64,
}

impl HotMembers {
    /// Sums a profile's samples by member of `now`. `recorded` is the layout the profile was made with; its
    /// members are matched with those of `now`. Samples of members that are gone are dropped.
    pub fn new(profile: &TypeProfile, recorded: &Layout, now: &[Field<'_>]) -> Self {
        let old = fields(recorded);
        let sum =
            |(loads, stores), access: &Access| (loads + access.loads.samples, stores + access.stores.samples);
        let samples = |field: &Field<'_>| {
            let is_touching = |access: &&Access| field.is_data() && access.touches(field.member);
            profile.accesses.iter().filter(is_touching).fold((0, 0), sum)
        };
        let of_new = match_fields(&old, now).into_iter();
        let members = of_new.map(|index| index.map_or((0, 0), |index| samples(&old[index]))).collect();
        Self { members, total: profile.samples() }
    }

    fn samples(&self, field: usize) -> u64 {
        self.members.get(field).map_or(0, |(loads, stores)| loads + stores)
    }

    /// Whether a member is hot.
    pub fn is_hot(&self, field: usize) -> bool {
        let samples = self.samples(field);
        samples > 0 && samples as f64 >= HOT_SHARE * self.total as f64
    }

    pub(super) fn is_written(&self, field: usize) -> bool {
        let stores = self.members.get(field).map_or(0, |(_, stores)| *stores);
        stores > 0 && stores as f64 >= WRITTEN_SHARE * self.samples(field) as f64
    }
}
