//! What of a sample tells what it touched and how it counts, all but its time; and tables of that.
//!
//! There are as many keys as instructions by addresses, so tables of them are larger than caches. Samples are looked up
//! some at a time: first all places are asked for, then they are used, so that the memory's answers overlap.

use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::EventIndex;
use fieldline_typeflow::operands::reason::Reason;
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
    /// All of it as numbers.
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
    pub(crate) fn hash(&self) -> u64 {
        let hash = (self.ip ^ u64::from(self.aside) << 40).wrapping_mul(FACTOR).rotate_left(32);
        let hash = (hash ^ self.address).wrapping_mul(FACTOR);
        (hash ^ hash >> 29).wrapping_mul(FACTOR)
    }
}

/// Numbers of asides.
#[derive(Clone, Debug)]
struct Asides {
    /// By hash: a number and 1. 0: nothing is here, nor behind.
    places: Vec<u32>,
    packed: Vec<[u64; 4]>,
    all: Vec<Aside>,
}

impl Default for Asides {
    fn default() -> Self {
        Self { places: vec![0; 1 << 8], packed: Vec::new(), all: Vec::new() }
    }
}

impl Asides {
    fn first(&self, [space, cpu, source, has]: &[u64; 4]) -> usize {
        let hash = (space ^ has << 16).wrapping_mul(FACTOR).rotate_left(32);
        let hash = (hash ^ cpu).wrapping_mul(FACTOR).rotate_left(32);
        let hash = (hash ^ source).wrapping_mul(FACTOR);
        (hash >> 32) as usize & (self.places.len() - 1)
    }

    /// The number of one, or the place where it would be.
    #[inline]
    fn look_up(&self, packed: &[u64; 4]) -> Result<u32, usize> {
        let mut at = self.first(packed);
        loop {
            let number = self.places.get(at).copied().unwrap_or(0).wrapping_sub(1);
            if number == u32::MAX {
                return Err(at);
            }
            if self.packed.get(number as usize) == Some(packed) {
                return Ok(number);
            }
            at = (at + 1) & (self.places.len() - 1);
        }
    }

    #[inline]
    fn number(&self, aside: &Aside) -> Option<u32> {
        self.look_up(&aside.packed()).ok()
    }

    /// The number of one, which becomes known if it is not.
    #[inline]
    fn number_of(&mut self, aside: Aside) -> u32 {
        let packed = aside.packed();
        self.look_up(&packed).unwrap_or_else(|_| self.add(aside, packed))
    }

    #[cold]
    fn add(&mut self, aside: Aside, packed: [u64; 4]) -> u32 {
        self.all.push(aside);
        self.packed.push(packed);
        if 2 * self.all.len() > self.places.len() {
            self.places = vec![0; 2 * self.places.len()];
            (0..self.packed.len()).for_each(|number| self.place(number));
        } else {
            self.place(self.all.len() - 1);
        }
        self.all.len() as u32 - 1
    }

    fn place(&mut self, number: usize) {
        let free = self.packed.get(number).and_then(|packed| self.look_up(packed).err());
        if let Some(place) = free.and_then(|at| self.places.get_mut(at)) {
            *place = number as u32 + 1;
        }
    }
}

/// Values by key. Keys have numbers in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Table<V> {
    asides: Asides,
    /// By hash: its upper half, and the number of an entry and 1. 0: nothing is here, nor behind.
    places: Vec<u64>,
    entries: Vec<(Key, V)>,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { asides: Asides::default(), places: vec![0; 1 << 10], entries: Vec::new() }
    }
}

