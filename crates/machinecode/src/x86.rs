//! x86-64 machine code to [`Instruction`]s, and to text. Nothing else knows the decoder library for it.

pub(crate) mod text;

use crate::machine::{
    AccessKind, Address, AddressSegment, Callee, Effect, Flow, Instruction, MemoryOperand, Register,
    Registers, ValueSource,
};
use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction as Iced, InstructionInfo,
    InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register as IcedRegister, UsedRegister,
};

/// Decodes instructions; keeps state of the library between calls.
pub(super) struct X86Reader(InstructionInfoFactory);

impl X86Reader {
    pub(super) fn new() -> Self {
        Self(InstructionInfoFactory::new())
    }

    /// All instructions of some code; see [`crate::insn::InstructionReader::read_all`].
    pub(super) fn read_all(&mut self, address: u64, code: &[u8]) -> Vec<Instruction> {
        let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let mut iced = Iced::default();
        // Four bytes is about the mean length of an instruction.
        let mut instructions = Vec::with_capacity(code.len() / 4);
        while decoder.can_decode() {
            let (position, at) = (decoder.position(), decoder.ip());
            decoder.decode_out(&mut iced);
            if iced.is_invalid() {
                instructions.push(Instruction::new(at, 1, Flow::Stop));
                if decoder.set_position(position + 1).is_err() {
                    break;
                }
                decoder.set_ip(at.wrapping_add(1));
                continue;
            }
            instructions.push(self.convert(&iced));
        }
        instructions
    }

    /// The instruction at the beginning of some code; `None` if there is none.
    pub(super) fn read(&mut self, address: u64, code: &[u8]) -> Option<Instruction> {
        let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let iced = decoder.decode();
        (!iced.is_invalid()).then(|| self.convert(&iced))
    }

    fn convert(&mut self, iced: &Iced) -> Instruction {
        let mut instruction = Instruction::new(iced.ip(), iced.len() as u8, flow(iced));
        let info = self.0.info(iced);
        instruction.written = written_registers(info);
        memory_operands(iced, info).for_each(|memory| instruction.add_memory_operand(memory));
        instruction.effect = effect(iced, &instruction);
        instruction.tested_register = tested_register(iced);
        instruction.taken_if_zero = match iced.mnemonic() {
            Mnemonic::Je => Some(true),
            Mnemonic::Jne => Some(false),
            _ => None,
        };
        // The effect or flow says what happens to the stack pointer.
        if matches!(instruction.effect, Effect::Push { .. } | Effect::Pop { .. } | Effect::Leave)
            || matches!(instruction.flow, Flow::Call(_) | Flow::Return)
        {
            instruction.written.remove(Register::RSP);
        }
        instruction
    }
}

/// The 64-bit register that holds a register, if it is general-purpose.
fn register(iced: IcedRegister) -> Option<Register> {
    iced.is_gpr().then(|| Register::new(iced.full_register().number()))?
}

fn written_registers(info: &InstructionInfo) -> Registers {
    let mut registers = Registers::default();
    let is_written = |used: &&UsedRegister| access(used.access()).is_some_and(AccessKind::is_write);
    let written = info.used_registers().iter().filter(is_written);
    registers.extend(written.filter_map(|used| register(used.register())));
    registers
}

fn access(access: OpAccess) -> Option<AccessKind> {
    match access {
        OpAccess::Read | OpAccess::CondRead => Some(AccessKind::Read),
        OpAccess::Write | OpAccess::CondWrite => Some(AccessKind::Write),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => Some(AccessKind::ReadWrite),
        OpAccess::None | OpAccess::NoMemAccess => None,
    }
}

fn memory_operands(iced: &Iced, info: &InstructionInfo) -> impl Iterator<Item = MemoryOperand> {
    let explicit = (0..iced.op_count()).any(|operand| iced.op_kind(operand) == OpKind::Memory);
    let bit_index = bit_index(iced);
    let is_repeated = iced.is_string_instruction() && (iced.has_rep_prefix() || iced.has_repne_prefix());
    info.used_memory().iter().enumerate().filter_map(move |(position, used)| {
        // The library lists the explicit operand first.
        let is_explicit = explicit && position == 0;
        let index = register(used.index());
        let bits = bit_index.filter(|_| is_explicit);
        let address = Address {
            base: register(used.base()),
            index: index.or(bits),
            scale: if index.is_none() && bits.is_some() { None } else { Some(used.scale() as u8) },
            displacement: used.displacement() as i64,
            segment: match used.segment() {
                IcedRegister::FS => AddressSegment::Fs,
                IcedRegister::GS => AddressSegment::Gs,
                _ => AddressSegment::Flat,
            },
        };
        Some(MemoryOperand {
            address,
            size: Some(used.memory_size().size() as u16).filter(|size| *size > 0),
            access: access(used.access())?,
            is_implicit: !is_explicit,
            is_repeated,
        })
    })
}

