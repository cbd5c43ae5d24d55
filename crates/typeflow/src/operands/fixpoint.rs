//! Interprocedural fixpoint: functions are analysed until their arguments are known.
//!
//! First come the functions that were sampled. Where their callers may know more of what is touched, those
//! are analysed too, and theirs in turn. Each is analysed knowing nothing of its arguments but their declared
//! types. What all callers agree on is then known at the callee's entry, and callees whose arguments changed
//! are analysed again.

use super::reason::Reason;
use super::sampled_instructions::SampledInstructions;
use super::target::Target;
use super::typing::{SelfContainedFunction, TypedInstruction, type_instructions};
use crate::calls::{
    ArgumentValue, CalleeUse, CrossUnitOffset, FunctionUse, References, collect_function_uses,
    merge_arguments,
};
use crate::flow::{ArgumentLocations, FlowSolution, FunctionCode, UnitContext};
use crate::program::Program;
use crate::types::Ty;
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::code::{Function, ScopeReader};
use fieldline_machinecode::insn::InstructionReader;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How many functions of a unit are analysed in one go. Each go reads the types it needs anew.
const FUNCTIONS_AT_ONCE: usize = 48;
/// How far callers of callers are looked for.
const MAX_LEVELS: u8 = 3;
/// References to a function, above which its callers are not analysed.
const MAX_REFERENCES: usize = 64;
/// From how many units.
const MAX_UNITS: usize = 3;
const MAX_ITERATIONS: u32 = 5;

/// A function: unit and offset of its DIE.
type FunctionKey = (u32, usize);

#[derive(Debug)]
struct AnalysedFunction {
    function: Function,
    /// 0: it was sampled; otherwise how many calls away one that was is.
    level: u8,
    /// Whether all that use it are known.
    has_all_uses: bool,
    /// How it is used, as of the last analysis.
    uses: Vec<FunctionUse>,
    analysis: FunctionAnalysis,
}

/// The result of an analysis.
#[derive(Debug, Default)]
struct FunctionAnalysis {
    callee_uses: Vec<CalleeUse>,
    /// Whether callers may know more of what it touches, or of what it passes on.
    needs_callers: bool,
    typed: Option<SelfContainedFunction>,
}

pub(crate) struct InterproceduralFixpoint<'a, 's> {
    program: &'a Program<'a>,
    functions: BTreeMap<FunctionKey, AnalysedFunction>,
    /// Entries of functions whose uses may matter.
    entries: FxHashSet<u64>,
    /// Entries of those whose uses do matter.
    relevant_entries: FxHashSet<u64>,
    sampled: &'s SampledInstructions,
}

impl<'a, 's> InterproceduralFixpoint<'a, 's> {
    pub(crate) fn new(program: &'a Program<'a>, sampled: &'s SampledInstructions) -> Self {
        let (functions, entries, relevant_entries) = Default::default();
        let mut fixpoint = Self { program, functions, entries, relevant_entries, sampled };
        for address in sampled.addresses() {
            fixpoint.add(*address, 0);
        }
        fixpoint
    }

    /// Entries of all functions in units of functions under analysis.
    fn loaded_entries(&self) -> Vec<u64> {
        let units: BTreeSet<u32> = self.functions.keys().map(|(unit, _)| *unit).collect();
        let surveys = units.into_iter().filter_map(|unit| self.program.unit_index(unit));
        surveys.flat_map(|survey| survey.functions.iter().map(Function::entry)).collect()
    }

    /// Adds the function around an instruction; `None` if there is none.
    fn add(&mut self, address: LinkedAddress, level: u8) -> Option<FunctionKey> {
        let (unit, function) = self.program.function_at(address)?;
        let key = (unit, function.die.offset);
        self.functions.entry(key).or_insert_with(|| {
            let (function, analysis) = (function.clone(), FunctionAnalysis::default());
            AnalysedFunction { function, level, has_all_uses: false, uses: Vec::new(), analysis }
        });
        Some(key)
    }

