//! Functions analysed until what they pass to each other is known.
//!
//! First come the functions that were sampled. Where their callers may know more of what is touched, those are
//! analysed too, and theirs in turn. Each is analysed knowing nothing of its arguments but their declared types. What
//! all callers agree on is then known at the callee's entry, and those that are told something new are analysed again.

use super::reason::Reason;
use super::sampled::Sampled;
use super::target::Target;
use super::typing::{Typed, TypedPart, typed};
use crate::calls::{Export, FunctionUse, Passed, References, SharedPlace, arguments, exports};
use crate::flow::{Arguments, Code, Solution, World};
use crate::program::Program;
use crate::types::Ty;
use fieldline_debuginfo::dwarf::code::{Function, ScopeReader};
use fieldline_machinecode::insn::InstructionReader;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How many functions of a unit are analysed in one go. Each go reads the types it needs anew.
const FUNCTIONS_AT_ONCE: usize = 48;
/// How far callers of callers are looked for.
const MAX_LEVELS: u8 = 3;
/// From how many places a function may be named until it is one for everybody.
const MAX_REFERENCES: usize = 64;
/// From how many units.
const MAX_UNITS: usize = 3;
const MAX_ROUNDS: u32 = 5;

/// A function: unit and offset of its DIE.
type Key = (u32, usize);

#[derive(Debug)]
struct Item {
    function: Function,
    /// 0: it was sampled; otherwise how many calls away one that was is.
    level: u8,
    /// Whether all that use it are known.
    is_closed: bool,
    /// How it is used, as of the last analysis.
    uses: Vec<FunctionUse>,
    found: Found,
}

/// What an analysis found.
#[derive(Debug, Default)]
struct Found {
    exports: Vec<Export>,
    /// Whether callers may know more of what it touches, or of what it passes on.
    is_curious: bool,
    part: Option<TypedPart>,
}

pub(crate) struct Rounds<'a, 's> {
    program: &'a Program<'a>,
    items: BTreeMap<Key, Item>,
    /// Entries of functions whose uses may matter.
    entries: FxHashSet<u64>,
    /// Entries of those whose uses do matter.
    wanted: FxHashSet<u64>,
    sampled: &'s Sampled,
}

impl<'a, 's> Rounds<'a, 's> {
    pub(crate) fn new(program: &'a Program<'a>, sampled: &'s Sampled) -> Self {
        let (items, entries, wanted) = Default::default();
        let mut rounds = Self { program, items, entries, wanted, sampled };
        for address in sampled.addresses() {
            rounds.add(*address, 0);
        }
        rounds
    }

    /// Entries of all functions in units of functions under analysis.
    fn loaded_entries(&self) -> Vec<u64> {
        let units: BTreeSet<u32> = self.items.keys().map(|(unit, _)| *unit).collect();
        let surveys = units.into_iter().filter_map(|unit| self.program.survey(unit));
        surveys.flat_map(|survey| survey.functions.iter().map(Function::entry)).collect()
    }

    /// Adds the function around an instruction; `None` if there is none.
    fn add(&mut self, address: u64, level: u8) -> Option<Key> {
        let (unit, function) = self.program.function_at(address)?;
        let key = (unit, function.die.offset);
        self.items.entry(key).or_insert_with(|| {
            let (function, found) = (function.clone(), Found::default());
            Item { function, level, is_closed: false, uses: Vec::new(), found }
        });
        Some(key)
    }

    /// Adds the functions that use those of a level which want to know; returns those that are new.
    fn add_users(&mut self, references: &References, level: u8) -> Vec<Key> {
        let of_level = self.items.iter().filter(|(_, item)| item.level == level && item.found.is_curious);
        let mut used: Vec<(Key, u64, &[(u64, u64)])> = Vec::new();
        for (key, item) in of_level {
            let entry = item.function.entry();
            let positions = references.of(entry).filter(|positions| self.may_agree(positions));
            used.extend(positions.map(|positions| (*key, entry, positions)));
        }
        let positions = used.iter().flat_map(|(.., positions)| positions.iter().map(|(_, at)| *at));
        self.program.survey_all(positions);
        for (key, entry, positions) in used {
            let users: Vec<Option<Key>> = positions.iter().map(|(_, at)| self.add(*at, level + 1)).collect();
            if let Some(item) = self.items.get_mut(&key) {
                item.is_closed = users.iter().all(Option::is_some);
            }
            self.wanted.insert(entry);
        }
        let new = self.items.iter().filter(|(_, item)| item.level == level + 1);
        new.map(|(key, _)| *key).collect()
    }

    /// Whether users at some positions are few enough to agree on something. A function that many units use is one
    /// for everybody, and reading the units costs more than all else.
    fn may_agree(&self, positions: &[(u64, u64)]) -> bool {
        let units = positions.iter().map(|(_, at)| self.program.unit_at(*at));
        positions.len() <= MAX_REFERENCES && units.collect::<BTreeSet<_>>().len() <= MAX_UNITS
    }

    /// Analyses all functions; those that were sampled come back in order.
    pub(crate) fn run(mut self) -> Vec<TypedPart> {
        self.settle();
        let sampled = self.items.into_values().filter(|item| item.level == 0);
        sampled.filter_map(|item| item.found.part).collect()
    }

    /// How the function around an instruction is used, if all its users are known.
    pub(crate) fn uses_at(&self, address: u64) -> Option<&[FunctionUse]> {
        let (unit, function) = self.program.function_at(address)?;
        let item = self.items.get(&(unit, function.die.offset))?;
        item.is_closed.then_some(&item.uses)
    }

