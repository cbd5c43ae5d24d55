//! Operands in memory and written registers of the decoder are those of another decoder.
//!
//! Runs over the code of the fixtures, and over that of the kernel `FIELDLINE_VMLINUX` names, where it is set.

use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{
    AccessKind, Address, AddressSegment, Effect, Flow, Instruction, MemoryOperand, Register, Registers,
};
use std::collections::BTreeMap;
use std::path::Path;
use yaxpeax_arch::LengthedInstruction;
use yaxpeax_x86::long_mode::{
    InstDecoder, Instruction as Second, Opcode, Operand, RegSpec, Segment as SecondSegment, register_class,
};

/// The facts that are compared. Sizes are those of the explicit operand.
#[derive(Clone, Debug, PartialEq)]
struct OperandView {
    length: u64,
    explicit: Vec<(Address, u16, AccessKind)>,
    written: Option<Registers>,
}

/// The 64-bit register around a general-purpose one.
fn register(reg: RegSpec) -> Option<Register> {
    let class = reg.class();
    let number = usize::from(reg.num());
    if class == register_class::B {
        // ah, ch, dh, bh
        return Register::new(if number >= 4 { number - 4 } else { number });
    }
    let wide = [register_class::Q, register_class::D, register_class::W, register_class::RB];
    if wide.contains(&class) { Register::new(number) } else { None }
}

fn address_of(operand: &Operand, end: u64) -> Option<Address> {
    let plain = |base, index, scale, displacement| {
        Some(Address { base, index, scale: Some(scale), displacement, segment: AddressSegment::Flat })
    };
    let based = |base: RegSpec, disp: i32| match base.class() == register_class::RIP {
        true => plain(None, None, 1, end.wrapping_add_signed(i64::from(disp)) as i64),
        false => plain(register(base), None, 1, i64::from(disp)),
    };
    match *operand {
        Operand::AbsoluteU32 { addr } => plain(None, None, 1, i64::from(addr as i32)),
        Operand::AbsoluteU64 { addr } => plain(None, None, 1, addr as i64),
        Operand::MemDeref { base } => based(base, 0),
        Operand::Disp { base, disp } => based(base, disp),
        Operand::MemIndexScale { index, scale } => plain(None, register(index), scale, 0),
        Operand::MemIndexScaleDisp { index, scale, disp } => plain(None, register(index), scale, disp.into()),
        Operand::MemBaseIndexScale { base, index, scale } => plain(register(base), register(index), scale, 0),
        Operand::MemBaseIndexScaleDisp { base, index, scale, disp } => {
            plain(register(base), register(index), scale, disp.into())
        }
        _ => None,
    }
}

fn access_of(access: yaxpeax_x86::Access) -> Option<AccessKind> {
    match (access.is_read(), access.is_write()) {
        (true, true) => Some(AccessKind::ReadWrite),
        (true, false) => Some(AccessKind::Read),
        (false, true) => Some(AccessKind::Write),
        (false, false) => None,
    }
}

fn segment_of(segment: Option<SecondSegment>) -> AddressSegment {
    match segment {
        Some(SecondSegment::FS) => AddressSegment::Fs,
        Some(SecondSegment::GS) => AddressSegment::Gs,
        _ => AddressSegment::Flat,
    }
}

/// The facts as the second decoder has them.
fn second_view(second: &Second, at: u64) -> OperandView {
    let length = second.len().to_const();
    let behavior = second.behavior();
    let size = second.mem_size().and_then(|size| size.bytes_size()).unwrap_or(0);
    let mut explicit = Vec::new();
    for index in 0..second.operand_count() {
        let access = behavior.operand_access(index).and_then(access_of);
        // Its table has one entry for loads and stores: that a store reads is wrong.
        let is_mov = second.opcode() == Opcode::MOV && access == Some(AccessKind::ReadWrite);
        let access = if is_mov { Some(AccessKind::Write) } else { access };
        let address = address_of(&second.operand(index), at.wrapping_add(length));
        if let (Some(access), Some(address)) = (access, address) {
            let segment = segment_of(second.segment_override_for_op(index));
            explicit.push((Address { segment, ..address }, u16::from(size), access));
        }
    }
    let written = behavior.all_operands().ok().map(|operands| {
        let mut written = Registers::default();
        for (operand, access) in operands.iter() {
            if let Operand::Register { reg } = operand
                && access.is_write()
                && let Some(register) = register(reg)
            {
                written.insert(register);
            }
        }
        written
    });
    OperandView { length, explicit, written }
}