    /// Adds the users of those functions of a level that need them; returns the new ones.
    fn add_users(&mut self, references: &References, level: u8) -> Vec<FunctionKey> {
        let requesting =
            self.functions.iter().filter(|(_, item)| item.level == level && item.analysis.needs_callers);
        let mut used: Vec<(FunctionKey, u64, &[(u64, u64)])> = Vec::new();
        for (key, item) in requesting {
            let entry = item.function.entry();
            let found = references.code_positions(entry).filter(|found| self.has_few_users(found));
            used.extend(found.map(|positions| (*key, entry, positions)));
        }
        let positions =
            used.iter().flat_map(|(.., positions)| positions.iter().map(|(_, at)| LinkedAddress(*at)));
        self.program.index_units(positions);
        for (key, entry, positions) in used {
            let users: Vec<Option<FunctionKey>> =
                positions.iter().map(|(_, at)| self.add(LinkedAddress(*at), level + 1)).collect();
            if let Some(item) = self.functions.get_mut(&key) {
                item.has_all_uses = users.iter().all(Option::is_some);
            }
            self.relevant_entries.insert(entry);
        }
        let new = self.functions.iter().filter(|(_, item)| item.level == level + 1);
        new.map(|(key, _)| *key).collect()
    }

    /// Whether users at some positions are few enough to agree. A function that many units use is general,
    /// and reading the units costs more than all else.
    fn has_few_users(&self, positions: &[(u64, u64)]) -> bool {
        let units = positions.iter().map(|(_, at)| self.program.unit_at(LinkedAddress(*at)));
        positions.len() <= MAX_REFERENCES && units.collect::<BTreeSet<_>>().len() <= MAX_UNITS
    }

    /// Analyses all functions; those that were sampled come back in order.
    pub(crate) fn run(mut self) -> Vec<SelfContainedFunction> {
        self.iterate();
        let sampled = self.functions.into_values().filter(|item| item.level == 0);
        sampled.filter_map(|item| item.analysis.typed).collect()
    }

    /// How the function around an instruction is used, if all its users are known.
    pub(crate) fn uses_at(&self, address: LinkedAddress) -> Option<&[FunctionUse]> {
        let (unit, function) = self.program.function_at(address)?;
        let item = self.functions.get(&(unit, function.die.offset))?;
        item.has_all_uses.then_some(&item.uses)
    }

    /// Analyses all functions until nothing new is known of what they pass to each other.
    pub(crate) fn iterate(&mut self) {
        let mut keys: Vec<FunctionKey> = self.functions.keys().copied().collect();
        let entries = self.loaded_entries();
        self.entries = entries.iter().copied().collect();
        self.analyse(&keys);
        let references = References::find(self.program, &entries);
        for level in 0..MAX_LEVELS {
            keys = self.add_users(&references, level);
            self.analyse(&keys);
        }
        for _ in 0..MAX_ITERATIONS {
            keys = self.update_uses();
            if keys.is_empty() {
                break;
            }
            self.analyse(&keys);
        }
    }

    fn analyse(&mut self, keys: &[FunctionKey]) {
        let jobs = split_jobs(keys);
        let found = fieldline_parallel::map(&jobs, |job| self.analyse_job(job));
        for (key, found) in found.into_iter().flatten() {
            if let Some(item) = self.functions.get_mut(&key) {
                item.analysis = found;
            }
        }
    }

    /// Functions that are used in another way than was known when they were analysed.
    fn update_uses(&mut self) -> Vec<FunctionKey> {
        let mut uses: FxHashMap<u64, Vec<FunctionUse>> = FxHashMap::default();
        for export in self.functions.values().flat_map(|item| &item.analysis.callee_uses) {
            uses.entry(export.function).or_default().push(export.usage);
        }
        let mut changed = Vec::new();
        for (key, item) in self.functions.iter_mut().filter(|(_, item)| item.has_all_uses) {
            let mut uses = uses.remove(&item.function.entry()).unwrap_or_default();
            uses.sort_unstable();
            uses.dedup();
            if uses != item.uses {
                item.uses = uses;
                changed.push(*key);
            }
        }
        changed
    }

