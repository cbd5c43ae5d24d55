//! How samples count: what is known of all that are the same but for their times.

use crate::aggregate::Counts;
use crate::attribute::{Attributed, Part};
use crate::gather::{Aside, Facts, Table};
use crate::objects::in_space;
use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::EventIndex;
use fieldline_typeflow::operands::Target;
use rustc_hash::FxHashMap;

/// All that decides how a sample counts, but for its time and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Alike {
    pub(super) part: usize,
    pub(super) event: EventIndex,
    pub(super) cpu: Option<u32>,
    pub(super) source: Option<DataSource>,
    pub(super) attributed: Attributed,
}

impl Alike {
    /// What accesses in runs are like, of an event and a CPU.
    pub(super) fn of_run(part: usize, event: EventIndex, cpu: Option<u32>, attributed: Attributed) -> Self {
        Self { part, event, cpu, source: None, attributed }
    }
}

/// What samples are like: a number of [`Rows::alikes`], or of turns if it depends on when they were.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    Always(u32),
    ByTime(u32),
}

pub(super) struct Rows {
    /// What samples are like, in the order of the first that may be so.
    pub(super) alikes: Vec<Alike>,
    /// By program.
    pub(super) tables: Vec<Table<Row>>,
    /// From each time on, the number of what samples are like.
    turns: Vec<Vec<(u64, u32)>>,
}

impl Rows {
    pub(super) fn new(parts: &[Part<'_, '_>]) -> Self {
        let mut rows = Self { alikes: Vec::new(), tables: Vec::new(), turns: Vec::new() };
        let mut numbers = FxHashMap::default();
        for (index, part) in parts.iter().enumerate() {
            let gathered = &part.recorded.gathered;
            let mut found = vec![Row::Always(0); gathered.table.len()];
            for number in gathered.in_order() {
                let Some(facts) = gathered.table.facts(number) else { continue };
                let row = rows.row(part, index, parts.len(), &facts, &mut numbers);
                found.get_mut(number as usize).into_iter().for_each(|place| *place = row);
            }
            rows.tables.push(gathered.table.with_values(found));
        }
        rows
    }

    fn row(
        &mut self,
        part: &Part<'_, '_>,
        index: usize,
        parts: usize,
        facts: &Facts,
        numbers: &mut FxHashMap<Alike, u32>,
    ) -> Row {
        let mut number = |attributed: Attributed| {
            // Of several programs none tells why a sample is in none of them.
            let attributed = if parts > 1 { attributed.of_none() } else { attributed };
            let Aside { event, cpu, source, .. } = facts.aside;
            let alike = Alike { part: index, event, cpu, source, attributed };
            *numbers.entry(alike).or_insert_with(|| {
                self.alikes.push(alike);
                self.alikes.len() as u32 - 1
            })
        };
        let turns = part.turns(facts).into_iter();
        let turns: Vec<(u64, u32)> = turns.map(|(from, attributed)| (from, number(attributed))).collect();
        if let [(_, only)] = turns[..] {
            return Row::Always(only);
        }
        self.turns.push(turns);
        Row::ByTime(self.turns.len() as u32 - 1)
    }

    /// What samples of a row are like at a time.
    #[inline]
    pub(super) fn at(&self, row: Row, time: Option<u64>) -> Option<u32> {
        let turns = match row {
            Row::Always(alike) => return Some(alike),
            Row::ByTime(turns) => self.turns.get(turns as usize)?,
        };
        let past = turns.partition_point(|(from, _)| *from <= time.unwrap_or(0));
        turns.get(past.saturating_sub(1)).map(|(_, alike)| *alike)
    }

    /// Sums over all samples of rows that don't depend on time, by what they are like.
    pub(super) fn sums(&self, part: &Part<'_, '_>) -> Vec<Counts> {
        let mut sums = vec![Counts::default(); self.alikes.len()];
        let Some(table) = self.tables.first() else { return sums };
        for ((facts, row), (_, more)) in table.iter().zip(part.recorded.gathered.table.iter()) {
            let Row::Always(alike) = *row else { continue };
            let Some(counts) = sums.get_mut(alike as usize) else { continue };
            let samples = more.votes.samples;
            counts.count(samples, more.period, more.latency);
            counts.addresses.extend(self.address(alike, part, &facts).map(|address| (address, samples)));
        }
        sums
    }

    /// The address as objects know it, of samples that touched a place.
    pub(super) fn address(&self, alike: u32, part: &Part<'_, '_>, facts: &Facts) -> Option<u64> {
        let alike = self.alikes.get(alike as usize)?;
        let (Target::Place { .. }, Some(_)) = (alike.attributed.target, alike.cpu) else { return None };
        let space = facts.aside.space.ok().filter(|_| part.recorded.source.linker.is_program());
        (facts.address != 0).then(|| in_space(facts.address, space.unwrap_or(0)))
    }
}
