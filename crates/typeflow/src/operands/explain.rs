//! How an instruction came to its answer: scopes, variables, what its registers hold and where they got it, operands.

mod spell;
mod way;

use crate::calls::inputs::arguments;
use crate::flow::code::Code;
use crate::flow::facts::Fact;
use crate::flow::solve::{Arguments, Solution};
use crate::flow::state::{Location, State};
use crate::flow::value::Value;
use crate::flow::world::World;
use crate::operands::answers::entry;
use crate::operands::reason::Reason;
use crate::operands::rounds::Rounds;
use crate::operands::sampled::Sampled;
use crate::operands::target::{Target, TypeEntry};
use crate::operands::typing::typed;
use crate::program::Program;
use crate::types::TypeSpace;
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_debuginfo::dwarf::scopes::{ScopeKind, ScopeReader};
use fieldline_debuginfo::dwarf::survey::Function;
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::{self, InstructionReader};
use fieldline_machinecode::machine::{AccessKind, Instruction, Register};

/// A place on the way by which a register got its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where, as linked.
    pub address: u64,
    /// The instruction, or what happens there.
    pub text: String,
    /// The register, and what is known of it behind that place.
    pub value: String,
}

/// An operand in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedOperand {
    /// As it is written; empty for one that the kernel may patch in.
    pub written: String,
    /// What is done to it.
    pub access: AccessKind,
    /// Bytes.
    pub size: u16,
    /// What it is.
    pub target: Target<TypeEntry>,
    /// The same in words, or the reason where nothing is known.
    pub verdict: String,
    /// What the reason means.
    pub meaning: Option<&'static str>,
}

/// An instruction of a function and its operands in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands, as linked.
    pub address: u64,
    /// As objdump prints it.
    pub text: String,
    /// Its operands in memory.
    pub operands: Vec<ExplainedOperand>,
}

/// The way to an answer, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The instruction.
    pub line: Line,
    /// Function and offset.
    pub place: String,
    /// Source file of the unit.
    pub unit: String,
    /// Machine code in hex.
    pub bytes: String,
    /// Functions inlined there, from the outside inwards.
    pub scopes: Vec<String>,
    /// What all callers pass, if all are known and agree.
    pub arguments: Vec<String>,
    /// Variables whose places are known there.
    pub variables: Vec<String>,
    /// Registers and stack slots of which something is known there.
    pub registers: Vec<String>,
    /// How the operand's base register got its value, first things first.
    pub way: Vec<Step>,
}

/// Explains the instruction at an address as linked; `None` if no function with debug info holds it.
pub fn explain<'a>(program: &'a Program<'a>, address: u64) -> Option<Explanation> {
    in_function(program, address, |view| {
        let index = view.code.instructions.iter().position(|one| one.address == address)?;
        Some(view.explanation(index))
    })?
}

/// All instructions that touch memory of the function around an address; `None` if there is none with debug info.
pub fn list<'a>(program: &'a Program<'a>, address: u64) -> Option<Vec<Line>> {
    in_function(program, address, |view| {
        let indices = 0..view.code.instructions.len();
        let lines = indices.map(|index| view.line(index));
        lines.filter(|line| !line.operands.is_empty()).collect()
    })
}

fn in_function<'a, T>(
    program: &'a Program<'a>,
    address: u64,
    work: impl FnOnce(&mut View<'_, 'a>) -> T,
) -> Option<T> {
    let unit = program.unit_at(address)?;
    let function = program.survey(unit)?.function_at(address)?;
    let mut world = World::new(program, unit);
    let scopes = ScopeReader::new(program.dwarf, unit).ok()?;
    let mut reader = InstructionReader::new(program.architecture);
    let code = Code::read(&mut world, &scopes, &mut reader, function)?;
    // As if all of the function had been sampled: what of it is asked about must not change what is known.
    let sampled = Sampled::new(code.instructions.iter().map(|one| one.address), []);
    let mut rounds = Rounds::new(program, &sampled);
    rounds.settle();
    let uses = rounds.uses_at(address);
    let given = uses.map_or_else(Arguments::default, |uses| arguments(&mut world, &code, uses));
    let solution = Solution::new(&mut world, &code, &given);
    let mut states: Vec<Option<State>> = vec![None; code.instructions.len()];
    solution.walk(&mut world, &mut |_, index, state| {
        if let Some(place) = states.get_mut(index) {
            *place = Some(state.clone());
        }
    });
    let lines = typed(&mut world, &code, &solution, &mut reader);
    let lines = lines.into_iter().map(|typed| {
        let operands = typed.operands.iter().map(|operand| ExplainedOperand {
            written: String::new(),
            access: operand.access,
            size: operand.size,
            target: operand.target.map(|ty| entry(&world.types, ty)),
            verdict: spell::target(&world.types, operand.target),
            meaning: reason(&operand.target).map(Reason::meaning),
        });
        (typed.address, operands.collect())
    });
    let operands = lines.collect();
    Some(work(&mut View { world, code: &code, function, states, operands, given }))
}

