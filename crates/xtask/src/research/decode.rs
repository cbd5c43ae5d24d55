//! Operands in memory of a whole AArch64 program against those objdump (GNU binutils) prints.

use crate::tools::shell::{print_line, require_files};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{AccessKind, Instruction};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

mod listing;

const OBJDUMP: &str = "aarch64-linux-gnu-objdump";

/// Mnemonics whose operands differ, with the reason.
const KNOWN_DIFFERENCES: &[(&str, &str)] = &[
    ("ld1b", "SVE, of which ours says nothing"),
    ("st1b", "SVE, of which ours says nothing"),
    ("wfet", "touches no memory; ours does not know it"),
    ("wfit", "touches no memory; ours does not know it"),
];

/// A library for AArch64 with vectors, atomic operations and other code of a compiler, and its package.
pub(crate) const LIBRARY: (&str, &str) = ("/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross");

#[derive(Default)]
struct Comparison {
    instructions: u64,
    /// Of these, those that touch memory.
    same: u64,
    /// By mnemonic: count, and an example.
    differences: BTreeMap<String, (u64, String)>,
}

/// `cargo xtask decode PROGRAM`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let path = PathBuf::from(args.first().context("usage: cargo xtask decode PROGRAM")?);
    require_files(&[(OBJDUMP, "binutils-aarch64-linux-gnu")])?;
    let file = FileBytes::open(&path)?;
    let elf = Elf::parse(&file)?;
    if elf.machine() != fieldline_debuginfo::Machine::Aarch64 {
        bail!("{}: not for AArch64", path.display());
    }
    let sections = elf.text_sections();
    let mut reader = InstructionReader::new(Architecture::AArch64);
    let mut objdump = Command::new(OBJDUMP)
        .args(["-d", "--no-show-raw-insn", "-M", "no-aliases"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {OBJDUMP}"))?;
    let lines = BufReader::new(objdump.stdout.take().context("objdump prints nothing")?).lines();
    let mut comparison = Comparison::default();
    for line in lines {
        let Some(theirs) = listing::parse(&line?) else { continue };
        let bytes = sections.iter().find_map(|(_, begin, bytes)| {
            let offset = usize::try_from(theirs.address.checked_sub(*begin)?).ok()?;
            bytes.get(offset..).filter(|rest| !rest.is_empty())
        });
        let ours = bytes.and_then(|bytes| reader.read(theirs.address, bytes));
        comparison.add(&theirs, ours.as_ref());
    }
    if !objdump.wait()?.success() {
        bail!("{OBJDUMP} failed");
    }
    Ok(comparison.print())
}

impl Comparison {
    fn add(&mut self, theirs: &listing::Listed, ours: Option<&Instruction>) {
        self.instructions += 1;
        let ours = ours.map_or_else(|| "not decoded".to_owned(), format_operands);
        if ours == theirs.operand {
            self.same += u64::from(!ours.is_empty());
            return;
        }
        let entry = self.differences.entry(theirs.mnemonic.clone()).or_default();
        entry.0 += 1;
        if entry.0 == 1 {
            let listing::Listed { address, text, operand, .. } = theirs;
            entry.1 = format!("{address:x}: {text} | ours: {ours} | theirs: {operand}");
        }
    }

    fn print(&self) -> bool {
        let mut new = 0;
        for (mnemonic, (count, example)) in &self.differences {
            let known = KNOWN_DIFFERENCES.iter().find(|(known, _)| known == mnemonic);
            new += u64::from(known.is_none());
            let reason = known.map_or("NEW", |(_, reason)| *reason);
            print_line!("  {count} × {mnemonic} ({reason}), such as {example}");
        }
        let differ: u64 = self.differences.values().map(|(count, _)| count).sum();
        print_line!(
            "  {} instructions, {} operands in memory agree, {differ} differ, {new} kinds of them not explained",
            self.instructions,
            self.same
        );
        self.same > 0 && new == 0
    }
}

/// Our operand: access, bytes, address, and by how much the base moves on.
fn format_operands(ours: &Instruction) -> String {
    let Some(memory) = ours.explicit_operand() else { return String::new() };
    let access = match memory.access {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::ReadWrite => "update",
    };
    let name = |register| Architecture::AArch64.register_name(register);
    let address = &memory.address;
    let mut text = format!("{access} {} {}", memory.size.unwrap_or(0), address.base.map_or("", name));
    if let Some(index) = address.index {
        let _ = write!(text, "+{}*{}", name(index), address.scale.unwrap_or(0));
    }
    let _ = write!(text, "{:+}", address.displacement);
    if let Some((base, distance)) = ours.writeback {
        let _ = write!(text, " then {}{distance:+}", name(base));
    }
    text
}
