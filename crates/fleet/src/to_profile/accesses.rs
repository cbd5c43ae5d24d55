//! Accesses of a profile, summed over what its rows are told apart by beyond it.

use super::blocks::{Blocks, Columns};
use super::builds::{Catalog, Fit};
use super::context::{FunctionNames, RowWeights};
use super::instructions::{Heat, Instructions};
use super::row::{Row, TableRows};
use crate::measure;
use crate::row_sums::Tables;
use crate::schema::Table;
use fieldline_access::access::{Access, BlockCount, CpuAccess, TypeProfile};
use fieldline_access::line_turns::{LineTurns, TurnPair};
use fieldline_access::time_blocks::add_to_block;
use std::collections::{BTreeMap, BTreeSet};

/// Members named in a note, at most.
const MAX_NAMED: usize = 5;

/// Accesses that the rows hold.
pub(super) struct FoundAccesses {
    pub(super) types: Vec<TypeProfile>,
    /// Members that don't match between builds, a sentence a struct.
    pub(super) notes: Vec<String>,
}

/// Rows of accesses with what is needed to read them.
pub(super) struct AccessReader<'r, 't> {
    tables: &'t Tables,
    /// Id of the build whose layouts the profile has.
    build: Option<&'r str>,
    catalog: &'r Catalog,
    weights: &'r RowWeights<'t>,
    blocks: &'r Blocks<'t>,
    columns: AccessColumns,
    block_columns: Columns,
}

/// Indices of columns.
struct AccessColumns {
    labels: usize,
    build: usize,
    name: usize,
    fingerprint: usize,
    offset: usize,
    size: usize,
    ip: usize,
    function: usize,
    cpu: usize,
    written: usize,
    measure: usize,
}

/// One struct in the making.
#[derive(Default)]
struct TypeSums {
    accesses: BTreeMap<(u64, u64, u64, u32), Access>,
    cpus: BTreeMap<(u64, u32), (u64, u64)>,
    rest: TypeProfile,
    turns: BTreeMap<u64, TurnSums>,
}

/// Turns on lines of one size.
#[derive(Default)]
struct TurnSums {
    line: LineTurns,
    pairs: BTreeMap<(u64, u64), (u64, u64)>,
}

/// Samples of a struct that fit nowhere, by member.
type Unmatched = BTreeMap<(u32, u32), (u64, BTreeMap<String, u64>)>;

impl<'r, 't> AccessReader<'r, 't> {
    pub(super) fn new(
        (tables, build): (&'t Tables, Option<&'r str>),
        catalog: &'r Catalog,
        weights: &'r RowWeights<'t>,
        blocks: &'r Blocks<'t>,
    ) -> Self {
        let rows = TableRows { tables, table: Table::Accesses };
        let column = |name| rows.column(name);
        let columns = AccessColumns {
            labels: column("labels"),
            build: column("build_id"),
            name: column("type"),
            fingerprint: column("fingerprint"),
            offset: column("offset"),
            size: column("size"),
            ip: column("ip"),
            function: column("function"),
            cpu: column("cpu"),
            written: column("written"),
            measure: column("measure"),
        };
        let block_columns = Columns::new(tables, Table::Accesses);
        Self { tables, build, catalog, weights, blocks, columns, block_columns }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'t>> {
        TableRows { tables: self.tables, table: Table::Accesses }.iter()
    }

    fn count(&self, row: Row<'_>) -> u64 {
        row.count(0).saturating_mul(self.weights.weight(row.id(self.columns.labels)))
    }

    /// The type of a row, and where the profile has what it touched.
    fn place(&self, row: Row<'_>, size: u64) -> Option<(usize, u64)> {
        let id = (row.id(self.columns.name), row.id(self.columns.fingerprint));
        self.catalog.offset(id, row.unsigned(self.columns.offset), size)
    }

