//! What of a sample tells what it touched and how it counts, all but its time; and tables of that.
//!
//! There are as many keys as instructions by addresses, so tables of them are larger than caches. Samples are looked up
//! some at a time: first all places are asked for, then they are used, so that the memory's answers overlap.

use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::EventIndex;
use fieldline_perfdata::sample::Sample;
use fieldline_typeflow::operands::Reason;
use rustc_hash::FxHashMap;
use std::hint::black_box;

/// How many samples are looked up together: as many answers of the memory as can be under way, several times over.
pub(crate) const AT_ONCE: usize = 64;

/// What there is of a sample but its time and period, few of which are different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aside {
    /// The address space its instruction is in, or why it is in none of the program's.
    pub(crate) space: Result<u32, Reason>,
    pub(crate) event: EventIndex,
    pub(crate) cpu: Option<u32>,
    /// Its thread, where that matters.
    pub(crate) tid: Option<u32>,
    pub(crate) source: Option<DataSource>,
}

impl Aside {
    #[inline]
    fn packed(&self) -> [u64; 4] {
        let (is_linked, space) = match self.space {
            Ok(space) => (true, space),
            Err(reason) => (false, reason as u32),
        };
        let has = [is_linked, self.cpu.is_some(), self.tid.is_some(), self.source.is_some()];
        let has = has.iter().fold(0, |bits, has| 2 * bits + u64::from(*has));
        [
            u64::from(space) << 32 | u64::from(self.event.0),
            u64::from(self.tid.unwrap_or(0)) << 32 | u64::from(self.cpu.unwrap_or(0)),
            self.source.unwrap_or_default().0,
            has,
        ]
    }
}

/// A sample but for its time and period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The address of its instruction as linked; 0 if it is not in the program.
    pub(crate) ip: u64,
    /// The address of the data as recorded; 0 if there is none.
    pub(crate) address: u64,
    pub(crate) aside: Aside,
}

/// [`Facts`] in a table's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    ip: u64,
    address: u64,
    aside: u32,
}

#[derive(Clone, Debug, Default)]
struct Asides {
    numbers: FxHashMap<[u64; 4], u32>,
    all: Vec<Aside>,
}

impl Asides {
    #[inline]
    fn number(&self, aside: &Aside) -> Option<u32> {
        self.numbers.get(&aside.packed()).copied()
    }

    /// The number of one, which becomes known if it is not.
    #[inline]
    fn number_of(&mut self, aside: Aside) -> u32 {
        *self.numbers.entry(aside.packed()).or_insert_with(|| {
            self.all.push(aside);
            self.all.len() as u32 - 1
        })
    }
}

/// Values by key. Keys have numbers in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Table<V> {
    asides: Asides,
    numbers: FxHashMap<Key, u32>,
    entries: Vec<(Key, V)>,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { asides: Asides::default(), numbers: FxHashMap::default(), entries: Vec::new() }
    }
}

impl<V> Table<V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// The key of a sample, whose aside becomes known.
    #[inline]
    pub(crate) fn key(&mut self, facts: &Facts) -> Key {
        Key { ip: facts.ip, address: facts.address, aside: self.asides.number_of(facts.aside) }
    }

    /// The key of a sample, if there may be one.
    #[inline]
    pub(crate) fn known_key(&self, facts: &Facts) -> Option<Key> {
        let aside = self.asides.number(&facts.aside)?;
        Some(Key { ip: facts.ip, address: facts.address, aside })
    }

    /// The number of a sample's key, if it is known.
    #[inline]
    pub(crate) fn number(&self, facts: &Facts) -> Option<u32> {
        self.numbers.get(&self.known_key(facts)?).copied()
    }

    /// The value of a key, by its number.
    #[inline]
    pub(crate) fn value(&self, number: u32) -> Option<&V> {
        self.entries.get(number as usize).map(|(_, value)| value)
    }

    /// The value of a key, by its number.
    #[inline]
    pub(crate) fn value_mut(&mut self, number: u32) -> Option<&mut V> {
        self.entries.get_mut(number as usize).map(|(_, value)| value)
    }

    /// The number of a key, which becomes known with a value if it is not.
    pub(crate) fn add(&mut self, key: Key, value: impl FnOnce() -> V) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.entries.push((key, value()));
            self.entries.len() as u32 - 1
        })
    }

    /// The same keys with other values, which are given in the order of the keys' numbers.
    pub(crate) fn with_values<U>(&self, values: impl IntoIterator<Item = U>) -> Table<U> {
        let keys = self.entries.iter().map(|(key, _)| *key);
        Table {
            asides: self.asides.clone(),
            numbers: self.numbers.clone(),
            entries: keys.zip(values).collect(),
        }
    }

    /// What the key of a number is of.
    pub(crate) fn facts(&self, number: u32) -> Option<Facts> {
        self.entries.get(number as usize).and_then(|(key, _)| self.facts_of(key))
    }

    pub(crate) fn facts_of(&self, key: &Key) -> Option<Facts> {
        let aside = *self.asides.all.get(key.aside as usize)?;
        Some(Facts { ip: key.ip, address: key.address, aside })
    }

    /// All samples with their values, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Facts, &V)> {
        self.entries.iter().filter_map(|(key, value)| Some((self.facts_of(key)?, value)))
    }
}

