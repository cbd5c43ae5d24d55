//! What is said of an instruction, its operands, and the way to an answer.

use crate::operands::target::{Target, TypeEntry};
use fieldline_machinecode::machine::AccessKind;

/// A place on the way by which a register got its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayStep {
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
    pub way: Vec<WayStep>,
}