/// The register with a bit's number, of `bt` and its like: the bit lies that far from the operand.
fn bit_index(iced: &Iced) -> Option<Register> {
    let counts_bits = matches!(iced.mnemonic(), Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc);
    let in_memory = counts_bits && iced.op0_kind() == OpKind::Memory && iced.op1_kind() == OpKind::Register;
    in_memory.then(|| register(iced.op1_register()))?
}

fn flow(iced: &Iced) -> Flow {
    match iced.flow_control() {
        FlowControl::Next | FlowControl::XbeginXabortXend => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump(iced.near_branch_target()),
        FlowControl::ConditionalBranch => Flow::Branch(iced.near_branch_target()),
        FlowControl::IndirectBranch => Flow::IndirectJump(callee(iced)),
        FlowControl::IndirectCall => Flow::Call(callee(iced)),
        FlowControl::Call if is_near_branch(iced) => Flow::Call(Callee::Direct(iced.near_branch_target())),
        // `int3` pads functions and stands behind jumps that must not be run past (straight-line speculation).
        FlowControl::Interrupt if iced.mnemonic() == Mnemonic::Int3 => Flow::Stop,
        FlowControl::Call | FlowControl::Interrupt => Flow::Trap,
        FlowControl::Return => Flow::Return,
        FlowControl::Exception => Flow::Stop,
    }
}

fn is_near_branch(iced: &Iced) -> bool {
    matches!(iced.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64)
}

fn callee(iced: &Iced) -> Callee {
    match iced.op0_kind() {
        OpKind::Register => register(iced.op0_register()).map_or(Callee::Memory, Callee::Register),
        _ => Callee::Memory,
    }
}

/// The register that an instruction compares with zero: `test` with itself.
fn tested_register(iced: &Iced) -> Option<Register> {
    let is_test = iced.mnemonic() == Mnemonic::Test && iced.op1_kind() == OpKind::Register;
    wide_register(iced, 0).filter(|_| is_test && iced.op0_register() == iced.op1_register())
}

/// The 64-bit register of an operand.
fn wide_register(iced: &Iced, operand: u32) -> Option<Register> {
    operand_register(iced, operand).filter(|register| register.is_gpr64()).and_then(register)
}

fn narrow_register(iced: &Iced, operand: u32) -> Option<Register> {
    operand_register(iced, operand).filter(|register| register.is_gpr32()).and_then(register)
}

fn operand_register(iced: &Iced, operand: u32) -> Option<IcedRegister> {
    (iced.op_kind(operand) == OpKind::Register).then(|| iced.op_register(operand))
}

/// The value of an operand of 8 bytes.
fn value_source(iced: &Iced, operand: u32) -> Option<ValueSource> {
    match iced.op_kind(operand) {
        OpKind::Register => wide_register(iced, operand).map(ValueSource::Register),
        OpKind::Memory => (iced.memory_size().size() == 8).then_some(ValueSource::Memory),
        kind if is_immediate(kind) => Some(ValueSource::Number(iced.immediate(operand) as i64)),
        _ => None,
    }
}

fn is_immediate(kind: OpKind) -> bool {
    use OpKind as K;
    matches!(kind, K::Immediate8 | K::Immediate16 | K::Immediate32 | K::Immediate64)
        || matches!(kind, K::Immediate8to16 | K::Immediate8to32 | K::Immediate8to64 | K::Immediate32to64)
}

