//! Samples of a recording that count alike, taken together; and what is needed of each by itself: when it was.

use super::attribution::{Attributed, Part};
use super::context::Context;
use super::joint::attribute;
use super::questions::Question;
use crate::aggregate::{Blocks, Counts};
use crate::attribute::slides::in_space;
use crate::attribute::target::Target;
use crate::data_source::DataSource;
use crate::perf_data::{EventIndex, Facts, Record};
use crate::sample::{Sample, SampleFields};
use crate::sweep::Sweep;
use rustc_hash::FxHashMap;

/// All that decides how a sample counts, but for its time and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Alike {
    /// Index of the program.
    pub(super) part: usize,
    pub(super) event: EventIndex,
    pub(super) cpu: Option<u32>,
    source: Option<u64>,
    pub(super) attributed: Attributed,
}

impl Alike {
    fn of(sample: &Sample<'_>, part: usize, attributed: Attributed) -> Self {
        let source = sample.data_source.map(|source| source.0);
        Self { part, event: sample.event, cpu: sample.cpu, source, attributed }
    }

    pub(super) fn data_source(&self) -> Option<DataSource> {
        self.source.map(DataSource)
    }
}

/// A sample that may belong to a window.
pub(super) struct When {
    pub(super) cpu: u32,
    pub(super) time: u64,
    /// Number of what it is like, in its slot.
    pub(super) alike: u32,
    pub(super) at: u64,
    /// Functions of its program that it shows besides its own.
    pub(super) context: Option<Box<[u32]>>,
}

/// What a block of records came to.
#[derive(Default)]
pub(super) struct Folded {
    /// Number of the slot.
    pub(super) slot: usize,
    /// What the slot has not met before.
    pub(super) new: Vec<Alike>,
    pub(super) moments: Vec<When>,
    /// How many of the moments came before the end of each round.
    pub(super) rounds: Vec<usize>,
    pub(super) callchains: u64,
    pub(super) branch_stacks: u64,
}

/// Folds the samples of a recording.
pub(super) struct Fold<'p, 'f> {
    parts: &'p [Part<'p, 'f>],
    blocks: &'p Blocks,
    /// By event: whether samples show more than one instruction.
    has_context: Vec<bool>,
}

impl<'p, 'f> Fold<'p, 'f> {
    pub(super) fn new(parts: &'p [Part<'p, 'f>], facts: &Facts, blocks: &'p Blocks) -> Self {
        let context = SampleFields::CALLCHAIN | SampleFields::BRANCH_STACK;
        let events = facts.events.iter().map(|event| event.attr.sample_type.intersects(context));
        Self { parts, blocks, has_context: events.collect() }
    }
}

/// The samples of some blocks.
pub(super) struct Slot {
    number: usize,
    /// What was found for samples of one program that ask the same.
    asked: FxHashMap<Key, Found>,
    asides: FxHashMap<Aside, u32>,
    known: FxHashMap<Alike, u32>,
    sums: Vec<(Alike, Sum)>,
    /// How many samples that are alike have an address, beyond those in `asked`.
    addresses: FxHashMap<(u32, u64), u64>,
    out: Folded,
}

/// What tells how a sample counts, before anything is known of what it touched. Small, since there are as many as
/// addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    ip: u64,
    address: u64,
    aside: u32,
}

/// What there are few of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Aside {
    owner: Option<u32>,
    is_store: Option<bool>,
    source: Option<u64>,
    event: EventIndex,
    cpu: Option<u32>,
}

/// What samples of a key are like, whether their address counts, and how many there were.
#[derive(Clone, Copy, Debug)]
struct Found {
    alike: u32,
    has_address: bool,
    samples: u64,
}

/// Sums over samples that are alike.
struct Sum {
    /// Where in the file the first of them is.
    at: u64,
    counts: Counts,
}

impl Sweep for Fold<'_, '_> {
    type Slot = Slot;
    type Out = Folded;

    fn slot(&self, number: usize) -> Slot {
        let (asked, asides, known, sums, addresses, out) = Default::default();
        Slot { number, asked, asides, known, sums, addresses, out }
    }

    fn record(&self, slot: &mut Slot, record: &Record<'_>, at: u64) {
        match record {
            Record::Sample(sample) => self.sample(slot, sample, at),
            Record::FinishedRound => slot.out.rounds.push(slot.out.moments.len()),
            _ => {}
        }
    }

    fn end(&self, slot: &mut Slot) -> Folded {
        Folded { slot: slot.number, ..std::mem::take(&mut slot.out) }
    }
}

impl Fold<'_, '_> {
    fn sample(&self, slot: &mut Slot, sample: &Sample<'_>, at: u64) {
        let Some(alike) = self.find(slot, sample, at) else { return };
        slot.count(alike, sample, self.blocks.at(sample.time));
        let Some((Alike { part, attributed, .. }, _)) = slot.sums.get(alike as usize) else { return };
        let has_function = attributed.function.is_some();
        let context = self.context(sample, *part, attributed);
        slot.out.callchains += u64::from(context.has_callchain);
        slot.out.branch_stacks += u64::from(context.has_branches);
        if let (Some(cpu), Some(time), true) = (sample.cpu, sample.time, has_function) {
            let functions = context.functions;
            let context = (!functions.is_empty()).then(|| functions.into_boxed_slice());
            slot.out.moments.push(When { cpu, time, alike, at, context });
        }
    }