    /// Analyses all functions until nothing new is known of what they pass to each other.
    pub(crate) fn settle(&mut self) {
        let mut keys: Vec<Key> = self.items.keys().copied().collect();
        let entries = self.loaded_entries();
        self.entries = entries.iter().copied().collect();
        self.analyse(&keys);
        let references = References::find(self.program, &entries);
        for level in 0..MAX_LEVELS {
            keys = self.add_users(&references, level);
            self.analyse(&keys);
        }
        for _ in 0..MAX_ROUNDS {
            keys = self.news();
            if keys.is_empty() {
                break;
            }
            self.analyse(&keys);
        }
    }

    fn analyse(&mut self, keys: &[Key]) {
        let jobs = jobs(keys);
        let found: Vec<Vec<(Key, Found)>> = jobs.par_iter().map(|job| self.job(job)).collect();
        for (key, found) in found.into_iter().flatten() {
            if let Some(item) = self.items.get_mut(&key) {
                item.found = found;
            }
        }
    }

    /// Functions that are used in another way than was known when they were analysed.
    fn news(&mut self) -> Vec<Key> {
        let mut uses: FxHashMap<u64, Vec<FunctionUse>> = FxHashMap::default();
        for export in self.items.values().flat_map(|item| &item.found.exports) {
            uses.entry(export.function).or_default().push(export.usage);
        }
        let mut news = Vec::new();
        for (key, item) in self.items.iter_mut().filter(|(_, item)| item.is_closed) {
            let mut uses = uses.remove(&item.function.entry()).unwrap_or_default();
            uses.sort_unstable();
            uses.dedup();
            if uses != item.uses {
                item.uses = uses;
                news.push(*key);
            }
        }
        news
    }

    /// Whether something that was sampled may be part of something larger.
    fn is_partial(&self, world: &World<'_>, typed: &[Typed<Ty>]) -> bool {
        let sampled = typed.iter().filter(|typed| self.sampled.contains(typed.address));
        let mut targets = sampled.flat_map(|typed| &typed.operands).map(|operand| operand.target);
        targets.any(|target| match target {
            Target::Place { ty, .. } | Target::Within { ty } | Target::Element { ty, .. } => {
                world.types.may_be_part(ty)
            }
            Target::Unknown(reason) => matches!(reason, Reason::UnknownPointer | Reason::OutsideType),
        })
    }

    fn job(&self, keys: &[Key]) -> Vec<(Key, Found)> {
        let Some((unit, _)) = keys.first() else { return Vec::new() };
        let mut world = World::new(self.program, *unit);
        let scopes = ScopeReader::new(self.program.dwarf, *unit).ok();
        let mut reader = InstructionReader::new(self.program.architecture);
        let found = keys.iter().filter_map(|key| {
            let item = self.items.get(key)?;
            Some((*key, self.function(&mut world, scopes.as_ref(), &mut reader, item)))
        });
        found.collect()
    }

    fn function(
        &self,
        world: &mut World<'a>,
        scopes: Option<&ScopeReader<'_, '_>>,
        reader: &mut InstructionReader,
        item: &Item,
    ) -> Found {
        let code = scopes.and_then(|scopes| Code::read(world, scopes, reader, &item.function));
        let mut found = Found::default();
        let mut operands = Vec::new();
        if let Some(code) = &code {
            let arguments = match item.is_closed {
                true => arguments(world, code, &item.uses),
                false => Arguments::default(),
            };
            let solution = Solution::new(world, code, &arguments);
            found.exports = exports(world, code, &solution, &|address| self.entries.contains(&address));
            if item.level == 0 {
                operands = typed(world, code, &solution, reader);
                found.is_curious = self.is_partial(world, &operands);
            } else {
                let mut wanted = found.exports.iter().filter(|export| self.wanted.contains(&export.function));
                found.is_curious = wanted.any(|export| is_partial(world, &export.usage));
            }
        }
        if item.level == 0 {
            found.part = Some(TypedPart::new(world, &item.function, operands));
        }
        found
    }
}

/// Whether what is passed may be part of something larger.
fn is_partial(world: &mut World<'_>, usage: &FunctionUse) -> bool {
    let mut may_be_part = |shown: &SharedPlace| {
        let ty = world.types.of_die(shown.die);
        world.types.may_be_part(ty)
    };
    match usage {
        FunctionUse::Call(passed) => passed.iter().any(|passed| match passed {
            Passed::Unknown => true,
            Passed::Nothing => false,
            Passed::Pointer(shown) => may_be_part(shown),
        }),
        FunctionUse::Callback(shown) => may_be_part(shown),
        FunctionUse::Address => false,
    }
}

/// Functions of one unit together, not too many.
fn jobs(keys: &[Key]) -> Vec<&[Key]> {
    let units = keys.chunk_by(|one, other| one.0 == other.0);
    units.flat_map(|unit| unit.chunks(FUNCTIONS_AT_ONCE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_of_one_unit() {
        let keys: Vec<Key> = (0..100).map(|offset| (u32::from(offset >= 70), offset)).collect();
        let jobs = jobs(&keys);
        let shapes: Vec<_> = jobs.iter().map(|job| (job[0].0, job.len())).collect();
        assert_eq!(shapes, [(0, FUNCTIONS_AT_ONCE), (0, 70 - FUNCTIONS_AT_ONCE), (1, 30)]);
    }
}