    /// Whether something that was sampled may be part of something larger.
    fn touches_partial_type(&self, world: &UnitContext<'_>, typed: &[TypedInstruction<Ty>]) -> bool {
        let sampled = typed.iter().filter(|typed| self.sampled.contains(typed.address));
        let mut targets = sampled.flat_map(|typed| &typed.operands).map(|operand| operand.target);
        targets.any(|target| match target {
            Target::Exact { ty, .. } | Target::Within { ty } | Target::Element { ty, .. } => {
                world.types.may_be_embedded(ty)
            }
            Target::Unknown(reason) => matches!(reason, Reason::UnknownPointer | Reason::OutsideType),
        })
    }

    fn analyse_job(&self, keys: &[FunctionKey]) -> Vec<(FunctionKey, FunctionAnalysis)> {
        let Some((unit, _)) = keys.first() else { return Vec::new() };
        let mut world = UnitContext::new(self.program, *unit);
        let scopes = ScopeReader::new(self.program.dwarf, *unit).ok();
        let mut reader = InstructionReader::new(self.program.architecture);
        let found = keys.iter().filter_map(|key| {
            let item = self.functions.get(key)?;
            Some((*key, self.analyse_function(&mut world, scopes.as_ref(), &mut reader, item)))
        });
        found.collect()
    }

    fn analyse_function(
        &self,
        world: &mut UnitContext<'a>,
        scopes: Option<&ScopeReader<'_, '_>>,
        reader: &mut InstructionReader,
        item: &AnalysedFunction,
    ) -> FunctionAnalysis {
        let code = scopes.and_then(|scopes| FunctionCode::read(world, scopes, reader, &item.function));
        let mut found = FunctionAnalysis::default();
        let mut operands = Vec::new();
        if let Some(code) = &code {
            let arguments = match item.has_all_uses {
                true => merge_arguments(world, code, &item.uses),
                false => ArgumentLocations::default(),
            };
            let solution = FlowSolution::new(world, code, &arguments);
            found.callee_uses =
                collect_function_uses(world, code, &solution, &|address| self.entries.contains(&address));
            if item.level == 0 {
                operands = type_instructions(world, code, &solution, reader);
                found.needs_callers = self.touches_partial_type(world, &operands);
            } else {
                let mut wanted = found
                    .callee_uses
                    .iter()
                    .filter(|export| self.relevant_entries.contains(&export.function));
                found.needs_callers = wanted.any(|export| passes_partial_type(world, &export.usage));
            }
        }
        if item.level == 0 {
            found.typed = Some(SelfContainedFunction::new(world, &item.function, operands));
        }
        found
    }
}

/// Whether what is passed may be part of something larger.
fn passes_partial_type(world: &mut UnitContext<'_>, usage: &FunctionUse) -> bool {
    let mut may_be_part = |shown: &CrossUnitOffset| {
        let ty = world.types.type_of_die(shown.die);
        world.types.may_be_embedded(ty)
    };
    match usage {
        FunctionUse::Call(passed) => passed.iter().any(|passed| match passed {
            ArgumentValue::Unknown => true,
            ArgumentValue::NoPointer => false,
            ArgumentValue::Pointer(shown) => may_be_part(shown),
        }),
        FunctionUse::Callback(shown) => may_be_part(shown),
        FunctionUse::Address => false,
    }
}

/// Functions of one unit together, not too many.
fn split_jobs(keys: &[FunctionKey]) -> Vec<&[FunctionKey]> {
    let units = keys.chunk_by(|left, right| left.0 == right.0);
    units.flat_map(|unit| unit.chunks(FUNCTIONS_AT_ONCE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_of_one_unit() {
        let keys: Vec<FunctionKey> = (0..100).map(|offset| (u32::from(offset >= 70), offset)).collect();
        let jobs = split_jobs(&keys);
        let shapes: Vec<_> = jobs.iter().map(|job| (job[0].0, job.len())).collect();
        assert_eq!(shapes, [(0, FUNCTIONS_AT_ONCE), (0, 70 - FUNCTIONS_AT_ONCE), (1, 30)]);
    }
}