    /// Number of what a sample is like; its address is counted.
    fn find(&self, slot: &mut Slot, sample: &Sample<'_>, at: u64) -> Option<u32> {
        let asked = match self.parts {
            [only] => only.question(sample).map(|question| (only, question)),
            _ => None,
        };
        let key = asked.map(|(_, question)| slot.key(sample, &question));
        if let Some(found) = key.and_then(|key| slot.asked.get_mut(&key)) {
            found.samples += 1;
            return Some(found.alike);
        }
        let (part, attributed) = attribute(self.parts, sample)?;
        let alike = slot.number_of(Alike::of(sample, part, attributed), at);
        let address = self.address(sample, part, &attributed);
        // Of a question its address is the sample's, unless that is a watch's.
        let is_whole = |question: &Question| address.is_none_or(|address| address == question.address);
        let is_kept =
            asked.is_some_and(|(part, question)| part.is_timeless(&question) && is_whole(&question));
        match key.filter(|_| is_kept) {
            Some(key) => {
                slot.asked.insert(key, Found { alike, has_address: address.is_some(), samples: 1 });
            }
            None => {
                if let Some(address) = address {
                    *slot.addresses.entry((alike, address)).or_default() += 1;
                }
            }
        }
        Some(alike)
    }

    /// The address as objects know it, of a sample that touched a place.
    fn address(&self, sample: &Sample<'_>, part: usize, attributed: &Attributed) -> Option<u64> {
        let (Target::Place { .. }, Some(_)) = (attributed.target, sample.cpu) else { return None };
        let address = sample.data_address()?;
        let linker = self.parts.get(part).map(Part::linker).filter(|linker| linker.is_program());
        let linked = linker.and_then(|linker| linker.locate(sample).ok());
        Some(in_space(address, linked.map_or(0, |linked| linked.space)))
    }

    fn context(&self, sample: &Sample<'_>, part: usize, attributed: &Attributed) -> Context {
        let has_context = self.has_context.get(sample.event.index()).is_some_and(|has| *has);
        match self.parts.get(part).filter(|_| has_context) {
            Some(part) => Context::of(sample, attributed.function, part.linker(), part.answers()),
            None => Context::default(),
        }
    }
}

impl Slot {
    fn key(&mut self, sample: &Sample<'_>, question: &Question) -> Key {
        let Question { ip, address, owner, is_store } = *question;
        let source = sample.data_source.map(|source| source.0);
        let aside = Aside { owner, is_store, source, event: sample.event, cpu: sample.cpu };
        let next = self.asides.len() as u32;
        Key { ip, address, aside: *self.asides.entry(aside).or_insert(next) }
    }

    fn number_of(&mut self, alike: Alike, at: u64) -> u32 {
        let next = self.sums.len() as u32;
        let number = *self.known.entry(alike).or_insert(next);
        if number == next {
            self.sums.push((alike, Sum { at, counts: Counts::default() }));
            self.out.new.push(alike);
        }
        number
    }

    fn count(&mut self, alike: u32, sample: &Sample<'_>, block: Option<u32>) {
        let Some((_, Sum { counts, .. })) = self.sums.get_mut(alike as usize) else { return };
        counts.samples += 1;
        counts.period = counts.period.saturating_add(sample.period);
        counts.latency = counts.latency.saturating_add(sample.latency().unwrap_or(0));
        if let Some(block) = block {
            counts.count_in(block as usize, 1);
        }
    }

    /// The sums with the addresses of their samples.
    fn into_sums(self) -> Vec<(Alike, Sum)> {
        let mut sums = self.sums;
        let asked = self.asked.into_iter().filter(|(_, found)| found.has_address);
        let asked = asked.map(|(key, found)| ((found.alike, key.address), found.samples));
        for ((alike, address), samples) in asked.chain(self.addresses) {
            if let Some((_, sum)) = sums.get_mut(alike as usize) {
                sum.counts.addresses.push((address, samples));
            }
        }
        sums
    }
}

/// The sums of all slots, in the order in which samples like them came first.
pub(super) fn sums(slots: Vec<Slot>) -> Vec<(Alike, Counts)> {
    let mut all: FxHashMap<Alike, Sum> = FxHashMap::default();
    for (alike, sum) in slots.into_iter().flat_map(Slot::into_sums) {
        match all.entry(alike) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(sum);
            }
            std::collections::hash_map::Entry::Occupied(place) => {
                let known = place.into_mut();
                known.at = known.at.min(sum.at);
                known.counts.add(sum.counts);
            }
        }
    }
    let mut all: Vec<(Alike, Sum)> = all.into_iter().collect();
    all.sort_unstable_by_key(|(_, sum)| sum.at);
    all.into_iter().map(|(alike, sum)| (alike, sum.counts)).collect()
}
