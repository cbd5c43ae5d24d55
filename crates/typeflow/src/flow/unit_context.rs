//! Types, variables by address and declarations of callees, shared by the functions of a unit.

use super::facts::FunctionFacts;
use super::value::{AbstractAddress, Origin, Value};
use crate::program::Program;
use crate::types::{Ty, TypeOffset, TypeShape, TypeSpace};
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_debuginfo::dwarf::code::NameKind;
use fieldline_machinecode::machine::{AddressSegment, SystemRegister};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A function's declaration, as far as calls of it need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionDeclaration {
    /// Type the returned pointer points to.
    pub returned_type: Option<Ty>,
    /// The call never returns.
    pub is_noreturn: bool,
    /// The result takes two registers.
    pub is_wide: bool,
    /// Types its parameters point to; [`Ty::VOID`] for those that are no pointers to structs.
    pub parameter_types: Rc<[Ty]>,
}

/// The program in the context of one unit.
pub struct UnitContext<'a> {
    /// The program.
    pub program: &'a Program<'a>,
    /// The unit.
    pub unit: u32,
    /// Its types.
    pub types: TypeSpace<'a, 'a>,
    variables: FxHashMap<LinkedAddress, Option<TypeOffset>>,
    declarations: FxHashMap<DieRef, FunctionDeclaration>,
    /// Static variables of the function under analysis.
    local_statics: Vec<(u64, Ty)>,
    /// Structs that the function's variables are or point to.
    related_structs: BTreeSet<Ty>,
}

impl<'a> UnitContext<'a> {
    /// The context of a unit.
    pub fn new(program: &'a Program<'a>, unit: u32) -> Self {
        let (variables, declarations, local_statics, related_structs) = Default::default();
        let types = program.types();
        Self { program, unit, types, variables, declarations, local_statics, related_structs }
    }

    /// Enters a function: its static variables, and the structs its variables are or point to.
    pub fn enter_function(&mut self, facts: &FunctionFacts) {
        self.local_statics.clone_from(&facts.statics);
        self.local_statics.sort_unstable();
        self.related_structs.clone_from(&facts.related_structs);
    }

    /// A place outside its type, in the struct around it that the function is about.
    pub fn relocate_to_container(&mut self, place: TypeOffset) -> Option<TypeOffset> {
        if self.types.is_inside(place) || !self.types.is_aggregate(place.ty) {
            return None;
        }
        self.types.find_container(place, self.related_structs.iter().copied())
    }

    /// The variable at an address, also per-CPU ones.
    pub fn variable(&mut self, address: LinkedAddress) -> Option<TypeOffset> {
        if let Some(found) = self.local_static_at(address) {
            return Some(found);
        }
        let symbol = self.program.symbols.data_at(address)?;
        let begin = memoized!(self.variables, LinkedAddress(symbol.address), {
            let start = LinkedAddress(symbol.address);
            let declared = self.program.variable_at(self.unit, start, &mut self.types);
            // Compilers use variables that the unit does not declare (the stack's canary), macros other
            // names.
            declared.or_else(|| self.program.variable_anywhere(start, &mut self.types))
        });
        let offset = i64::try_from(address.0 - symbol.address).ok()?;
        begin.map(|place| TypeOffset { offset, ..place })
    }

    /// The variable whose address the loader puts into a GOT entry. It may be another file's, which the unit
    /// only declares.
    pub fn got_variable(&mut self, address: AbstractAddress) -> Option<TypeOffset> {
        let AbstractAddress::Fixed { address: got_address, per_cpu: false } = address else { return None };
        let (name, to) = *self.program.got_entries.get(&got_address)?;
        if let Some(to) = to {
            return self.variable(to);
        }
        let index = self.program.unit_index(self.unit)?;
        let declared = index.find_named(self.program.dwarf, NameKind::Variable, name.as_bytes())?;
        let ty = self.types.type_of_die(self.program.dwarf.type_die(declared)?);
        (ty != Ty::VOID).then_some(TypeOffset { ty, offset: 0 })
    }