fn effect(iced: &Iced, instruction: &Instruction) -> Effect {
    let add = |number| {
        let from = ValueSource::Number(number);
        wide_register(iced, 0).map(|to| Effect::Add { to, left: to, from, subtract: false })
    };
    let exchange = |register| Effect::Exchange { register, is_plain: false };
    let known = match iced.mnemonic() {
        Mnemonic::Mov => move_effect(iced, instruction),
        Mnemonic::Lea => wide_register(iced, 0).map(|to| Effect::Lea { to, address: encoded_address(iced) }),
        Mnemonic::Add => add_effect(iced, false),
        Mnemonic::Sub => zeroing_effect(iced).or_else(|| add_effect(iced, true)),
        Mnemonic::Imul => multiply_effect(iced),
        Mnemonic::Shl => shift_effect(iced),
        Mnemonic::Inc => add(1),
        Mnemonic::Dec => add(-1),
        Mnemonic::And => and_effect(iced),
        Mnemonic::Xor => zeroing_effect(iced),
        Mnemonic::Xchg => xchg_effect(iced),
        Mnemonic::Xadd => wide_register(iced, 1).map(exchange),
        Mnemonic::Cmpxchg => cmpxchg_effect(iced),
        Mnemonic::Push => Some(Effect::Push { from: value_source(iced, 0).unwrap_or(ValueSource::Memory) }),
        Mnemonic::Pop => Some(Effect::Pop { to: wide_register(iced, 0) }),
        Mnemonic::Pushfq => Some(Effect::Push { from: ValueSource::Memory }),
        Mnemonic::Popfq => Some(Effect::Pop { to: None }),
        Mnemonic::Leave => Some(Effect::Leave),
        // Of instructions with a condition only `cmov` writes a wide register.
        _ if iced.condition_code() != ConditionCode::None => conditional_move_effect(iced),
        _ => None,
    };
    known.unwrap_or(Effect::Other)
}

fn encoded_address(iced: &Iced) -> Address {
    let (base, displacement) = (register(iced.memory_base()), iced.memory_displacement64() as i64);
    let (index, scale) = (register(iced.memory_index()), Some(iced.memory_index_scale() as u8));
    Address { index, scale, ..Address::flat(base, displacement) }
}

fn conditional_move_effect(iced: &Iced) -> Option<Effect> {
    let (to, from) = (wide_register(iced, 0)?, value_source(iced, 1)?);
    Some(Effect::Choose { to, either: ValueSource::Register(to), or: from })
}

fn move_effect(iced: &Iced, instruction: &Instruction) -> Option<Effect> {
    if iced.op0_kind() == OpKind::Memory {
        // A store of fewer bytes only overwrites the value there, and so needs no source.
        let from = value_source(iced, 1).unwrap_or(ValueSource::Memory);
        return instruction.explicit_operand().map(|_| Effect::Store { from });
    }
    if let Some(to) = wide_register(iced, 0) {
        return value_source(iced, 1).map(|from| Effect::Move { to, from, is_narrow: false });
    }
    let to = narrow_register(iced, 0)?;
    let from = match iced.op1_kind() {
        OpKind::Register => ValueSource::Register(narrow_register(iced, 1)?),
        OpKind::Memory => return None,
        _ => ValueSource::Number(i64::from(iced.immediate(1) as u32)),
    };
    Some(Effect::Move { to, from, is_narrow: true })
}

fn add_effect(iced: &Iced, subtract: bool) -> Option<Effect> {
    let to = wide_register(iced, 0)?;
    Some(Effect::Add { to, left: to, from: value_source(iced, 1)?, subtract })
}

/// `imul` with a number.
fn multiply_effect(iced: &Iced) -> Option<Effect> {
    let (to, from) = (wide_register(iced, 0)?, value_source(iced, 1)?);
    let ValueSource::Number(factor) = (iced.op_count() == 3).then(|| value_source(iced, 2))?? else {
        return None;
    };
    Some(Effect::Multiply { to, from, factor: u32::try_from(factor).ok()? })
}

fn shift_effect(iced: &Iced) -> Option<Effect> {
    let to = wide_register(iced, 0)?;
    let ValueSource::Number(bits) = value_source(iced, 1)? else { return None };
    let factor = 1_u32.checked_shl(u32::try_from(bits).ok()?)?;
    Some(Effect::Multiply { to, from: ValueSource::Register(to), factor })
}

/// `xor` and `sub` of a register with itself make zero.
fn zeroing_effect(iced: &Iced) -> Option<Effect> {
    let both = iced.op0_kind() == OpKind::Register && iced.op1_kind() == OpKind::Register;
    let same = both && iced.op0_register() == iced.op1_register();
    let to = wide_register(iced, 0).or_else(|| narrow_register(iced, 0)).filter(|_| same)?;
    Some(Effect::Move { to, from: ValueSource::Number(0), is_narrow: false })
}

fn and_effect(iced: &Iced) -> Option<Effect> {
    let to = wide_register(iced, 0)?;
    let ValueSource::Number(mask) = value_source(iced, 1)? else { return None };
    Some(Effect::And { to, source: to, mask })
}