    pub(super) fn read(&self, functions: &mut FunctionNames) -> FoundAccesses {
        let is_function = |row: &Row<'_>| row.text(self.columns.measure) == Some(measure::FUNCTION);
        for row in self.rows().filter(is_function) {
            functions.index(row.text(self.columns.function).unwrap_or_default());
        }
        let instructions = self.pair_instructions();
        let mut sums: BTreeMap<usize, TypeSums> = BTreeMap::new();
        let mut order: Vec<usize> = Vec::new();
        let mut unmatched = Unmatched::new();
        for row in self.rows().filter(|row| self.count(*row) > 0) {
            let id = (row.id(self.columns.name), row.id(self.columns.fingerprint));
            let (Fit::Same(index) | Fit::Moved(index)) = self.catalog.fit(id.0, id.1) else {
                self.note_unmatched(row, &mut unmatched);
                continue;
            };
            let sum = sums.entry(index).or_insert_with(|| {
                order.push(index);
                TypeSums::default()
            });
            if !self.add_row(row, sum, &instructions, functions) {
                self.note_unmatched(row, &mut unmatched);
            }
        }
        let finish = |index| {
            sums.remove(&index).zip(self.catalog.get(index)).map(|(sum, known)| {
                let mut found = sum.finish();
                found.name.clone_from(&known.name);
                (found.size, found.fingerprint, found.layout) =
                    (known.size, known.fingerprint, known.layout.clone());
                found
            })
        };
        let mut types: Vec<TypeProfile> = order.into_iter().filter_map(finish).collect();
        types.retain(|found| !found.accesses.is_empty());
        types.sort_by(|left, right| (&left.name, left.size).cmp(&(&right.name, right.size)));
        FoundAccesses { types, notes: self.notes(&unmatched) }
    }

    /// Pairs the instructions of several builds; those of one stay as they are.
    fn pair_instructions(&self) -> Instructions {
        let builds: BTreeSet<u32> = self.rows().map(|row| row.id(self.columns.build)).collect();
        if builds.len() < 2 {
            return Instructions::default();
        }
        let is_base = |build: &&u32| self.tables.values.get_text(**build) == self.build;
        let base = builds.iter().find(is_base).copied();
        let mut heat = Heat::default();
        for row in self.rows() {
            let is_store = match row.text(self.columns.measure) {
                Some(measure::LOADS) => false,
                Some(measure::STORES) => true,
                _ => continue,
            };
            let size = row.unsigned(self.columns.size);
            if let Some((index, offset)) = self.place(row, size) {
                heat.add(self.instruction(row), (index, offset, size, is_store), self.count(row));
            }
        }
        Instructions::new(&heat, base)
    }

    fn instruction(&self, row: Row<'_>) -> (u32, u32, u64) {
        (row.id(self.columns.build), row.id(self.columns.function), row.unsigned(self.columns.ip))
    }

    /// Adds a row to its struct; false if the struct lacks what was touched.
    fn add_row(
        &self,
        row: Row<'t>,
        sum: &mut TypeSums,
        instructions: &Instructions,
        functions: &mut FunctionNames,
    ) -> bool {
        let (count, name) = (self.count(row), row.text(self.columns.measure).unwrap_or_default());
        if sum.add_whole(name, row.unsigned(self.columns.offset), count) {
            return true;
        }
        if sum.add_line(name, row.unsigned(self.columns.size), row.unsigned(self.columns.cpu), count) {
            return true;
        }
        let size = row.unsigned(self.columns.size);
        let touched = if matches!(name, measure::TURNS | measure::TURN_OBJECTS) { 1 } else { size };
        let Some((_, offset)) = self.place(row, touched) else { return false };
        match name {
            measure::CPU_LOADS | measure::CPU_STORES => {
                let cpu = u32::try_from(row.unsigned(self.columns.cpu)).unwrap_or(u32::MAX);
                let of_cpu = sum.cpus.entry((offset, cpu)).or_default();
                let side = if name == measure::CPU_LOADS { &mut of_cpu.0 } else { &mut of_cpu.1 };
                *side = side.saturating_add(count);
            }
            measure::TURNS | measure::TURN_OBJECTS => {
                let id = (row.id(self.columns.name), row.id(self.columns.fingerprint));
                let written = self.catalog.offset(id, row.unsigned(self.columns.written), 1);
                let Some((_, written)) = written else { return false };
                let pair = sum.turns.entry(size).or_default().pairs.entry((offset, written)).or_default();
                let side = if name == measure::TURNS { &mut pair.0 } else { &mut pair.1 };
                *side = side.saturating_add(count);
            }
            _ => {
                let function = functions.index(row.text(self.columns.function).unwrap_or_default());
                let ip = instructions.address(self.instruction(row));
                let access = sum.accesses.entry((ip, offset, size, function)).or_insert(Access {
                    ip,
                    offset,
                    size,
                    function,
                    ..Access::default()
                });
                add_measure(access, name, count);
                if let Some(block) = self.blocks.index(row, self.block_columns) {
                    let (loads, stores) = if name == measure::LOADS { (count, 0) } else { (0, count) };
                    add_to_block(&mut access.blocks, BlockCount { block, loads, stores });
                }
            }
        }
        true
    }

