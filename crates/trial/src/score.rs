//! A trace's cost at the addresses it really has: lines per visit, misses of modelled caches, lines that other CPUs had
//! written; by struct, by function and over all accesses.
//!
//! Nothing is moved, unlike in `simulate`: each kernel runs as it was built.
//!
//! * `machine`: the modelled machines.
//! * `accesses`: a trace's accesses with their times.
//! * `objects`: what lies at an address at a time.
//! * `recorded`: accesses of a recorded program, each with its object.
//! * `subjects`: the struct and the function of each access; visits and their lines.
//! * `caches`: all accesses through modelled caches.
//! * `figures`: what was counted, as values that `compare` reads.

mod accesses;
mod caches;
mod figures;
mod machine;
mod objects;
mod recorded;
mod subjects;

pub use figures::{ALL_ACCESSES, FigureSet, TraceFigures};
pub use machine::ScoredMachine;
pub use recorded::{RecordedAccess, RecordedAccesses, find_object};

use crate::error::{Error, Result};
use accesses::{Accesses, TimedAccess};
use fieldline_debuginfo::FileBytes;
use objects::ObjectTable;
use std::path::Path;
use subjects::{FunctionTable, Subjects};

/// The inputs of a score.
#[derive(Clone, Copy, Debug)]
pub struct TraceInput<'i> {
    /// All accesses, as `guest record --trace` writes them.
    pub trace: &'i Path,
    /// Where objects were, as `guest record --objects` writes it.
    pub objects: &'i Path,
    /// The kernel that ran, for names of functions; without it there are none.
    pub vmlinux: Option<&'i Path>,
}

/// Runs a trace through modelled caches.
///
/// # Errors
///
/// A file can't be read, or the trace has no access.
pub fn score(input: TraceInput<'_>, structs: &[String], machine: &ScoredMachine) -> Result<TraceFigures> {
    let file = FileBytes::open(input.trace).map_err(Error::debug_info)?;
    let accesses = Accesses::new(&file)?;
    let objects = ObjectTable::read(input.objects, structs)?;
    let functions = input.vmlinux.map(FunctionTable::read).transpose()?.unwrap_or_default();
    let find = |_, access: &TimedAccess| {
        objects.find(access.address, access.time).map(|(number, object)| (number, object.struct_index))
    };
    let subjects = Subjects::find(&accesses, find, &functions, (machine, structs.len()));
    Ok(figures(&accesses, &subjects, structs, machine))
}

/// Runs accesses of a recorded program through modelled caches. A visit ends at a break of the recording: a pause of more
/// than `longest_pause` nanoseconds. `program` has names of functions.
///
/// # Errors
///
/// The program can't be read, or there is no access.
pub fn score_recorded(
    recorded: &RecordedAccesses,
    program: &Path,
    longest_pause: u64,
    structs: &[String],
    machine: &ScoredMachine,
) -> Result<TraceFigures> {
    let functions = FunctionTable::read(program)?;
    let file = recorded.to_trace();
    let accesses = Accesses::with_breaks(&file, longest_pause)?;
    let subjects =
        Subjects::find(&accesses, |number, _| recorded.object(number), &functions, (machine, structs.len()));
    Ok(figures(&accesses, &subjects, structs, machine))
}

fn figures(
    accesses: &Accesses<'_>,
    subjects: &Subjects,
    structs: &[String],
    machine: &ScoredMachine,
) -> TraceFigures {
    let counts = caches::count(accesses, subjects, (machine, structs.len()));
    TraceFigures::new(subjects, &counts, structs, machine)
}
