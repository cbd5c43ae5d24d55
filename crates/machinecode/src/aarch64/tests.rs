use super::*;
use crate::machine::{AccessKind, Address, AddressSegment, Effect, SystemRegister, ValueSource};

fn decode_one(word: u32) -> Instruction {
    let all = AArch64Reader::default().read_all(0x1_0000, &word.to_le_bytes());
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]
}

fn x(number: usize) -> Register {
    Register::new(number).unwrap()
}

fn load(to: usize) -> Effect {
    Effect::Move { to: x(to), from: ValueSource::Memory, is_narrow: false }
}

fn based(base: usize, displacement: i64) -> Address {
    Address { base: Some(x(base)), index: None, scale: Some(1), displacement, segment: AddressSegment::Flat }
}

fn memory(instruction: &Instruction) -> (Address, u16, AccessKind) {
    let memory = instruction.explicit_operand().unwrap();
    (memory.address, memory.size.unwrap(), memory.access)
}

#[test]
fn loads_and_stores_name_their_operands() {
    // ldr x0, [x19, #0x40]; strb w1, [x2, #1]; ldur x1, [x29, #-16]; ldrsw x2, [x3]
    let loaded = decode_one(0xf940_2260);
    assert_eq!(memory(&loaded), (based(19, 0x40), 8, AccessKind::Read));
    assert_eq!((loaded.effect, loaded.written), (load(0), Registers(1)));
    assert_eq!(memory(&decode_one(0x3900_0441)), (based(2, 1), 1, AccessKind::Write));
    assert_eq!(memory(&decode_one(0xf85f_03a1)), (based(29, -16), 8, AccessKind::Read));
    let signed = decode_one(0xb980_0062);
    assert_eq!(memory(&signed), (based(3, 0), 4, AccessKind::Read));
    assert_eq!((signed.effect, signed.written), (Effect::Other, Registers(4)));
}

#[test]
fn bases_move_on_before_or_behind() {
    // stp x29, x30, [sp, #-48]!; ldp x29, x30, [sp], #48; ldr x0, [x19, #24]!; ldr x5, [x4], #8
    let push = decode_one(0xa9bd_7bfd);
    assert_eq!(memory(&push), (based(31, -48), 16, AccessKind::Write));
    let pair =
        Effect::StorePair { first: ValueSource::Register(x(29)), second: ValueSource::Register(x(30)) };
    assert_eq!((push.effect, push.writeback, push.written), (pair, Some((Register::SP, -48)), Registers(0)));
    let pop = decode_one(0xa8c3_7bfd);
    assert_eq!(memory(&pop), (based(31, 0), 16, AccessKind::Read));
    assert_eq!(pop.effect, Effect::LoadPair { first: Some(x(29)), second: Some(x(30)) });
    assert_eq!(pop.writeback, Some((Register::SP, 48)));
    let before = decode_one(0xf841_8e60);
    assert_eq!((memory(&before).0, before.writeback), (based(19, 24), Some((x(19), 24))));
    let behind = decode_one(0xf840_8485);
    assert_eq!((memory(&behind).0, behind.writeback), (based(4, 0), Some((x(4), 8))));
}

#[test]
fn indices_count_whole_or_in_part() {
    // ldr w3, [x20, x24, lsl #2]; ldr x2, [x2, w26, sxtw #3]; add x1, x4, w1, sxtw #3; add x0, x1, x2, lsl #4
    let whole = memory(&decode_one(0xb878_7a83)).0;
    assert_eq!((whole.index, whole.scale), (Some(x(24)), Some(4)));
    let part = memory(&decode_one(0xf87a_d842)).0;
    assert_eq!((part.base, part.index, part.scale), (Some(x(2)), Some(x(26)), None));
    let Effect::Lea { to, address } = decode_one(0x8b21_cc81).effect else { panic!() };
    assert_eq!((to, address.base, address.index, address.scale), (x(1), Some(x(4)), Some(x(1)), None));
    let Effect::Lea { address, .. } = decode_one(0x8b02_1020).effect else { panic!() };
    assert_eq!((address.index, address.scale), (Some(x(2)), Some(16)));
}

#[test]
fn numbers_are_made_in_parts() {
    // adrp x1, #+1 page; add x1, x1, #0x10; movz x0, #0x1234, lsl #16; movk x0, #0x5678; movn w2, #0; mov x3, xzr
    let number = |to, number| Effect::Move { to: x(to), from: ValueSource::Number(number), is_narrow: false };
    assert_eq!(decode_one(0xb000_0001).effect, number(1, 0x1_1000));
    let sum = Effect::Add { to: x(1), left: x(1), from: ValueSource::Number(0x10), subtract: false };
    assert_eq!(decode_one(0x9100_4021).effect, sum);
    assert_eq!(decode_one(0xd2a2_4680).effect, number(0, 0x1234_0000));
    let insert = Effect::Insert { to: x(0), mask: !0xffff, bits: 0x5678 };
    assert_eq!(decode_one(0xf28a_cf00).effect, insert);
    assert_eq!(decode_one(0x1280_0002).effect, number(2, 0xffff_ffff));
    assert_eq!(decode_one(0xaa1f_03e3).effect, number(3, 0));
    // mov x29, sp is an addition; mov w1, w2 clears the upper half.
    let from_stack =
        Effect::Add { to: x(29), left: Register::SP, from: ValueSource::Number(0), subtract: false };
    assert_eq!(decode_one(0x9100_03fd).effect, from_stack);
    let narrow = Effect::Move { to: x(1), from: ValueSource::Register(x(2)), is_narrow: true };
    assert_eq!(decode_one(0x2a02_03e1).effect, narrow);
}

