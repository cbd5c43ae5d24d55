//! Keys of samples: all that decides their attribution but their time; and hash tables by key.
//!
//! There are as many keys as instructions by addresses, so tables of them are larger than caches. Samples are
//! looked up in batches: first all buckets are read, then used, so that cache misses overlap.

use fieldline_debuginfo::LinkedAddress;
use fieldline_perfdata::address::DataAddress;
use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::EventIndex;
use fieldline_perfdata::sample::Sample;
use fieldline_typeflow::operands::Reason;
use std::hint::black_box;

/// Samples of a batch: several times the cache misses a core keeps in flight.
pub(crate) const BATCH_SIZE: usize = 64;

/// Multiplier of the hash: 2 to the 64th by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Attributes of a sample that take few different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleAttributes {
    /// The address space its instruction is in, or why it is in none of the program's.
    pub(crate) space: Result<u32, Reason>,
    pub(crate) event: EventIndex,
    pub(crate) cpu: Option<u32>,
    /// Its thread, where that matters.
    pub(crate) tid: Option<u32>,
    pub(crate) source: Option<DataSource>,
}

impl SampleAttributes {
    #[inline]
    fn pack(&self) -> [u64; 4] {
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
pub(crate) struct SampleFacts {
    /// Any if it is not in the program.
    ip: LinkedAddress,
    /// The address of the data, if there is one.
    pub(crate) address: Option<DataAddress>,
    pub(crate) attributes: SampleAttributes,
}

impl SampleFacts {
    /// `ip` is the default of samples that are not in the program, so that all have one key.
    #[inline]
    pub(crate) fn new(ip: LinkedAddress, address: Option<DataAddress>, attributes: SampleAttributes) -> Self {
        Self { ip, address, attributes }
    }

    /// The address of its instruction, if it is in the program.
    #[inline]
    pub(crate) fn ip(&self) -> Option<LinkedAddress> {
        self.attributes.space.ok().map(|_| self.ip)
    }
}

/// [`SampleFacts`] in a table's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleKey {
    ip: LinkedAddress,
    address: Option<DataAddress>,
    attributes: u32,
}

impl SampleKey {
    /// A number whose upper bits depend on all of the key.
    #[inline]
    fn hash(&self) -> u64 {
        let hash = (self.ip.0 ^ u64::from(self.attributes) << 40).wrapping_mul(FACTOR).rotate_left(32);
        let hash = (hash ^ DataAddress::to_word(self.address)).wrapping_mul(FACTOR);
        (hash ^ hash >> 29).wrapping_mul(FACTOR)
    }
}

/// Numbers from 0 on by hash. The standard library's tables can't prefetch a bucket, which makes profiles of
/// large recordings a sixth slower.
#[derive(Clone, Debug)]
struct HashIndex {
    /// By the hash's lower bits: its upper half, and a number plus 1. 0 is an empty bucket.
    buckets: Vec<u64>,
    count: u32,
}

impl Default for HashIndex {
    fn default() -> Self {
        Self { buckets: vec![0; 1 << 8], count: 0 }
    }
}

impl HashIndex {
    #[inline]
    fn bucket(&self, hash: u64) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    /// The number in the first bucket of a hash.
    #[inline]
    fn first_candidate(&self, hash: u64) -> Option<u32> {
        (self.buckets.get(self.bucket(hash)).copied().unwrap_or(0) as u32).checked_sub(1)
    }

    /// The number of a hash for which `matches` holds.
    #[inline]
    fn find(&self, hash: u64, matches: impl Fn(u32) -> bool) -> Option<u32> {
        let mut bucket = self.bucket(hash);
        loop {
            let entry = self.buckets.get(bucket).copied().unwrap_or(0);
            let number = (entry as u32).checked_sub(1)?;
            if entry >> 32 == hash >> 32 && matches(number) {
                return Some(number);
            }
            bucket = self.bucket(bucket as u64 + 1);
        }
    }

    /// Adds the next number; `hash_of` gives the hashes of those before.
    #[cold]
    fn add(&mut self, hash: u64, hash_of: impl Fn(u32) -> u64) -> u32 {
        if 4 * self.count as usize >= 3 * self.buckets.len() {
            self.buckets = vec![0; 2 * self.buckets.len()];
            (0..self.count).for_each(|number| self.insert(hash_of(number), number));
        }
        self.insert(hash, self.count);
        self.count += 1;
        self.count - 1
    }