    fn note_unmatched(&self, row: Row<'_>, unmatched: &mut Unmatched) {
        if !row.text(self.columns.measure).is_some_and(measure::is_of_blocks) {
            return;
        }
        let id = (row.id(self.columns.name), row.id(self.columns.fingerprint));
        let (all, members) = unmatched.entry(id).or_default();
        *all += self.count(row);
        let member = self.catalog.name_member(id, row.unsigned(self.columns.offset));
        *members.entry(member).or_default() += self.count(row);
    }

    fn notes(&self, unmatched: &Unmatched) -> Vec<String> {
        let note = |((name, fingerprint), (samples, members)): (
            &(u32, u32),
            &(u64, BTreeMap<String, u64>),
        )| {
            let text = |id: u32| self.tables.values.get_text(id).unwrap_or("?");
            let mut ranked: Vec<(&String, &u64)> = members.iter().collect();
            ranked.sort_by_key(|(name, samples)| (u64::MAX - **samples, *name));
            let named: Vec<String> =
                ranked.iter().take(MAX_NAMED).map(|(name, samples)| format!("{name} ({samples})")).collect();
            let more = match ranked.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "struct {} (fingerprint {}): {samples} samples of another build's layout are left out, since the \
                 build planned for has no such members, or not together: {}{more}",
                text(*name),
                text(*fingerprint),
                named.join(", ")
            )
        };
        let mut notes: Vec<(u64, String)> =
            unmatched.iter().map(|found| (u64::MAX - found.1.0, note(found))).collect();
        notes.sort();
        notes.into_iter().map(|(_, note)| note).collect()
    }
}

fn add_measure(access: &mut Access, name: &str, count: u64) {
    let add = |sum: &mut u64| *sum = sum.saturating_add(count);
    match name {
        measure::LOADS => add(&mut access.loads.samples),
        measure::STORES => add(&mut access.stores.samples),
        measure::LOAD_PERIOD => add(&mut access.loads.period),
        measure::STORE_PERIOD => add(&mut access.stores.period),
        measure::LATENCY => add(&mut access.latency),
        measure::AWAY_LOADS => add(&mut access.away.loads),
        measure::AWAY_STORES => add(&mut access.away.stores),
        measure::AWAY_LOST => add(&mut access.away.lost),
        _ => {
            if let Some(level) = name.strip_prefix(measure::LOAD_LEVEL) {
                add(access.levels.entry(level.to_owned()).or_default());
            } else if let Some(level) = name.strip_prefix(measure::STORE_LEVEL) {
                add(access.store_levels.entry(level.to_owned()).or_default());
            }
        }
    }
}

impl TypeSums {
    /// Adds what belongs to a struct as a whole; false if the measure is another.
    fn add_whole(&mut self, name: &str, offset: u64, count: u64) -> bool {
        let sum = match name {
            measure::PHASE => self.rest.phases.entry(offset).or_default(),
            measure::HOME_SAMPLES => &mut self.rest.homes.samples,
            measure::HOME_OTHERS => &mut self.rest.homes.others,
            _ => return false,
        };
        *sum = sum.saturating_add(count);
        true
    }

    /// Adds what belongs to lines of a size; false if the measure is another.
    fn add_line(&mut self, name: &str, line: u64, cpus: u64, count: u64) -> bool {
        let is_of_line = [measure::TRUE_TURNS, measure::FALSE_TURNS, measure::TURN_CPUS].contains(&name);
        if is_of_line {
            let turns = &mut self.turns.entry(line).or_default().line;
            match name {
                measure::TRUE_TURNS => turns.true_turns = turns.true_turns.saturating_add(count),
                measure::FALSE_TURNS => turns.false_turns = turns.false_turns.saturating_add(count),
                _ => turns.cpus = turns.cpus.max(cpus),
            }
        }
        is_of_line
    }

    fn finish(self) -> TypeProfile {
        let cpu = |((offset, cpu), (loads, stores))| CpuAccess { offset, cpu, loads, stores };
        let turns = self.turns.into_iter().map(|(line, sums)| {
            let pair = |((offset, written), (turns, objects))| TurnPair { offset, written, turns, objects };
            LineTurns { line, pairs: sums.pairs.into_iter().map(pair).collect(), ..sums.line }
        });
        TypeProfile {
            accesses: self.accesses.into_values().filter(|access| access.samples() > 0).collect(),
            cpus: self.cpus.into_iter().map(cpu).collect(),
            turns: turns.collect(),
            ..self.rest
        }
    }
}
