//! Makes a recording with branch stacks of a trace of a kernel's accesses (docs/formats.md, Traces): `stacks VMLINUX TRACE
//! OUT DEPTH EVERY`.
//!
//! Accesses that instructions made one behind the other, without any that always leads elsewhere and without another access
//! between, are a run. Branches taken between two accesses that skip no access are not seen, so stacks of a
//! processor reach less far back than these of the same depth.

#![allow(clippy::print_stderr, reason = "an example shows")]

use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Flow, Instruction};
use fieldline_perfdata::perf_data::{Attr, Endian};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::writer::{RecordingWriter, SampleValues};
use fieldline_typeflow::program::Program;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// What was executed of a CPU without a branch that was taken, as far as accesses tell.
#[derive(Default)]
struct Cpu {
    /// First and last instruction of the run that goes on.
    run: Option<(u64, u64)>,
    /// Where the run before ended.
    end: u64,
    stack: VecDeque<[u64; 3]>,
    closed: u64,
}

/// Functions, decoded when they are needed.
struct Code<'p, 'a> {
    program: &'p Program<'a>,
    reader: InstructionReader,
    /// By function: its instructions.
    functions: BTreeMap<u64, BTreeMap<u64, Instruction>>,
}

impl Code<'_, '_> {
    fn function(&mut self, ip: u64) -> Option<&BTreeMap<u64, Instruction>> {
        let symbol = self.program.symbols.function_at(ip)?;
        let (begin, end) = (symbol.address, symbol.address + symbol.size);
        Some(self.functions.entry(begin).or_insert_with(|| {
            let code = self.reader.read_all(begin, self.program.image.code(begin, end));
            code.into_iter().map(|one| (one.address, self.program.helpers.resolve(one))).collect()
        }))
    }

    /// Whether the next instruction behind one that touches memory is another, with nothing but straight code between.
    fn goes_on(&mut self, last: u64, ip: u64) -> bool {
        let Some(code) = self.function(last) else { return false };
        let mut behind = code.range(last..);
        let leads = |one: &Instruction| !matches!(one.flow, Flow::Next | Flow::Branch(_));
        if behind.next().is_none_or(|(_, one)| leads(one)) {
            return false;
        }
        for (at, one) in behind {
            if one.memory().next().is_some() {
                return *at == ip;
            }
            if leads(one) {
                return false;
            }
        }
        false
    }

    /// Where a run ends whose last access an instruction made: there if it is a branch, else at the next instruction.
    fn end(&mut self, last: u64) -> u64 {
        let instruction = self.function(last).and_then(|code| code.get(&last).copied());
        instruction.map_or(last, |one| if one.flow == Flow::Next { one.end() } else { last })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [vmlinux, trace, out, depth, every] = &args[..] else { return Err("see the first lines".into()) };
    let (depth, every): (usize, u64) = (depth.parse()?, every.parse()?);
    let file = FileBytes::open(Path::new(vmlinux))?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    let dwarf = Dwarf::new(&sections)?;
    let program = Program::new(&elf, &dwarf)?;
    let reader = InstructionReader::new(program.architecture);
    let mut code = Code { program: &program, reader, functions: BTreeMap::new() };
    let mut recording = RecordingWriter::new(Endian::Little);
    recording.arch("x86_64");
    let fields = SampleFields::IP | SampleFields::TID | SampleFields::TIME | SampleFields::CPU;
    let sample_type = fields | SampleFields::PERIOD | SampleFields::BRANCH_STACK;
    let attr = Attr { kind: 4, sample_type, branch_sample_type: 1 << 3 | 1 << 1, ..Attr::default() };
    let event = recording.event("branches:k", attr, &[]);
    let mut cpus: BTreeMap<u8, Cpu> = BTreeMap::new();
    let (mut runs, mut samples) = (0_u64, 0_u64);
    for (time, row) in std::fs::read(trace)?.chunks_exact(16).enumerate() {
        if row[13] & 0x7f >= 0x7c {
            continue;
        }
        let ip = 0xffff_ffff_0000_0000 | u64::from(u32::from_le_bytes(row[8..12].try_into()?));
        let cpu = cpus.entry(row[12]).or_default();
        match cpu.run {
            Some((_, last)) if last == ip => continue,
            Some((begin, last)) if code.goes_on(last, ip) => cpu.run = Some((begin, ip)),
            before => {
                cpu.run = Some((ip, ip));
                let Some((_, last)) = before else { continue };
                cpu.end = code.end(last);
                cpu.stack.push_front([cpu.end, ip, 0]);
                cpu.stack.truncate(depth);
                (runs, cpu.closed) = (runs + 1, cpu.closed + 1);
                // Each CPU's own count, begun at another number.
                if (cpu.closed + 37 * u64::from(row[12])).is_multiple_of(every) {
                    samples += 1;
                    let values = SampleValues {
                        cpu_mode: CpuMode::Kernel,
                        ip,
                        pid: 1,
                        tid: 1,
                        time: 5 * time as u64,
                        cpu: u32::from(row[12]),
                        period: every,
                        branches: cpu.stack.make_contiguous(),
                        ..SampleValues::default()
                    };
                    recording.sample(event, &values);
                }
            }
        }
    }
    eprintln!("{runs} runs, {samples} stacks");
    std::fs::write(out, recording.to_file())?;
    Ok(())
}