fn reason<T>(target: &Target<T>) -> Option<Reason> {
    match target {
        Target::Place { .. } => None,
        Target::Within { .. } => Some(Reason::UnknownOffset),
        Target::Element { .. } => Some(Reason::UnknownIndex),
        Target::Unknown(reason) => Some(*reason),
    }
}

/// A function with all that is known of it.
struct View<'c, 'a> {
    world: World<'a>,
    code: &'c Code,
    function: &'c Function,
    /// Before each instruction, if it may run.
    states: Vec<Option<State>>,
    /// By address of the instruction; sorted.
    operands: Vec<(u64, Vec<ExplainedOperand>)>,
    given: Arguments,
}

impl<'a> View<'_, 'a> {
    fn types(&self) -> &TypeSpace<'a, 'a> {
        &self.world.types
    }

    fn architecture(&self) -> Architecture {
        self.world.program.architecture
    }

    fn register(&self, register: Register) -> &'static str {
        self.architecture().name(register)
    }

    fn explanation(&mut self, index: usize) -> Explanation {
        let line = self.line(index);
        let address = line.address;
        let base = self.code.instructions.get(index).and_then(|one| one.memory().next()?.address.base);
        Explanation {
            place: format!("{}+{:#x}", self.name(self.function.die), address - self.function.entry()),
            unit: self.world.program.dwarf.unit_name(self.world.unit).unwrap_or_default(),
            bytes: self.bytes(index),
            scopes: self.scopes(address),
            arguments: self.arguments(),
            variables: self.variables(address),
            registers: self.registers(index),
            way: base.map_or_else(Vec::new, |base| self.way(index, base)),
            line,
        }
    }

    /// An instruction as people read it.
    fn text(&self, instruction: &Instruction) -> String {
        let program = self.world.program;
        let code = program.image.code(instruction.address, instruction.end());
        insn::text(program.architecture, &|target| program.symbols.spelled(target), instruction.address, code)
            .unwrap_or_else(|| "(bad)".to_owned())
    }

    fn bytes(&self, index: usize) -> String {
        let Some(instruction) = self.code.instructions.get(index) else { return String::new() };
        let code = self.world.program.image.code(instruction.address, instruction.end());
        let bytes: Vec<String> = code.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    }

    fn line(&self, index: usize) -> Line {
        let Some(instruction) = self.code.instructions.get(index) else {
            return Line { address: 0, text: String::new(), operands: Vec::new() };
        };
        let found = self.operands.binary_search_by_key(&instruction.address, |(address, _)| *address);
        let mut operands = found.map_or_else(|_| Vec::new(), |found| self.operands[found].1.clone());
        // Those the kernel may patch in stand in front.
        let own = instruction.memory().count();
        let patched = operands.len().saturating_sub(own);
        for (operand, memory) in operands.iter_mut().skip(patched).zip(instruction.memory()) {
            operand.written = spell::address(self.architecture(), memory);
        }
        Line { address: instruction.address, text: self.text(instruction), operands }
    }

    fn name(&self, die: DieRef) -> String {
        let name = self.world.program.dwarf.name_of(die).unwrap_or(b"?");
        String::from_utf8_lossy(name).into_owned()
    }

    fn scopes(&self, address: u64) -> Vec<String> {
        let inlined = self.code.scopes.at(address).filter(|scope| scope.kind != ScopeKind::Block);
        inlined.map(|scope| self.name(scope.die)).collect()
    }

    fn arguments(&self) -> Vec<String> {
        let given = self.architecture().arguments().iter().zip(&self.given);
        let given = given.filter_map(|(register, place)| Some((*register, (*place)?)));
        given
            .map(|(register, place)| {
                spell::holds(self.register(register), &spell::place(self.types(), place))
            })
            .collect()
    }

    fn variables(&self, address: u64) -> Vec<String> {
        let facts = self.code.facts.facts.iter();
        let here = facts.filter(|fact| fact.begin <= address && address < fact.end);
        let subject = |fact: &Fact| spell::subject(self.architecture(), fact.subject);
        here.map(|fact| spell::holds(&subject(fact), &spell::place(self.types(), fact.place))).collect()
    }

    fn registers(&self, index: usize) -> Vec<String> {
        let Some(Some(state)) = self.states.get(index) else { return Vec::new() };
        let known = state.locations().filter(|(_, value)| !matches!(value, Value::Word(_)));
        let known = known.map(|(location, value)| {
            let location = match location {
                Location::Register(register) => self.register(register).to_owned(),
                Location::Slot(offset) => format!("{offset:+}(cfa)"),
            };
            spell::holds(&location, &spell::value(self.types(), value))
        });
        known.collect()
    }
}
