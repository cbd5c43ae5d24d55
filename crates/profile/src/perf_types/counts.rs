//! perf's counts by event, type and offset.

use fieldline_access::access::SampleCount;
use std::collections::BTreeMap;

/// Bytes of the largest file that is read: reports have a row a member, so they are small.
pub(super) const SIZE_LIMIT: usize = 256 << 20;

/// Why a file could not be read. The path is the caller's to add.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing of a form that perf prints.
    #[error(
        "is neither of perf report -s type,typeoff,symbol -n --stdio, nor of perf annotate --data-type -n --stdio, nor \
         a JSON of data types"
    )]
    Unknown,
    /// It is larger than any such file.
    #[error("has {size} bytes, more than the {SIZE_LIMIT} any report has")]
    TooLarge {
        /// Bytes.
        size: usize,
    },
    /// A line that can't be understood. Whoever knows the path writes `PATH:LINE: problem`.
    #[error("line {line}: {problem}")]
    Line {
        /// Which, counted from 1.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// JSON of another shape.
    #[error("broken JSON of data types: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON of another version.
    #[error("is JSON of data types of version {found}, but version 1 is read")]
    Version {
        /// The version in the file.
        found: u64,
    },
}

impl Error {
    pub(super) fn line(line: u64, problem: impl Into<String>) -> Self {
        Self::Line { line, problem: problem.into() }
    }
}

/// The form of perf's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerfOutputForm {
    /// `perf report`.
    Report,
    /// `perf annotate`.
    Annotate,
    /// JSON.
    Json,
}

/// Direction of sampled accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOperation {
    /// Loaded.
    Load,
    /// Stored.
    Store,
    /// Not in perf's output.
    Unknown,
}

impl MemoryOperation {
    pub(super) fn from_event_name(event: &str) -> Self {
        let event = event.to_ascii_lowercase();
        match (event.contains("load"), event.contains("store")) {
            (true, false) => Self::Load,
            (false, true) => Self::Store,
            _ => Self::Unknown,
        }
    }
}

/// Samples at one offset of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeCountRow {
    /// Index into [`TypeCounts::events`].
    pub event: usize,
    /// Path of the program, library or module, if known.
    pub dso: Option<String>,
    /// Its build id in hex, if known.
    pub build_id: Option<String>,
    /// The type as perf spells it, `struct NAME` or `(unknown)`.
    pub type_name: String,
    /// Bytes of the type, if known.
    pub type_size: Option<u64>,
    /// Bytes from the type's start; none for samples that perf counts to the type and to no member.
    pub offset: Option<u64>,
    /// Bytes of the member at the offset, 0 where the offset is that of the access.
    pub size: u64,
    /// The function, if known.
    pub function: Option<String>,
    /// Direction of the accesses.
    pub operation: MemoryOperation,
    /// Samples and periods; periods are 0 where perf has none.
    pub tally: SampleCount,
}

/// All counts of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeCounts {
    /// Its form.
    pub form: PerfOutputForm,
    /// Names of the events.
    pub events: Vec<String>,
    /// The counts, in file order.
    pub rows: Vec<TypeCountRow>,
    /// Events by name.
    pub(super) known_events: BTreeMap<String, usize>,
}

impl TypeCounts {
    pub(super) fn new(form: PerfOutputForm) -> Self {
        Self { form, events: Vec::new(), rows: Vec::new(), known_events: BTreeMap::new() }
    }

    /// Index of an event, which is added if it is new.
    pub(super) fn event(&mut self, name: &str) -> usize {
        *self.known_events.entry(name.to_owned()).or_insert_with(|| {
            self.events.push(name.to_owned());
            self.events.len() - 1
        })
    }
}

/// A number as perf prints offsets: `0` or `0x1f`.
pub(super) fn hexadecimal(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_tell_loads_from_stores() {
        assert_eq!(MemoryOperation::from_event_name("cpu/mem-loads,ldlat=3/P"), MemoryOperation::Load);
        assert_eq!(MemoryOperation::from_event_name("cpu/mem-stores/P"), MemoryOperation::Store);
        assert_eq!(MemoryOperation::from_event_name("ibs_op//"), MemoryOperation::Unknown);
        assert_eq!(
            MemoryOperation::from_event_name("arm_spe_0/load_filter=1,store_filter=1/"),
            MemoryOperation::Unknown
        );
    }
}