/// The facts as our decoder has them, in the terms of the second.
fn our_view(ours: &Instruction, is_string: bool) -> OperandView {
    // The other spells the operands of string instructions; to ours they go with the instruction.
    let explicit = ours.memory_operands().filter(|memory| !memory.is_implicit || is_string);
    let explicit = explicit.map(|memory: &MemoryOperand| {
        let mut address = memory.address;
        if address.scale.is_none() {
            // The other does not count bits.
            address.index = None;
        }
        if address.index.is_none() {
            address.scale = Some(1);
        }
        (address, memory.size.unwrap_or(0), memory.access)
    });
    OperandView { length: ours.length.into(), explicit: explicit.collect(), written: Some(ours.written) }
}

fn is_string(second: &Second) -> bool {
    use Opcode as O;
    matches!(second.opcode(), O::MOVS | O::STOS | O::LODS | O::SCAS | O::CMPS | O::INS | O::OUTS)
}

fn without_rsp(registers: Registers) -> Registers {
    let mut rest = registers;
    rest.remove(Register::RSP);
    rest
}

/// In what two views differ.
fn differences(ours: &Instruction, second: &Second) -> Vec<&'static str> {
    let (mut a, mut b) = (our_view(ours, is_string(second)), second_view(second, ours.address));
    let mut found = Vec::new();
    for view in [&mut a, &mut b] {
        view.explicit.sort_by_key(|(_, _, access)| *access);
    }
    if a.length != b.length {
        return vec!["length"];
    }
    if second.opcode() != Opcode::LEA {
        let mut differs = |word, differs: bool| found.extend(differs.then_some(word));
        differs("number of operands", a.explicit.len() != b.explicit.len());
        for ((address, size, access), (their_address, their_size, their_access)) in
            a.explicit.iter().zip(&b.explicit)
        {
            differs("address", address != their_address);
            differs("size", size != their_size);
            differs("access", access != their_access);
        }
    }
    // Ours says in another way how instructions change the stack pointer.
    let moves_stack = matches!(ours.effect, Effect::Push { .. } | Effect::Pop { .. } | Effect::Leave)
        || matches!(ours.flow, Flow::Call(_) | Flow::Return);
    let view = |registers| if moves_stack { without_rsp(registers) } else { registers };
    if let (Some(a), Some(b)) = (a.written, b.written)
        && view(a) != view(b)
    {
        found.push("written registers");
    }
    found
}

/// The comparison of the decoders over some code.
#[derive(Default)]
struct DecoderComparison {
    same: u64,
    /// Field and opcode: how many, and one of them.
    differences: BTreeMap<(&'static str, String), (u64, String)>,
}

impl DecoderComparison {
    fn compare(&mut self, address: u64, code: &[u8]) {
        let decoder = InstDecoder::default();
        for ours in InstructionReader::new(Architecture::X86_64).read_all(address, code) {
            let begin = (ours.address - address) as usize;
            let bytes = &code[begin..code.len().min(begin + 15)];
            let Ok(second) = decoder.decode_slice(bytes) else {
                let is_none = ours.flow == Flow::Stop && ours.length == 1;
                match is_none {
                    true => self.same += 1,
                    false => {
                        let opcode = format!("{:02x?}", &bytes[..bytes.len().min(3)]);
                        self.note("only ours decodes", opcode, &ours, bytes, None);
                    }
                }
                continue;
            };
            let found = differences(&ours, &second);
            self.same += u64::from(found.is_empty());
            for field in found {
                self.note(field, format!("{:?}", second.opcode()), &ours, bytes, Some(&second));
            }
        }
    }