impl<V> Table<V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Keeps no room for more keys.
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

    /// Asks for the places of keys, so that they are near when they are looked up.
    pub(crate) fn ask(&self, keys: &[(Key, u64)]) {
        let mut numbers = [0_u32; AT_ONCE];
        for (number, (_, hash)) in numbers.iter_mut().zip(keys) {
            *number = self.places.get(self.first(*hash)).copied().unwrap_or(0) as u32;
        }
        let mut sum = 0;
        for number in numbers.iter().take(keys.len()) {
            let entry = (*number as usize).checked_sub(1).and_then(|number| self.entries.get(number));
            sum ^= entry.map_or(0, |(key, _)| key.ip);
        }
        black_box(sum);
    }

    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.places.len() - 1)
    }

    /// The number of a key, or the place where it would be.
    #[inline]
    fn look_up(&self, key: &Key, hash: u64) -> Result<u32, usize> {
        let mut at = self.first(hash);
        loop {
            let place = self.places.get(at).copied().unwrap_or(0);
            if place == 0 {
                return Err(at);
            }
            let number = (place as u32).wrapping_sub(1);
            let is_it = |(known, _): &(Key, V)| known == key;
            if place >> 32 == hash >> 32 && self.entries.get(number as usize).is_some_and(is_it) {
                return Ok(number);
            }
            at = self.first(at as u64 + 1);
        }
    }

    /// The number of a key, if it is known.
    #[inline]
    pub(crate) fn number(&self, key: &Key, hash: u64) -> Option<u32> {
        self.look_up(key, hash).ok()
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

    /// Adds a key that is not known; gives its number.
    pub(crate) fn add(&mut self, key: Key, hash: u64, value: V) -> u32 {
        if 4 * self.entries.len() >= 3 * self.places.len() {
            self.grow();
        }
        let at = match self.look_up(&key, hash) {
            Ok(known) => return known,
            Err(at) => at,
        };
        let number = self.entries.len() as u32;
        self.entries.push((key, value));
        if let Some(place) = self.places.get_mut(at) {
            *place = place_of(hash, number);
        }
        number
    }

    #[cold]
    fn grow(&mut self) {
        let mut places = vec![0; 2 * self.places.len()];
        let mask = places.len() - 1;
        for (number, (key, _)) in (0_u32..).zip(&self.entries) {
            let hash = key.hash();
            let mut at = hash as usize & mask;
            while places.get(at).is_some_and(|place| *place != 0) {
                at = (at + 1) & mask;
            }
            if let Some(place) = places.get_mut(at) {
                *place = place_of(hash, number);
            }
        }
        self.places = places;
    }

    /// The same keys with other values, which are given in the order of the keys' numbers.
    pub(crate) fn with_values<U>(&self, values: impl IntoIterator<Item = U>) -> Table<U> {
        let keys = self.entries.iter().map(|(key, _)| *key);
        Table {
            asides: self.asides.clone(),
            places: self.places.clone(),
            entries: keys.zip(values).collect(),
        }
    }

    /// What the key of a number is of.
    pub(crate) fn facts(&self, number: u32) -> Option<Facts> {
        self.entries.get(number as usize).and_then(|(key, _)| self.facts_of(key))
    }

    /// What a key is of.
    pub(crate) fn facts_of(&self, key: &Key) -> Option<Facts> {
        let aside = *self.asides.all.get(key.aside as usize)?;
        Some(Facts { ip: key.ip, address: key.address, aside })
    }

    /// All samples with their values, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Facts, &V)> {
        self.entries.iter().filter_map(|(key, value)| Some((self.facts_of(key)?, value)))
    }
}

fn place_of(hash: u64, number: u32) -> u64 {
    hash & !u64::from(u32::MAX) | u64::from(number.wrapping_add(1))
}

/// Samples that are looked up together, each with what else is needed of it.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    pub(crate) keys: Vec<(Key, u64)>,
    pub(crate) rest: Vec<T>,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { keys: Vec::new(), rest: Vec::new() }
    }
}

impl<T> Batch<T> {
    /// Takes a sample; `true` if that is enough.
    #[inline]
    pub(crate) fn push(&mut self, key: Key, rest: T) -> bool {
        self.keys.push((key, key.hash()));
        self.rest.push(rest);
        self.keys.len() >= AT_ONCE
    }

    /// Forgets all samples.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.rest.clear();
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
        for of in all() {
            let key = table.key(&of);
            let hash = key.hash();
            table.ask(&[(key, hash)]);
            match table.number(&key, hash) {
                Some(number) => *table.value_mut(number).unwrap() += 1,
                None => assert_eq!(table.add(key, hash, 1) as usize, table.len() - 1),
            }
        }
        assert_eq!(table.iter().count(), 1001);
        assert!(table.iter().zip(0..).all(|((_, count), number)| *count == 4 + u64::from(number < 996)));
        assert!(table.iter().zip(all()).all(|((facts, _), first)| facts == first));
        let others = table.with_values(0..1001);
        for (number, of) in (0..1001).zip(all()) {
            let key = others.known_key(&of).unwrap();
            assert_eq!(others.number(&key, key.hash()), Some(number));
            assert_eq!(others.value(number), Some(&number));
        }
        assert_eq!(table.known_key(&facts(0, 0, 99)), None);
        let key = table.known_key(&facts(7, 0, 0)).unwrap();
        assert_eq!(table.number(&key, key.hash()), None);
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
