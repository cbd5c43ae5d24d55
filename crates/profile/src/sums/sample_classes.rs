//! Sample classes: samples that are equal but for time and address.

use crate::addresses::TaggedAddress;
use crate::aggregate::ClassCounts;
use crate::attribute::{Attributed, AttributedByObject, ProgramSamples};
use crate::gather::{SampleAttributes, SampleFacts, SampleTable};
use crate::objects::ObjectId;
use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::EventIndex;
use fieldline_typeflow::operands::Target;
use rustc_hash::FxHashMap;

/// All of a sample that its profile depends on, but time and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SampleClass {
    pub(super) part: usize,
    pub(super) event: EventIndex,
    pub(super) cpu: Option<u32>,
    pub(super) source: Option<DataSource>,
    pub(super) attributed: Attributed,
}

impl SampleClass {
    /// The class of accesses in straight-line ranges, of an event and a CPU.
    pub(super) fn for_range(part: usize, event: EventIndex, cpu: Option<u32>, access: Attributed) -> Self {
        Self { part, event, cpu, source: None, attributed: access }
    }
}

/// The class of samples: a number of [`SampleClasses::classes`], or of `by_object` if it depends on their
/// time.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClassByTime {
    Always(u32),
    ByTime(u32),
}

pub(super) struct SampleClasses {
    /// Classes, in the order of the first sample of each in the file.
    pub(super) classes: Vec<SampleClass>,
    /// By program.
    pub(super) tables: Vec<SampleTable<ClassByTime>>,
    /// Class numbers by the object that was sampled nearest in time.
    by_object: Vec<Box<[(ObjectId, u32)]>>,
}

impl SampleClasses {
    pub(super) fn new(parts: &[ProgramSamples<'_, '_>]) -> Self {
        let mut classes = Self { classes: Vec::new(), tables: Vec::new(), by_object: Vec::new() };
        let mut numbers = FxHashMap::default();
        for (index, part) in parts.iter().enumerate() {
            let gathered = &part.recorded.gathered;
            let mut found = vec![ClassByTime::Always(0); gathered.table.len()];
            for number in gathered.in_file_order() {
                let Some(facts) = gathered.table.facts_at(number) else { continue };
                let class = classes.class_of_facts(part, index, parts.len(), &facts, &mut numbers);
                found.get_mut(number as usize).into_iter().for_each(|place| *place = class);
            }
            classes.tables.push(gathered.table.with_values(found));
        }
        classes
    }

    fn class_of_facts(
        &mut self,
        part: &ProgramSamples<'_, '_>,
        index: usize,
        parts: usize,
        facts: &SampleFacts,
        numbers: &mut FxHashMap<SampleClass, u32>,
    ) -> ClassByTime {
        let mut number = |attributed: Attributed| {
            // A sample in none of several programs has no reason of a single one.
            let attributed = if parts > 1 { attributed.in_no_program() } else { attributed };
            let SampleAttributes { event, cpu, source, .. } = facts.attributes;
            let class = SampleClass { part: index, event, cpu, source, attributed };
            *numbers.entry(class).or_insert_with(|| {
                self.classes.push(class);
                self.classes.len() as u32 - 1
            })
        };
        match part.attributed_by_object(facts) {
            AttributedByObject::Always(attributed) => ClassByTime::Always(number(attributed)),
            AttributedByObject::ByObject(all) => {
                let all = all.into_iter().map(|(object, attributed)| (object, number(attributed))).collect();
                self.by_object.push(all);
                ClassByTime::ByTime(self.by_object.len() as u32 - 1)
            }
        }
    }

    /// The class of samples at a time.
    #[inline]
    pub(super) fn class_at(
        &self,
        part: &ProgramSamples<'_, '_>,
        class: ClassByTime,
        time: Option<u64>,
    ) -> Option<u32> {
        match class {
            ClassByTime::Always(class) => Some(class),
            ClassByTime::ByTime(number) => {
                let candidates = self.by_object.get(number as usize)?;
                part.recorded.decided.nearest(candidates, time.unwrap_or(0))
            }
        }
    }

    /// A class of samples, the first of several.
    pub(super) fn any_class(&self, class: ClassByTime) -> Option<u32> {
        match class {
            ClassByTime::Always(class) => Some(class),
            ClassByTime::ByTime(number) => Some(self.by_object.get(number as usize)?.first()?.1),
        }
    }

    /// Sums by class over all samples whose class does not depend on time.
    pub(super) fn sums(&self, part: &ProgramSamples<'_, '_>) -> Vec<ClassCounts> {
        let mut sums = vec![ClassCounts::default(); self.classes.len()];
        let Some(table) = self.tables.first() else { return sums };
        for ((facts, row), (_, sums_by_key)) in table.iter().zip(part.recorded.gathered.table.iter()) {
            let ClassByTime::Always(class) = *row else { continue };
            let Some(counts) = sums.get_mut(class as usize) else { continue };
            let samples = sums_by_key.span.samples;
            counts.add(samples, sums_by_key.period, sums_by_key.latency);
            counts.addresses.extend(self.address(class, part, &facts).map(|address| (address, samples)));
        }
        sums
    }

    /// The address tagged with its space, of samples with an exact target.
    pub(super) fn address(
        &self,
        number: u32,
        part: &ProgramSamples<'_, '_>,
        facts: &SampleFacts,
    ) -> Option<TaggedAddress> {
        let class = self.classes.get(number as usize)?;
        let (Target::Exact { .. }, Some(_)) = (class.attributed.target, class.cpu) else { return None };
        let space = facts.attributes.space.ok().filter(|_| part.recorded.source.linker.is_program());
        Some(TaggedAddress::new(facts.address?, space.unwrap_or(0)))
    }
}