#[test]
fn atomic_operations_read_and_write() {
    // ldadd x1, x2, [x0]; stset x22, [x23]; casal x2, x1, [x3]; swpal x26, x3, [x0]
    let added = decode_one(0xf821_0002);
    assert_eq!(memory(&added), (based(0, 0), 8, AccessKind::ReadWrite));
    assert_eq!(added.effect, Effect::Exchange { register: x(2), is_plain: false });
    let set = decode_one(0xf836_32ff);
    assert_eq!((memory(&set), set.effect), ((based(23, 0), 8, AccessKind::ReadWrite), Effect::Other));
    let compared = decode_one(0xc8e2_fc61);
    assert_eq!(compared.effect, Effect::Exchange { register: x(2), is_plain: false });
    assert!(compared.written.contains(x(2)));
    assert_eq!(memory(&decode_one(0xf8fa_8003)), (based(0, 0), 8, AccessKind::ReadWrite));
    // ldxr x2, [x0]; stxr w3, x2, [x0]
    assert_eq!(decode_one(0xc85f_7c02).effect, load(2));
    let exclusive = decode_one(0xc803_7c02);
    assert_eq!(exclusive.effect, Effect::Store { from: ValueSource::Register(x(2)) });
    assert_eq!((exclusive.written, memory(&exclusive).2), (Registers(8), AccessKind::Write));
}

#[test]
fn registers_of_the_system_hold_addresses() {
    // mrs x0, sp_el0; mrs x1, tpidr_el1; mrs x2, tpidr_el2; mrs x3, tpidr_el0; mrs x4, midr_el1
    let made = |word| match decode_one(word).effect {
        Effect::Move { from: ValueSource::System(system), .. } => Some(system),
        _ => None,
    };
    assert_eq!(made(0xd538_4100), Some(SystemRegister::CurrentTask));
    assert_eq!(made(0xd538_d081), Some(SystemRegister::CpuOffset));
    assert_eq!(made(0xd53c_d042), Some(SystemRegister::CpuOffset));
    assert_eq!(made(0xd53b_d043), Some(SystemRegister::Thread));
    assert_eq!(made(0xd538_0004), None);
}

#[test]
fn branches_know_where_they_lead_and_what_they_test() {
    // cbz x0, #+8; cbnz w1, #+8; b.eq #+8; cmp x1, #0; bl #-4; blr x2; br x3; ret; brk #0x800
    let zero = decode_one(0xb400_0040);
    assert_eq!(
        (zero.flow, zero.tested_register, zero.taken_if_zero),
        (Flow::Branch(0x1_0008), Some(x(0)), Some(true))
    );
    let narrow = decode_one(0x3500_0041);
    assert_eq!((narrow.tested_register, narrow.taken_if_zero), (None, Some(false)));
    assert_eq!(decode_one(0x5400_0040).taken_if_zero, Some(true));
    let compared = decode_one(0xf100_003f);
    assert_eq!((compared.tested_register, compared.written), (Some(x(1)), Registers(0)));
    assert_eq!(decode_one(0x97ff_ffff).flow, Flow::Call(Callee::Direct(0xfffc)));
    assert_eq!(decode_one(0xd63f_0040).flow, Flow::Call(Callee::Register(x(2))));
    assert_eq!(decode_one(0xd61f_0060).flow, Flow::IndirectJump(Callee::Register(x(3))));
    assert_eq!(decode_one(0xd65f_03c0).flow, Flow::Return);
    assert_eq!(decode_one(0xd421_0000).flow, Flow::Stop);
}

#[test]
fn garbage_is_stepped_over() {
    let all = AArch64Reader::default().read_all(0x1000, &[0, 0, 0, 0x06, 0x1f, 0x20, 0x03, 0xd5, 0, 0]);
    let flows: Vec<_> =
        all.iter().map(|instruction| (instruction.address, instruction.length, instruction.flow)).collect();
    assert_eq!(flows, [(0x1000, 4, Flow::Stop), (0x1004, 4, Flow::Next), (0x1008, 2, Flow::Stop)]);
    // SVE's ldr z0, [x0]: nothing is known of what it writes.
    let unknown = decode_one(0x8580_4000);
    assert_eq!((unknown.flow, unknown.written), (Flow::Next, ALL_REGISTERS));
}
