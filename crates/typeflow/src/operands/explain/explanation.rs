//! Explanations of instructions, their operands, and the history of a register's value.

use crate::operands::target::{Target, TypeEntry};
use fieldline_debuginfo::LinkedAddress;
use fieldline_machinecode::machine::AccessKind;

/// A step in the history of a register's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryStep {
    /// Where.
    pub address: LinkedAddress,
    /// The instruction, or what happens there.
    pub text: String,
    /// The register and its value after the step.
    pub value: String,
}

/// An operand in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedOperand {
    /// As it is written; empty for one that the kernel may patch in.
    pub written: String,
    /// Reads, writes or both.
    pub access: AccessKind,
    /// Bytes.
    pub size: u16,
    /// Its type and offset, or why they are unknown.
    pub target: Target<TypeEntry>,
    /// The target as text, or the reason if it is unknown.
    pub verdict: String,
    /// The meaning of the reason.
    pub meaning: Option<&'static str>,
}

/// An instruction of a function and its operands in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedInstruction {
    /// Where it stands.
    pub address: LinkedAddress,
    /// As objdump prints it.
    pub text: String,
    /// Its operands in memory.
    pub operands: Vec<ExplainedOperand>,
}

/// The explanation of an instruction's target, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The instruction.
    pub line: ExplainedInstruction,
    /// Function and offset.
    pub location: String,
    /// Source file of the unit.
    pub unit: String,
    /// Machine code in hex.
    pub bytes: String,
    /// Functions inlined there, from the outside inwards.
    pub scopes: Vec<String>,
    /// Arguments that all callers agree on, if all are known.
    pub arguments: Vec<String>,
    /// Variables whose places are known there.
    pub variables: Vec<String>,
    /// Registers and stack slots of which something is known there.
    pub registers: Vec<String>,
    /// The history of the base register's value, oldest first.
    pub base_history: Vec<HistoryStep>,
}