    fn insert(&mut self, hash: u64, number: u32) {
        let mut bucket = self.bucket(hash);
        while self.buckets.get(bucket).is_some_and(|entry| *entry != 0) {
            bucket = self.bucket(bucket as u64 + 1);
        }
        if let Some(entry) = self.buckets.get_mut(bucket) {
            *entry = hash & !u64::from(u32::MAX) | u64::from(number + 1);
        }
    }
}

/// Numbers of sample attributes.
#[derive(Clone, Debug, Default)]
struct AttributeTable {
    index: HashIndex,
    packed: Vec<[u64; 4]>,
    values: Vec<SampleAttributes>,
}

impl AttributeTable {
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

    /// The number of some attributes, which are added if they are new.
    #[inline]
    fn intern(&mut self, attributes: SampleAttributes) -> u32 {
        let packed = attributes.pack();
        self.find(&packed).unwrap_or_else(|| {
            self.values.push(attributes);
            self.packed.push(packed);
            self.index.add(Self::hash(&packed), |at| self.packed.get(at as usize).map_or(0, Self::hash))
        })
    }
}

/// Values by key. Keys have numbers in the order in which they were added.
#[derive(Debug)]
pub(crate) struct SampleTable<V> {
    attributes: AttributeTable,
    index: HashIndex,
    entries: Vec<(SampleKey, V)>,
}

impl<V> Default for SampleTable<V> {
    fn default() -> Self {
        Self { attributes: AttributeTable::default(), index: HashIndex::default(), entries: Vec::new() }
    }
}

impl<V> SampleTable<V> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// The key of a sample, whose attributes are added if they are new.
    #[inline]
    pub(crate) fn intern_key(&mut self, facts: &SampleFacts) -> SampleKey {
        let SampleFacts { ip, address, attributes } = *facts;
        SampleKey { ip, address, attributes: self.attributes.intern(attributes) }
    }

    /// The key of a sample, if there may be one.
    #[inline]
    pub(crate) fn find_key(&self, facts: &SampleFacts) -> Option<SampleKey> {
        let attributes = self.attributes.find(&facts.attributes.pack())?;
        Some(SampleKey { ip: facts.ip, address: facts.address, attributes })
    }

    /// The number of a sample's key, if it is known.
    #[inline]
    pub(crate) fn find_number(&self, facts: &SampleFacts) -> Option<u32> {
        let key = self.find_key(facts)?;
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
    fn find(&self, key: &SampleKey, hash: u64) -> Option<u32> {
        self.index.find(hash, |at| self.entries.get(at as usize).is_some_and(|(known, _)| known == key))
    }

    /// The number of a key, which is added with a value if it is new.
    pub(crate) fn add(&mut self, key: SampleKey, value: impl FnOnce() -> V) -> u32 {
        let hash = key.hash();
        self.find(&key, hash).unwrap_or_else(|| {
            self.entries.push((key, value()));
            self.index.add(hash, |number| self.entries.get(number as usize).map_or(0, |(key, _)| key.hash()))
        })
    }

    /// The same keys with other values, which are given in the order of the keys' numbers.
    pub(crate) fn with_values<U>(&self, values: impl IntoIterator<Item = U>) -> SampleTable<U> {
        let keys = self.entries.iter().map(|(key, _)| *key);
        let (attributes, index) = (self.attributes.clone(), self.index.clone());
        SampleTable { attributes, index, entries: keys.zip(values).collect() }
    }

    /// The facts of a key, by its number.
    pub(crate) fn facts_at(&self, number: u32) -> Option<SampleFacts> {
        self.entries.get(number as usize).and_then(|(key, _)| self.facts_of(key))
    }

    pub(crate) fn facts_of(&self, key: &SampleKey) -> Option<SampleFacts> {
        let attributes = *self.attributes.values.get(key.attributes as usize)?;
        Some(SampleFacts { ip: key.ip, address: key.address, attributes })
    }

    /// All samples with their values, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SampleFacts, &V)> {
        self.entries.iter().filter_map(|(key, value)| Some((self.facts_of(key)?, value)))
    }
}

/// Values of one sample that are not in its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleMeasures {
    pub(crate) time: Option<u64>,
    pub(crate) cpu: Option<u32>,
    pub(crate) period: u64,
    pub(crate) latency: u64,
    /// Its position in the file.
    pub(crate) at: u64,
}

impl SampleMeasures {
    pub(crate) fn from_sample(sample: &Sample<'_>, at: u64) -> Self {
        let latency = sample.latency.unwrap_or(0);
        Self { time: sample.time, cpu: sample.cpu, period: sample.period, latency, at }
    }
}

