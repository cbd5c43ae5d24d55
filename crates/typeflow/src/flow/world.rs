//! What the functions of a unit share: types, variables by address, and what callees return.

use super::facts::Facts;
use super::value::{Origin, Spot, Value};
use crate::program::Program;
use crate::types::{Place, Shape, Ty, TypeSpace};
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_debuginfo::dwarf::code::NameKind;
use fieldline_machinecode::machine::{AddressSegment, System};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a function's declaration says of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// What the returned pointer points to.
    pub target: Option<Ty>,
    /// The call never returns.
    pub never: bool,
    /// What is returned takes two registers.
    pub is_wide: bool,
    /// What its parameters point to; [`Ty::VOID`] if they do not, or to nothing that tells.
    pub parameters: Rc<[Ty]>,
}

/// A unit's view of the program.
pub struct World<'a> {
    /// The program.
    pub program: &'a Program<'a>,
    /// The unit.
    pub unit: u32,
    /// Its types.
    pub types: TypeSpace<'a, 'a>,
    variables: FxHashMap<u64, Option<Place>>,
    declared: FxHashMap<DieRef, Declared>,
    /// Static variables of the function that is looked at.
    statics: Vec<(u64, Ty)>,
    /// Structs that function is about.
    subjects: BTreeSet<Ty>,
}

impl<'a> World<'a> {
    /// The view of a unit.
    pub fn new(program: &'a Program<'a>, unit: u32) -> Self {
        let (variables, declared, statics, subjects) = Default::default();
        Self { program, unit, types: program.types(), variables, declared, statics, subjects }
    }

    /// Turns to a function: to static variables that only it sees, and to the structs it is about.
    pub fn turn_to(&mut self, facts: &Facts) {
        self.statics.clone_from(&facts.statics);
        self.statics.sort_unstable();
        self.subjects.clone_from(&facts.subjects);
    }

    /// A place outside its type, in the struct around it that the function is about.
    pub fn around(&mut self, place: Place) -> Option<Place> {
        if self.types.is_inside(place) || !self.types.is_aggregate(place.ty) {
            return None;
        }
        self.types.around(place, self.subjects.iter().copied())
    }

    /// The variable at an address as linked, also per-CPU ones.
    pub fn variable(&mut self, address: u64) -> Option<Place> {
        if let Some(found) = self.own_static(address) {
            return Some(found);
        }
        let symbol = self.program.symbols.data_at(address)?;
        let begin = kept!(self.variables, symbol.address, {
            let own = self.program.variable_at(self.unit, symbol.address, &mut self.types);
            // Compilers use variables that the unit does not declare (the stack's canary), macros other names.
            own.or_else(|| self.program.variable_anywhere(symbol.address, &mut self.types))
        });
        let offset = i64::try_from(address - symbol.address).ok()?;
        begin.map(|place| Place { offset, ..place })
    }

    /// The variable whose address the loader puts at a spot. It may be another file's, which the unit only declares.
    pub fn behind_table(&mut self, spot: Spot) -> Option<Place> {
        let Spot::Fixed { address, per_cpu: false } = spot else { return None };
        let (name, to) = *self.program.table_words.get(&address)?;
        if to != 0 {
            return self.variable(to);
        }
        let survey = self.program.survey(self.unit)?;
        let declared = survey.named(self.program.dwarf, NameKind::Variable, name.as_bytes())?;
        let ty = self.types.of_die(self.program.dwarf.type_die(declared)?);
        (ty != Ty::VOID).then_some(Place { ty, offset: 0 })
    }

    fn own_static(&self, address: u64) -> Option<Place> {
        let past = self.statics.partition_point(|(begin, _)| *begin <= address);
        let (begin, ty) = self.statics.get(past.checked_sub(1)?)?;
        let offset = i64::try_from(address - begin).ok()?;
        (offset.unsigned_abs() < self.types.size(*ty)).then_some(Place { ty: *ty, offset })
    }

    /// What a register of the system holds.
    pub fn system(&mut self, system: System, origin: Origin) -> Value {
        match (system, self.program.per_cpu.segment == AddressSegment::Fs) {
            (System::Thread, true) | (System::CpuOffset, false) => Value::PerCpuOffset,
            (System::CurrentTask, false) => {
                // `struct task_struct`, include/linux/sched.h.
                let task = self.types.named("task_struct");
                task.map_or(Value::Word(origin), |ty| Value::to(Place { ty, offset: 0 }, origin))
            }
            _ => Value::Word(origin),
        }
    }

    /// A number as the pointer to the variable that lies there, if one does. Per-CPU variables are not meant: their
    /// numbers are distances.
    pub fn as_pointer(&mut self, value: Value) -> Value {
        match value {
            Value::Number(address) if !self.program.per_cpu.range.contains(&address) => {
                self.variable(address).map_or(value, |place| Value::to(place, 0))
            }
            other => other,
        }
    }

    /// What a function's declaration says of calls of it, by its DIE.
    pub fn declared(&mut self, callee: DieRef) -> Declared {
        kept!(self.declared, callee, {
            let dwarf = self.program.dwarf;
            let ty = dwarf.type_die(callee).map_or(Ty::VOID, |die| self.types.of_die(die));
            let most = self.program.architecture.arguments().len();
            let parameters = dwarf.parameter_types(callee).into_iter().take(most);
            Declared {
                target: self.types.pointee(ty),
                never: dwarf.is_noreturn(callee),
                is_wide: self.types.size(ty) > 8,
                parameters: parameters.map(|die| self.struct_behind(die)).collect(),
            }
        })
    }

    fn struct_behind(&mut self, die: Option<DieRef>) -> Ty {
        let ty = die.map_or(Ty::VOID, |die| self.types.of_die(die));
        let target = self.types.pointee(ty);
        target.filter(|target| self.types.is_aggregate(*target)).unwrap_or(Ty::VOID)
    }

    /// The struct that what a function returns points to, by the function's DIE.
    pub fn returned_struct(&mut self, function: DieRef) -> Ty {
        self.struct_behind(self.program.dwarf.type_die(function))
    }

    /// The DIE of the function at an address, if the unit declares it.
    pub fn function_die(&self, address: u64) -> Option<DieRef> {
        let survey = self.program.survey(self.unit)?;
        let die = |name: &str| survey.named(self.program.dwarf, NameKind::Function, name.as_bytes());
        let mut symbols = self.program.symbols.at(address).filter(|symbol| symbol.is_function);
        symbols.find_map(|symbol| die(symbol.name))
    }

    /// Whether the function at an address is of this unit.
    pub fn is_local(&self, address: u64) -> bool {
        let survey = self.program.survey(self.unit);
        survey.and_then(|survey| survey.function_at(address)).is_some_and(|found| found.entry() == address)
    }

    /// What a function returns, by its type.
    pub fn returns(&self, function: Ty) -> Option<Ty> {
        let Shape::Function { returns } = self.types.shape(function) else { return None };
        self.types.pointee(*returns)
    }
}