fn xchg_effect(iced: &Iced) -> Option<Effect> {
    match (iced.op0_kind(), iced.op1_kind()) {
        (OpKind::Register, OpKind::Register) => {
            Some(Effect::Swap { a: wide_register(iced, 0)?, b: wide_register(iced, 1)? })
        }
        (OpKind::Memory, _) => Some(Effect::Exchange { register: wide_register(iced, 1)?, is_plain: true }),
        _ => Some(Effect::Exchange { register: wide_register(iced, 0)?, is_plain: true }),
    }
}

/// rax gets the value in memory, whether or not it was exchanged.
fn cmpxchg_effect(iced: &Iced) -> Option<Effect> {
    let is_wide = iced.op0_kind() == OpKind::Memory && wide_register(iced, 1).is_some();
    is_wide.then_some(Effect::Exchange { register: Register::RAX, is_plain: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Architecture;

    fn decode_one(code: &[u8]) -> Instruction {
        let mut reader = X86Reader::new();
        let all = reader.read_all(0x1000, code);
        assert_eq!(all.len(), 1, "{all:?}");
        all[0]
    }

    fn register(name: &str) -> Register {
        let all = (0..16).filter_map(Register::new);
        all.into_iter().find(|register| Architecture::X86_64.register_name(*register) == name).unwrap()
    }

    #[test]
    fn string_instructions_with_a_prefix_are_repeated() {
        let is_repeated = |code: &[u8]| {
            decode_one(code).memory_operands().map(|memory| memory.is_repeated).collect::<Vec<_>>()
        };
        // rep stosq; rep movsq; movsq; and what has the same prefix and is no string instruction: pause-like `rep ret`.
        assert_eq!(is_repeated(&[0xf3, 0x48, 0xab]), [true]);
        assert_eq!(is_repeated(&[0xf3, 0x48, 0xa5]), [true, true]);
        assert_eq!(is_repeated(&[0x48, 0xa5]), [false, false]);
        assert_eq!(is_repeated(&[0xf3, 0xc3]), [false]);
    }

    #[test]
    fn a_load_names_its_operand() {
        // mov rax, [rdi+0x138]
        let load = decode_one(&[0x48, 0x8b, 0x87, 0x38, 0x01, 0, 0]);
        let memory = load.explicit_operand().unwrap();
        assert_eq!(memory.address.base, Some(Register::RDI));
        assert_eq!(
            (memory.address.displacement, memory.size, memory.access),
            (0x138, Some(8), AccessKind::Read)
        );
        assert_eq!(
            load.effect,
            Effect::Move { to: Register::RAX, from: ValueSource::Memory, is_narrow: false }
        );
        assert!(load.written.contains(Register::RAX));
    }

    #[test]
    fn products_by_a_number_are_followed() {
        let multiply = |to, from, factor| Effect::Multiply { to, from: ValueSource::Register(from), factor };
        // imul rax, rdi, 24; shl rcx, 4; imul rax, rdi
        let [by_number, shifted, by_register] =
            [&[0x48, 0x6b, 0xc7, 24][..], &[0x48, 0xc1, 0xe1, 4], &[0x48, 0x0f, 0xaf, 0xc7]];
        assert_eq!(decode_one(by_number).effect, multiply(Register::RAX, Register::RDI, 24));
        assert_eq!(decode_one(shifted).effect, multiply(Register::RCX, Register::RCX, 16));
        assert_eq!(decode_one(by_register).effect, Effect::Other);
    }

    #[test]
    fn per_cpu_addresses_are_absolute_in_their_segment() {
        // decl gs:[rip+0x10]
        let decrement = decode_one(&[0x65, 0xff, 0x0d, 0x10, 0, 0, 0]);
        let memory = decrement.explicit_operand().unwrap();
        assert_eq!((memory.address.base, memory.address.displacement), (None, 0x1000 + 7 + 0x10));
        assert_eq!(
            (memory.address.segment, memory.access, memory.size),
            (AddressSegment::Gs, AccessKind::ReadWrite, Some(4))
        );
    }

    #[test]
    fn a_call_through_memory_reads_it_and_pushes() {
        // call [rax+0x18]
        let call = decode_one(&[0xff, 0x50, 0x18]);
        assert_eq!(call.flow, Flow::Call(Callee::Memory));
        let load = call.sampled_operand(Some(false)).unwrap();
        assert_eq!((load.address.base, load.address.displacement), (Some(Register::RAX), 0x18));
        let store = call.sampled_operand(Some(true)).unwrap();
        assert_eq!((store.address.base, store.is_implicit), (Some(Register::RSP), true));
        assert!(!call.written.contains(Register::RSP));
    }

    #[test]
    fn push_and_pop_touch_the_stack() {
        let push = decode_one(&[0x41, 0x55]);
        assert_eq!(push.effect, Effect::Push { from: ValueSource::Register(register("r13")) });
        let memory = push.memory_operands().next().unwrap();
        assert_eq!((memory.address.base, memory.address.displacement), (Some(Register::RSP), -8));
        assert!(memory.is_implicit && memory.access == AccessKind::Write);
        let pop = decode_one(&[0x5d]);
        assert_eq!(pop.effect, Effect::Pop { to: Some(Register::RBP) });
        assert_eq!(pop.memory_operands().next().unwrap().address.displacement, 0);
    }

    #[test]
    fn locked_and_bit_operations_read_and_write() {
        // lock add [rcx+0x100], rdx; lock cmpxchg [rdi], edx; bts [rdi], rax
        let add = decode_one(&[0xf0, 0x48, 0x01, 0x91, 0, 1, 0, 0]);
        assert_eq!(add.explicit_operand().unwrap().access, AccessKind::ReadWrite);
        let exchange = decode_one(&[0xf0, 0x0f, 0xb1, 0x17]);
        assert_eq!(exchange.explicit_operand().unwrap().size, Some(4));
        assert!(exchange.written.contains(Register::RAX));
        let bits = decode_one(&[0x48, 0x0f, 0xab, 0x07]);
        let memory = bits.explicit_operand().unwrap();
        assert_eq!((memory.address.index, memory.address.scale), (Some(Register::RAX), None));
    }

    #[test]
    fn zero_is_a_number_however_it_is_made() {
        let zero = |to| Effect::Move { to, from: ValueSource::Number(0), is_narrow: false };
        assert_eq!(decode_one(&[0x31, 0xc0]).effect, zero(Register::RAX));
        assert_eq!(decode_one(&[0x48, 0x29, 0xff]).effect, zero(Register::RDI));
        // mov edi, 0xffff0000 does not extend the sign; mov rdx, imm32 does.
        let narrow = decode_one(&[0xbf, 0, 0, 0xff, 0xff]).effect;
        let number = ValueSource::Number(0xffff_0000);
        assert_eq!(narrow, Effect::Move { to: Register::RDI, from: number, is_narrow: true });
        let wide = decode_one(&[0x48, 0xc7, 0xc2, 0x90, 0xf1, 0x10, 0x81]).effect;
        let number = ValueSource::Number(0xffff_ffff_8110_f190_u64 as i64);
        assert_eq!(wide, Effect::Move { to: Register::RDX, from: number, is_narrow: false });
    }

    #[test]
    fn nops_and_lea_touch_nothing() {
        assert_eq!(decode_one(&[0x0f, 0x1f, 0x44, 0, 0]).memory_operands().count(), 0);
        // lea rax, [rdi+0x80]
        let lea = decode_one(&[0x48, 0x8d, 0x87, 0x80, 0, 0, 0]);
        let Effect::Lea { to, address } = lea.effect else {
            panic!("{lea:?}");
        };
        assert_eq!((to, address.base, address.displacement), (Register::RAX, Some(Register::RDI), 0x80));
        assert_eq!(lea.memory_operands().count(), 0);
    }

    #[test]
    fn a_test_for_zero_and_the_branch_on_it_are_known() {
        let mut reader = X86Reader::new();
        // test rax, rax; je; test eax, eax; jne
        let all = reader.read_all(0, &[0x48, 0x85, 0xc0, 0x74, 0x10, 0x85, 0xc0, 0x75, 0x10]);
        let tests: Vec<_> =
            all.iter().map(|instruction| (instruction.tested_register, instruction.taken_if_zero)).collect();
        let expected = [(Some(Register::RAX), None), (None, Some(true)), (None, None), (None, Some(false))];
        assert_eq!(tests, expected);
    }

    #[test]
    fn garbage_is_stepped_over() {
        let mut reader = X86Reader::new();
        let all = reader.read_all(0x1000, &[0x06, 0x90, 0x48]);
        assert_eq!(
            all.iter().map(|instruction| instruction.flow).collect::<Vec<_>>(),
            [Flow::Stop, Flow::Next, Flow::Stop]
        );
        assert_eq!(all[1].address, 0x1001);
        assert_eq!(reader.read(0, &[]), None);
    }
}