/// Samples that are looked up together.
#[derive(Debug, Default)]
pub(crate) struct LookupBatch {
    keys: Vec<(SampleKey, u64)>,
    measures: Vec<SampleMeasures>,
    numbers: Vec<Option<u32>>,
}

impl LookupBatch {
    /// Adds a sample; `true` if the batch is full.
    #[inline]
    pub(crate) fn push(&mut self, key: SampleKey, measures: SampleMeasures) -> bool {
        self.keys.push((key, key.hash()));
        self.measures.push(measures);
        self.keys.len() >= BATCH_SIZE
    }

    /// Looks up all samples and empties the batch: their keys, with the numbers of those in the table.
    pub(crate) fn drain<'b, V>(
        &'b mut self,
        table: &SampleTable<V>,
    ) -> impl Iterator<Item = (SampleKey, Option<u32>, SampleMeasures)> + use<'b, V> {
        let Self { keys, measures, numbers } = self;
        // Reads all buckets, then all entries, so that they are in the cache when they are looked up.
        numbers.extend(keys.iter().map(|(_, hash)| table.index.first_candidate(*hash)));
        let entries = numbers.drain(..).filter_map(|number| table.entries.get(number? as usize));
        black_box(entries.fold(0, |sum, (key, _)| sum ^ key.ip.0));
        numbers.extend(keys.iter().map(|(key, hash)| table.find(key, *hash)));
        let numbers = numbers.drain(..).zip(measures.drain(..));
        keys.drain(..).zip(numbers).map(|((key, _), (number, measures))| (key, number, measures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(ip: u64, address: u64, cpu: u32) -> SampleFacts {
        let attributes = SampleAttributes {
            space: Ok(0),
            event: EventIndex::default(),
            cpu: Some(cpu),
            tid: None,
            source: None,
        };
        SampleFacts::new(LinkedAddress(ip), DataAddress::new(address), attributes)
    }

    #[test]
    fn a_table_knows_what_was_added_and_nothing_else() {
        let mut table: SampleTable<u64> = SampleTable::default();
        // 7 * 11 * 13 are different, and each comes four or five times.
        let all = || (0..5000_u64).map(|number| facts(number % 7, number % 11, (number % 13) as u32));
        let mut batch = LookupBatch::default();
        for (facts, at) in all().zip(0..) {
            let key = table.intern_key(&facts);
            if batch.push(key, SampleMeasures::from_sample(&Sample::default(), at)) || at == 4999 {
                for (key, number, measures) in batch.drain(&table) {
                    let number = number.unwrap_or_else(|| table.add(key, || 0));
                    assert_eq!(u64::from(number), measures.at % 1001);
                    *table.value_mut(number).unwrap() += 1;
                }
            }
        }
        assert_eq!(table.iter().count(), 1001);
        assert!(table.iter().zip(0..).all(|((_, count), number)| *count == 4 + u64::from(number < 996)));
        assert!(table.iter().zip(all()).all(|((facts, _), first)| facts == first));
        let others = table.with_values(0..1001);
        for (number, facts) in (0..1001).zip(all()) {
            assert_eq!(others.find_number(&facts), Some(number));
            assert_eq!(others.value(number), Some(&number));
        }
        assert_eq!(table.find_key(&facts(0, 0, 99)), None);
        assert!(table.find_key(&facts(7, 0, 0)).is_some());
        assert_eq!(table.find_number(&facts(7, 0, 0)), None);
    }

    #[test]
    fn attributes_differ_by_every_field() {
        let attributes = facts(0, 0, 0).attributes;
        let others = [
            attributes,
            SampleAttributes { space: Err(Reason::NoInstructionAddress), ..attributes },
            SampleAttributes { space: Ok(1), ..attributes },
            SampleAttributes { event: EventIndex(1), ..attributes },
            SampleAttributes { cpu: None, ..attributes },
            SampleAttributes { tid: Some(0), ..attributes },
            SampleAttributes { source: Some(DataSource(0)), ..attributes },
        ];
        let mut table = AttributeTable::default();
        for _ in 0..2 {
            for (number, other) in (0..).zip(others) {
                assert_eq!(table.intern(other), number, "{other:?}");
            }
        }
        for cpu in 1..1000 {
            assert_eq!(table.intern(SampleAttributes { cpu: Some(cpu), ..attributes }), 6 + cpu);
        }
        assert!((1..1000).all(
            |cpu| table.find(&SampleAttributes { cpu: Some(cpu), ..attributes }.pack()) == Some(6 + cpu)
        ));
    }
}
