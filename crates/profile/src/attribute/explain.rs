//! How an instruction came to its answer: scopes, variables, registers and operands.

use super::target::Target;
use super::typing::{Typed, typed};
use crate::code::insn::InstructionReader;
use crate::code::machine::{Address, Instruction, Memory, Register, Segment};
use crate::flow::code::Code;
use crate::flow::facts::{Fact, Subject};
use crate::flow::solve::{Arguments, Solution};
use crate::flow::state::{Location, State};
use crate::flow::transfer::{meeting_of, origin_of_argument};
use crate::flow::value::{Origin, Value};
use crate::flow::world::World;
use crate::program::Program;
use crate::types::{Place, Ty, TypeSpace};
use fieldline_debuginfo::dwarf::scopes::{ScopeKind, ScopeReader};
use std::fmt::Write;

/// The way to an answer, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Function and offset.
    pub place: String,
    /// Machine code in hex.
    pub bytes: String,
    /// Functions inlined there, from the outside inwards.
    pub scopes: Vec<String>,
    /// Variables whose places are known there.
    pub variables: Vec<String>,
    /// Registers and stack slots of which something is known.
    pub registers: Vec<String>,
    /// Operands in memory with what they are.
    pub operands: Vec<String>,
}

/// Explains the instruction at an address as linked; `None` if no function with debug info covers it.
pub fn explain<'a>(program: &'a Program<'a>, address: u64, arguments: &Arguments) -> Option<Explanation> {
    let unit = program.unit_at(address)?;
    let function = program.survey(unit)?.function_at(address)?;
    let mut world = World::new(program, unit);
    let scopes = ScopeReader::new(program.dwarf, unit).ok()?;
    let mut reader = InstructionReader::new();
    let code = Code::read(&mut world, &scopes, &mut reader, function)?;
    let solution = Solution::new(&mut world, &code, arguments);
    let mut explanation = Explanation {
        place: format!("{}+{:#x}", name(program, function.die), address.wrapping_sub(function.entry())),
        ..Explanation::default()
    };
    explanation.add_scopes(program, &code, address);
    solution.walk(&mut world, &mut |world, index, state| {
        if let Some(instruction) = code.instructions.get(index).filter(|one| one.address == address) {
            explanation.add_state(world, &code, instruction, state);
        }
    });
    let typed = typed(&mut world, &code, &solution, &mut reader);
    let typed = typed.iter().find(|typed| typed.address == address);
    explanation.add_operands(&world.types, &code, address, typed);
    Some(explanation)
}

fn name(program: &Program<'_>, die: fieldline_debuginfo::dwarf::DieRef) -> String {
    let name = program.dwarf.name_of(die).unwrap_or(b"?");
    String::from_utf8_lossy(name).into_owned()
}

impl Explanation {
    fn add_scopes(&mut self, program: &Program<'_>, code: &Code, address: u64) {
        let inlined = code.scopes.at(address).filter(|scope| scope.kind != ScopeKind::Block);
        self.scopes.extend(inlined.map(|scope| name(program, scope.die)));
    }

    fn add_state(&mut self, world: &mut World<'_>, code: &Code, instruction: &Instruction, state: &State) {
        let bytes = world.program.image.code(instruction.address, instruction.end());
        self.bytes = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let holds = |fact: &&Fact| fact.begin <= instruction.address && instruction.address < fact.end;
        for fact in code.facts.facts.iter().filter(holds) {
            let subject = match fact.subject {
                Subject::Register(register) => register.name().to_owned(),
                Subject::Memory(register, offset) => format!("[{}{offset:+#x}]", register.name()),
                Subject::Frame(offset) => format!("[cfa{offset:+}]"),
            };
            let range = format!("{:x}-{:x}", fact.begin, fact.end);
            self.variables.push(format!("{subject} = {} ({range})", spelled_place(&world.types, fact.place)));
        }
        for (location, value) in state.locations() {
            if !matches!(value, Value::Word(_)) {
                let location = match location {
                    Location::Register(register) => register.name().to_owned(),
                    Location::Slot(offset) => format!("[cfa{offset:+}]"),
                };
                self.registers.push(format!("{location} = {}", spelled_value(&world.types, code, value)));
            }
        }
    }

    fn add_operands(
        &mut self,
        types: &TypeSpace<'_, '_>,
        code: &Code,
        address: u64,
        typed: Option<&Typed<Ty>>,
    ) {
        let found = code.instructions.iter().find(|instruction| instruction.address == address);
        let memory: Vec<&Memory> = found.iter().flat_map(|instruction| instruction.memory()).collect();
        for (place, operand) in typed.iter().flat_map(|typed| &typed.operands).enumerate() {
            let written =
                memory.get(place).map_or_else(String::new, |memory| spelled_address(&memory.address));
            let target = spelled_target(types, operand.target);
            self.operands.push(format!("{written} {:?} {} bytes: {target}", operand.access, operand.size));
        }
    }
}

fn spelled_place(types: &TypeSpace<'_, '_>, place: Place) -> String {
    format!("({} {:+})", types.spelled(place.ty), place.offset)
}

fn spelled_value(types: &TypeSpace<'_, '_>, code: &Code, value: Value) -> String {
    match value {
        Value::Word(_) => "unknown".to_owned(),
        Value::Number(number) => format!("{number:#x}"),
        Value::Null => "null".to_owned(),
        Value::Stack(offset) => format!("cfa{offset:+}"),
        Value::Frame => "somewhere on the stack".to_owned(),
        Value::PerCpuOffset => "offset of a CPU's data".to_owned(),
        Value::Pointer(pointer) => {
            let mut text = match pointer.place() {
                Some(place) => spelled_place(types, place),
                None => format!("({} +?)", types.spelled(pointer.ty)),
            };
            text += &made(code, pointer.origin);
            text
        }
    }
}

fn made(code: &Code, origin: Origin) -> String {
    if origin == 0 {
        return String::new();
    }
    if let Some((block, _)) = meeting_of(origin) {
        let block = code.graph.blocks.get(block as usize);
        let first = block.and_then(|block| code.instructions.get(block.first as usize));
        return first.map_or_else(String::new, |first| format!(", met at {:x}", first.address));
    }
    if origin >= origin_of_argument(Register::RAX) {
        return ", an argument".to_owned();
    }
    let instruction = code.instructions.get(origin as usize - 1);
    instruction.map_or_else(String::new, |instruction| format!(", made at {:x}", instruction.address))
}

fn spelled_address(address: &Address) -> String {
    let mut text = match address.segment {
        Segment::Flat => String::new(),
        Segment::Fs => "fs:".to_owned(),
        Segment::Gs => "gs:".to_owned(),
    };
    text.push('[');
    if let Some(base) = address.base {
        text += base.name();
    }
    if let Some(index) = address.index {
        let _ = write!(text, "+{}*{}", index.name(), address.scale);
    }
    let _ = match address.base {
        Some(_) => write!(text, "{:+#x}]", address.displacement),
        None => write!(text, "{:#x}]", address.displacement),
    };
    text
}

fn spelled_target(types: &TypeSpace<'_, '_>, target: Target<Ty>) -> String {
    match target {
        Target::Place { ty, offset } => format!("{} +{offset}", types.spelled(ty)),
        Target::Within { ty } => format!("somewhere in {}", types.spelled(ty)),
        Target::Element { ty, offset, stride, .. } => format!("{} +{offset}+i*{stride}", types.spelled(ty)),
        Target::Unknown(reason) => format!("none ({reason}): {}", reason.meaning()),
    }
}
