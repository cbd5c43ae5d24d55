//! Layouts as pahole prints them, byte for byte: the form kernel engineers read and scripts parse.
//!
//! The rules are those of pahole 1.30, found by reading it and by comparing its output for every struct of a
//! kernel; docs/PARITY.md says how, and where pahole is wrong. They are spread over:
//!
//! * `printer`: the state while a type is printed.
//! * `names`: a type's name alone.
//! * `declaration`: a type with the name of what it declares, padded into columns.
//! * `facts`: offsets of members and the gaps between them.
//! * `infer`: offsets of members, packing and alignments that debug info does not state.
//! * `member`: one member's line.
//! * `body`: structs, unions and enums.
//! * `trailer`: the sums after the members.

mod body;
mod declaration;
mod facts;
mod infer;
mod member;
mod names;
mod printer;
#[cfg(test)]
mod tests;
mod text;
mod trailer;

pub(crate) use printer::{PaholeOptions, Printer};