    fn local_static_at(&self, LinkedAddress(address): LinkedAddress) -> Option<TypeOffset> {
        let past = self.local_statics.partition_point(|(begin, _)| *begin <= address);
        let (begin, ty) = self.local_statics.get(past.checked_sub(1)?)?;
        let offset = i64::try_from(address - begin).ok()?;
        let is_inside = self.types.size(*ty).is_some_and(|size| offset.unsigned_abs() < size);
        is_inside.then_some(TypeOffset { ty: *ty, offset })
    }

    /// The value of a system register.
    pub fn system_register_value(&mut self, system: SystemRegister, origin: Origin) -> Value {
        match (system, self.program.per_cpu.segment == AddressSegment::Fs) {
            (SystemRegister::Thread, true) | (SystemRegister::CpuOffset, false) => Value::PerCpuOffset,
            (SystemRegister::CurrentTask, false) => {
                // `struct task_struct`, include/linux/sched.h.
                let task = self.types.find_struct("task_struct");
                task.map_or(Value::Word(origin), |ty| Value::pointer_to(TypeOffset { ty, offset: 0 }, origin))
            }
            _ => Value::Word(origin),
        }
    }

    /// A number as the pointer to the variable that lies there, if one does. Per-CPU variables are not meant:
    /// their numbers are distances.
    pub fn as_pointer(&mut self, value: Value) -> Value {
        match value {
            Value::Number(address) if !self.program.per_cpu.range.contains(&LinkedAddress(address)) => {
                self.variable(LinkedAddress(address)).map_or(value, |place| Value::pointer_to(place, 0))
            }
            other => other,
        }
    }

    /// A function's declaration, by its DIE.
    pub fn declaration(&mut self, callee: DieRef) -> FunctionDeclaration {
        memoized!(self.declarations, callee, {
            let dwarf = self.program.dwarf;
            let ty = dwarf.type_die(callee).map_or(Ty::VOID, |die| self.types.type_of_die(die));
            let max_arguments = self.program.architecture.argument_registers().len();
            let parameters = dwarf.parameter_types(callee).into_iter().take(max_arguments);
            FunctionDeclaration {
                returned_type: self.types.pointee(ty),
                is_noreturn: dwarf.is_noreturn(callee),
                is_wide: self.types.size(ty) > Some(8),
                parameter_types: parameters.map(|die| self.pointed_struct(die)).collect(),
            }
        })
    }

    fn pointed_struct(&mut self, die: Option<DieRef>) -> Ty {
        let ty = die.map_or(Ty::VOID, |die| self.types.type_of_die(die));
        let target = self.types.pointee(ty);
        target.filter(|target| self.types.is_aggregate(*target)).unwrap_or(Ty::VOID)
    }

    /// The struct that what a function returns points to, by the function's DIE.
    pub fn returned_struct(&mut self, function: DieRef) -> Ty {
        self.pointed_struct(self.program.dwarf.type_die(function))
    }

    /// The DIE of the function at an address, if the unit declares it.
    pub fn function_die(&self, address: LinkedAddress) -> Option<DieRef> {
        let index = self.program.unit_index(self.unit)?;
        let die = |name: &str| index.find_named(self.program.dwarf, NameKind::Function, name.as_bytes());
        let mut symbols = self.program.symbols.starting_at(address).filter(|symbol| symbol.is_function);
        symbols.find_map(|symbol| die(symbol.name))
    }

    /// Whether the function at an address is of this unit.
    pub fn is_local(&self, LinkedAddress(address): LinkedAddress) -> bool {
        let survey = self.program.unit_index(self.unit);
        survey.and_then(|index| index.function_at(address)).is_some_and(|found| found.entry() == address)
    }

    /// The type that a function's result points to, by the function's type.
    pub fn returned_type(&self, function: Ty) -> Option<Ty> {
        let TypeShape::Function { returns } = self.types.shape(function) else { return None };
        self.types.pointee(*returns)
    }
}
