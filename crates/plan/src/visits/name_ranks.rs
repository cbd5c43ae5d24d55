//! Numbers for functions and types that don't depend on the order a profile lists them in.

use fieldline_access::AccessProfile;

/// A data type (or -1) in a function, by rank of their names; in a profile's windows, by index.
pub type WindowEntry = (i32, u32);

/// Ranks of a profile's types and functions by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameRanks {
    types: Vec<u32>,
    functions: Vec<u32>,
    by_rank: Vec<u32>,
}

impl NameRanks {
    /// The ranks of a profile's names.
    pub fn new(profile: &AccessProfile) -> Self {
        let types: Vec<_> = profile.types.iter().map(|held| (held.name.as_str(), held.size)).collect();
        let functions: Vec<(&str, u64)> = profile.functions.iter().map(|name| (name.as_str(), 0)).collect();
        let by_rank = sort_by_name(&functions);
        Self { types: ranks(&sort_by_name(&types)), functions: ranks(&by_rank), by_rank }
    }

    /// A profile's entry by ranks.
    pub fn rank_entry(&self, (type_index, function): WindowEntry) -> WindowEntry {
        let rank = usize::try_from(type_index).ok().and_then(|index| self.types.get(index));
        let rank = rank.and_then(|rank| i32::try_from(*rank).ok());
        let function = self.functions.get(function as usize).copied().unwrap_or(u32::MAX);
        (rank.unwrap_or(-1), function)
    }

    /// The profile's index of a function by its rank.
    pub fn function_index(&self, rank: u32) -> Option<usize> {
        self.by_rank.get(rank as usize).map(|index| *index as usize)
    }
}

/// Indices in order of names.
fn sort_by_name(names: &[(&str, u64)]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by_key(|index| names[*index as usize]);
    order
}

/// By index, its position in the order.
pub(crate) fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, index) in (0..).zip(order) {
        ranks[*index as usize] = rank;
    }
    ranks
}

#[cfg(test)]
impl NameRanks {
    /// Ranks equal to indices, for tests.
    pub(crate) fn in_given_order(types: u32, functions: u32) -> Self {
        let by_rank: Vec<_> = (0..functions).collect();
        Self { types: (0..types).collect(), functions: by_rank.clone(), by_rank }
    }
}