    fn note(
        &mut self,
        field: &'static str,
        opcode: String,
        ours: &Instruction,
        bytes: &[u8],
        second: Option<&Second>,
    ) {
        let entry = self.differences.entry((field, opcode)).or_default();
        entry.0 += 1;
        if entry.0 == 1 {
            let bytes = &bytes[..usize::from(ours.length).min(bytes.len())];
            let text = second.map_or_else(String::new, |second| second.to_string());
            let theirs = second.map(|second| second_view(second, ours.address));
            entry.1 = format!(
                "{:x}: {bytes:02x?} {text}\n  {:?}\n  {theirs:?}",
                ours.address,
                our_view(ours, second.is_some_and(is_string))
            );
        }
    }

    fn compare_file(path: &Path) -> Self {
        let file = FileBytes::open(path).unwrap();
        let elf = Elf::parse(&file).unwrap();
        let mut outcome = Self::default();
        for (_, address, code) in elf.text_sections() {
            outcome.compare(address, code);
        }
        outcome
    }

    fn check(&self) {
        let explained = |field: &str, opcode: &str| {
            KNOWN_DIFFERENCES.iter().any(|(known, opcodes, _)| *known == field && opcodes.contains(&opcode))
        };
        let differ: u64 = self.differences.values().map(|(count, _)| count).sum();
        println!("{} instructions agree, {differ} differ", self.same);
        for ((field, opcode), (count, example)) in &self.differences {
            let word = if explained(field, opcode) { "known" } else { "NEW" };
            println!("{word}: {count} × {field} of {opcode}, such as {example}");
        }
        let new: Vec<_> =
            self.differences.keys().filter(|(field, opcode)| !explained(field, opcode)).collect();
        assert!(new.is_empty(), "not explained: {new:?}");
    }
}

/// Differences that are known: what differs, of which opcodes, and who is right.
const KNOWN_DIFFERENCES: &[(&str, &[&str], &str)] = &[
    ("access", &["CLFLUSH", "CLFLUSHOPT", "CLWB"], "ours: checked as a load of a byte (SDM, CLFLUSH)"),
    (
        "size",
        &["CLFLUSH", "CLFLUSHOPT", "CLWB"],
        "either: ours gives the byte that is named, the other the line",
    ),
    ("access", &["XSAVE", "XSAVEOPT"], "ours: the header is read, too (SDM volume 1, section 13.7)"),
    ("address", &["POP"], "ours: rsp counts as it is after the pop (SDM, POP)"),
    ("number of operands", &["INVLPG"], "ours: nothing is read or written"),
    (
        "number of operands",
        &["PREFETCH0", "PREFETCH1", "PREFETCH2", "PREFETCHNTA", "PREFETCHW"],
        "ours: a hint",
    ),
    ("written registers", &["MOVS", "STOS", "INS", "OUTS"], "ours: rsi, rdi and rcx move on"),
    ("size", &["BT", "BTS"], "ours: 4 bytes without REX.W"),
    ("size", &["FXSAVE", "FXRSTOR"], "ours: 512 bytes (SDM, FXSAVE)"),
    ("size", &["JMPF"], "ours: 6 bytes without REX.W"),
    ("size", &["MOVS", "STOS", "INS", "OUTS"], "either: ours gives no size where rep decides"),
    (
        "only ours decodes",
        &["[0f, 01, e8]", "[f2, 0f, 00]", "[c4, e2, 78]"],
        "ours: serialize, lkgs, tilerelease",
    ),
    ("size", &["MOVQ"], "ours: without REX.W it is movd, of 4 bytes"),
];

#[test]
fn operands_of_the_fixtures_are_those_of_another_decoder() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for name in ["attribution/idioms", "demo/shaper"] {
        let outcome = DecoderComparison::compare_file(&fixtures.join(name));
        assert!(outcome.same > 200, "{name}: {}", outcome.same);
        outcome.check();
    }
}

#[test]
fn operands_of_a_kernel_are_those_of_another_decoder() {
    let vmlinux = std::env::var_os("FIELDLINE_VMLINUX").unwrap();
    let outcome = DecoderComparison::compare_file(Path::new(&vmlinux));
    assert!(outcome.same > 1_000_000, "{}", outcome.same);
    outcome.check();
}
