//! What of a sample tells what it touched and how it counts, all but its time; and tables of that.
//!
//! There are as many keys as instructions by addresses, so tables of them are larger than caches. Samples are looked up
//! some at a time: first all places are asked for, then they are used, so that the memory's answers overlap.

use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::EventIndex;
use fieldline_perfdata::sample::Sample;
use fieldline_typeflow::operands::Reason;
use std::hint::black_box;

/// How many samples are looked up together: as many answers of the memory as can be under way, several times over.
pub(crate) const AT_ONCE: usize = 64;

/// Spreads bits: 2 to the 64th by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    ip: u64,
    address: u64,
    aside: u32,
}

impl Key {
    /// A number whose upper bits depend on all of the key.
    #[inline]
    fn hash(&self) -> u64 {
        let hash = (self.ip ^ u64::from(self.aside) << 40).wrapping_mul(FACTOR).rotate_left(32);
        let hash = (hash ^ self.address).wrapping_mul(FACTOR);
        (hash ^ hash >> 29).wrapping_mul(FACTOR)
    }
}

/// Numbers from 0 on by hash. The standard library's tables can't be asked for a place ahead of its use, which makes
/// profiles of large recordings a sixth slower.
#[derive(Clone, Debug)]
struct Index {
    /// By the hash's lower bits: its upper half, and a number and 1. 0: nothing is here, nor behind.
    places: Vec<u64>,
    count: u32,
}

impl Default for Index {
    fn default() -> Self {
        Self { places: vec![0; 1 << 8], count: 0 }
    }
}

impl Index {
    #[inline]
    fn at(&self, place: u64) -> usize {
        place as usize & (self.places.len() - 1)
    }

    /// The number that stands first where a hash is looked for.
    #[inline]
    fn first(&self, hash: u64) -> Option<u32> {
        (self.places.get(self.at(hash)).copied().unwrap_or(0) as u32).checked_sub(1)
    }

    /// The number of a hash for which `is_it` holds.
    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.at(hash);
        loop {
            let place = self.places.get(at).copied().unwrap_or(0);
            let number = (place as u32).checked_sub(1)?;
            if place >> 32 == hash >> 32 && is_it(number) {
                return Some(number);
            }
            at = self.at(at as u64 + 1);
        }
    }

    /// Adds the next number; `hash_of` gives the hashes of those before.
    #[cold]
    fn add(&mut self, hash: u64, hash_of: impl Fn(u32) -> u64) -> u32 {
        if 4 * self.count as usize >= 3 * self.places.len() {
            self.places = vec![0; 2 * self.places.len()];
            (0..self.count).for_each(|number| self.place(hash_of(number), number));
        }
        self.place(hash, self.count);
        self.count += 1;
        self.count - 1
    }

    fn place(&mut self, hash: u64, number: u32) {
        let mut at = self.at(hash);
        while self.places.get(at).is_some_and(|place| *place != 0) {
            at = self.at(at as u64 + 1);
        }
        if let Some(place) = self.places.get_mut(at) {
            *place = hash & !u64::from(u32::MAX) | u64::from(number + 1);
        }
    }
}

/// Numbers of asides.
#[derive(Clone, Debug, Default)]
struct Asides {
    index: Index,
    packed: Vec<[u64; 4]>,
    all: Vec<Aside>,
}

impl Asides {
    #[inline]
    fn hash([space, cpu, source, has]: &[u64; 4]) -> u64 {
        let hash = (space ^ has << 16).wrapping_mul(FACTOR).rotate_left(32);
        let hash = (hash ^ cpu).wrapping_mul(FACTOR).rotate_left(32);
        (hash ^ source).wrapping_mul(FACTOR).rotate_left(32)
    }

    #[inline]
    fn find(&self, packed: &[u64; 4]) -> Option<u32> {
        self.index.find(Self::hash(packed), |number| self.packed.get(number as usize) == Some(packed))
    }