/// What is needed of one sample besides its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct One {
    pub(crate) time: Option<u64>,
    pub(crate) cpu: Option<u32>,
    pub(crate) period: u64,
    pub(crate) latency: u64,
    /// Where in the file it is.
    pub(crate) at: u64,
}

impl One {
    pub(crate) fn of(sample: &Sample<'_>, at: u64) -> Self {
        let latency = sample.latency().unwrap_or(0);
        Self { time: sample.time, cpu: sample.cpu, period: sample.period, latency, at }
    }
}

/// Samples that are looked up together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    keys: Vec<Key>,
    rest: Vec<One>,
    numbers: Vec<Option<u32>>,
}

impl Batch {
    /// Takes a sample; `true` if that is enough.
    #[inline]
    pub(crate) fn push(&mut self, key: Key, rest: One) -> bool {
        self.keys.push(key);
        self.rest.push(rest);
        self.keys.len() >= AT_ONCE
    }

    /// Looks up all samples and forgets them: their keys, with the numbers of those that the table knows.
    pub(crate) fn take<'b, V>(
        &'b mut self,
        table: &Table<V>,
    ) -> impl Iterator<Item = (Key, Option<u32>, One)> + use<'b, V> {
        let Self { keys, rest, numbers } = self;
        numbers.extend(keys.iter().map(|key| table.numbers.get(key).copied()));
        // Asks for the entries, so that they are near when they are used.
        let entries = numbers.iter().filter_map(|number| table.entries.get((*number)? as usize));
        black_box(entries.fold(0, |sum, (key, _)| sum ^ key.ip));
        keys.drain(..)
            .zip(numbers.drain(..))
            .zip(rest.drain(..))
            .map(|((key, number), rest)| (key, number, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(ip: u64, address: u64, cpu: u32) -> Facts {
        let aside =
            Aside { space: Ok(0), event: EventIndex::default(), cpu: Some(cpu), tid: None, source: None };
        Facts { ip, address, aside }
    }

    #[test]
    fn a_table_knows_what_was_added_and_nothing_else() {
        let mut table: Table<u64> = Table::default();
        // 7 * 11 * 13 are different, and each comes four or five times.
        let all = || (0..5000_u64).map(|number| facts(number % 7, number % 11, (number % 13) as u32));
        let mut batch = Batch::default();
        for (of, at) in all().zip(0..) {
            let key = table.key(&of);
            if batch.push(key, One::of(&Sample::default(), at)) || at == 4999 {
                for (key, number, one) in batch.take(&table) {
                    let number = number.unwrap_or_else(|| table.add(key, || 0));
                    assert_eq!(u64::from(number), one.at % 1001);
                    *table.value_mut(number).unwrap() += 1;
                }
            }
        }
        assert_eq!(table.iter().count(), 1001);
        assert!(table.iter().zip(0..).all(|((_, count), number)| *count == 4 + u64::from(number < 996)));
        assert!(table.iter().zip(all()).all(|((facts, _), first)| facts == first));
        let others = table.with_values(0..1001);
        for (number, of) in (0..1001).zip(all()) {
            assert_eq!(others.number(&of), Some(number));
            assert_eq!(others.value(number), Some(&number));
        }
        assert_eq!(table.known_key(&facts(0, 0, 99)), None);
        assert!(table.known_key(&facts(7, 0, 0)).is_some());
        assert_eq!(table.number(&facts(7, 0, 0)), None);
    }

    #[test]
    fn asides_differ_by_all_they_have() {
        let one = facts(0, 0, 0).aside;
        let others = [
            one,
            Aside { space: Err(Reason::NoInstructionAddress), ..one },
            Aside { space: Ok(1), ..one },
            Aside { event: EventIndex(1), ..one },
            Aside { cpu: None, ..one },
            Aside { tid: Some(0), ..one },
            Aside { source: Some(DataSource(0)), ..one },
        ];
        let mut asides = Asides::default();
        for _ in 0..2 {
            for (number, aside) in (0..).zip(others) {
                assert_eq!(asides.number_of(aside), number, "{aside:?}");
            }
        }
        for cpu in 1..1000 {
            assert_eq!(asides.number_of(Aside { cpu: Some(cpu), ..one }), 6 + cpu);
        }
        assert!((1..1000).all(|cpu| asides.number(&Aside { cpu: Some(cpu), ..one }) == Some(6 + cpu)));
    }
}
