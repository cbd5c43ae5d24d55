//! Something of each CPU.

use rustc_hash::FxHashMap;

/// CPUs that are found without a search.
const FEW: u32 = 1 << 10;

/// Values by CPU. What a recording names a CPU may be any number.
#[derive(Clone, Debug)]
pub(crate) struct ByCpu<T> {
    few: Vec<Option<T>>,
    others: FxHashMap<u32, T>,
}

impl<T> Default for ByCpu<T> {
    fn default() -> Self {
        Self { few: Vec::new(), others: FxHashMap::default() }
    }
}

impl<T: Default> ByCpu<T> {
    #[inline]
    pub(crate) fn of(&mut self, cpu: u32) -> &mut T {
        if cpu >= FEW {
            return self.others.entry(cpu).or_default();
        }
        let place = cpu as usize;
        if self.few.len() <= place {
            self.few.resize_with(place + 1, || None);
        }
        match self.few.get_mut(place) {
            Some(value) => value.get_or_insert_default(),
            None => self.others.entry(cpu).or_default(),
        }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let few = (0..).zip(&mut self.few).filter_map(|(cpu, value)| Some((cpu, value.as_mut()?)));
        few.chain(self.others.iter_mut().map(|(cpu, value)| (*cpu, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_may_be_a_cpu() {
        let mut counts: ByCpu<u32> = ByCpu::default();
        for cpu in [0, 7, u32::MAX, 7, FEW, FEW - 1] {
            *counts.of(cpu) += 1;
        }
        let mut found: Vec<(u32, u32)> = counts.iter_mut().map(|(cpu, count)| (cpu, *count)).collect();
        found.sort_unstable();
        assert_eq!(found, [(0, 1), (7, 2), (FEW - 1, 1), (FEW, 1), (u32::MAX, 1)]);
    }
}