    /// The number of one, which becomes known if it is not.
    #[inline]
    fn number_of(&mut self, aside: Aside) -> u32 {
        let packed = aside.packed();
        self.find(&packed).unwrap_or_else(|| {
            self.all.push(aside);
            self.packed.push(packed);
            self.index
                .add(Self::hash(&packed), |number| self.packed.get(number as usize).map_or(0, Self::hash))
        })
    }
}

/// Values by key. Keys have numbers in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Table<V> {
    asides: Asides,
    index: Index,
    entries: Vec<(Key, V)>,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { asides: Asides::default(), index: Index::default(), entries: Vec::new() }
    }
}

impl<V> Table<V> {
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
        let aside = self.asides.find(&facts.aside.packed())?;
        Some(Key { ip: facts.ip, address: facts.address, aside })
    }

    /// The number of a sample's key, if it is known.
    #[inline]
    pub(crate) fn number(&self, facts: &Facts) -> Option<u32> {
        let key = self.known_key(facts)?;
        self.find(&key, key.hash())
    }

    /// The value of a key, by its number.
    #[inline]
    pub(crate) fn value(&self, number: u32) -> Option<&V> {
        self.entries.get(number as usize).map(|(_, value)| value)
    }

    #[inline]
    pub(crate) fn value_mut(&mut self, number: u32) -> Option<&mut V> {
        self.entries.get_mut(number as usize).map(|(_, value)| value)
    }

    #[inline]
    fn find(&self, key: &Key, hash: u64) -> Option<u32> {
        self.index
            .find(hash, |number| self.entries.get(number as usize).is_some_and(|(known, _)| known == key))
    }

    /// The number of a key, which becomes known with a value if it is not.
    pub(crate) fn add(&mut self, key: Key, value: impl FnOnce() -> V) -> u32 {
        let hash = key.hash();
        self.find(&key, hash).unwrap_or_else(|| {
            self.entries.push((key, value()));
            self.index.add(hash, |number| self.entries.get(number as usize).map_or(0, |(key, _)| key.hash()))
        })
    }

    /// The same keys with other values, which are given in the order of the keys' numbers.
    pub(crate) fn with_values<U>(&self, values: impl IntoIterator<Item = U>) -> Table<U> {
        let keys = self.entries.iter().map(|(key, _)| *key);
        Table { asides: self.asides.clone(), index: self.index.clone(), entries: keys.zip(values).collect() }
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
        let latency = sample.latency.unwrap_or(0);
        Self { time: sample.time, cpu: sample.cpu, period: sample.period, latency, at }
    }
}

/// Samples that are looked up together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    keys: Vec<(Key, u64)>,
    rest: Vec<One>,
    numbers: Vec<Option<u32>>,
}

impl Batch {
    /// Takes a sample; `true` if that is enough.
    #[inline]
    pub(crate) fn push(&mut self, key: Key, rest: One) -> bool {
        self.keys.push((key, key.hash()));
        self.rest.push(rest);
        self.keys.len() >= AT_ONCE
    }

    /// Looks up all samples and forgets them: their keys, with the numbers of those that the table knows.
    pub(crate) fn take<'b, V>(
        &'b mut self,
        table: &Table<V>,
    ) -> impl Iterator<Item = (Key, Option<u32>, One)> + use<'b, V> {
        let Self { keys, rest, numbers } = self;
        // Asks for all places, then all entries, so that they are near when they are looked up.
        numbers.extend(keys.iter().map(|(_, hash)| table.index.first(*hash)));
        let entries = numbers.drain(..).filter_map(|number| table.entries.get(number? as usize));
        black_box(entries.fold(0, |sum, (key, _)| sum ^ key.ip));
        numbers.extend(keys.iter().map(|(key, hash)| table.find(key, *hash)));
        let numbers = numbers.drain(..).zip(rest.drain(..));
        keys.drain(..).zip(numbers).map(|((key, _), (number, one))| (key, number, one))
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
        assert!((1..1000).all(|cpu| asides.find(&Aside { cpu: Some(cpu), ..one }.packed()) == Some(6 + cpu)));
    }
}
