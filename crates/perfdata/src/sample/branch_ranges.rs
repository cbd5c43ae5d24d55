//! Straight-line ranges of branch stacks: between two branches that were taken one after the other the
//! processor took none.
//!
//! A stack lists the last branches that were taken, the youngest first (`struct perf_branch_stack` of
//! `include/linux/perf_event.h`). From where one led (`to`) to where the next one began (`from`) every
//! instruction ran once. `process_branch_stack` of `tools/perf/builtin-annotate.c` counts the same ranges,
//! and as there
//!
//! * instructions in front of the oldest branch are not known;
//! * instructions behind the youngest one are left out: the stack is read when the event's interrupt comes,
//!   which may be later than the sampled instruction, also of a precise one.
//!
//! Branches that the processor took by mistake, which AMD's stacks list (`amd_pmu_lbr_read` in
//! `arch/x86/events/amd/lbr.c`), are skipped.

use super::{Sample, SampleFields};
use crate::address::LoadedAddress;
use crate::data_source::Operation;
use crate::perf_data::Attr;
use std::collections::BTreeSet;

/// Longest range in bytes. Compilers write no code with less than a branch in so much.
const MAX_RANGE_BYTES: u64 = 1 << 12;
/// Branches read of a stack. No processor keeps more than 64 (Arm BRBE; Intel's LBR 32, AMD's 16).
const MAX_BRANCHES: usize = 1 << 10;

/// Bits of `branch_sample_type` (`enum perf_branch_sample_type_shift` of `include/uapi/linux/perf_event.h`).
mod bit {
    pub(super) const ANY: u64 = 1 << 3;
    /// Those that keep some of the branches they chose, with the words that `perf record -j` has for them.
    pub(super) const FILTERS: [(u64, &str); 3] = [(1 << 8, "in_tx"), (1 << 9, "no_tx"), (1 << 11, "stack")];
    /// Those that choose some branches and leave out others.
    pub(super) const KINDS: [(u64, &str); 7] = [
        (1 << 4, "any_call"),
        (1 << 5, "any_ret"),
        (1 << 6, "ind_call"),
        (1 << 7, "abort_tx"),
        (1 << 10, "cond"),
        (1 << 12, "ind_jmp"),
        (1 << 13, "call"),
    ];
}

/// Which branches an event's branch stacks have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchStackKind {
    /// There are none.
    Absent,
    /// They list all branches that were taken.
    Complete,
    /// They leave out some, so nothing says what ran between two of them. The words are
    /// those of `perf record -j`.
    Filtered(String),
}

impl BranchStackKind {
    /// Of an event.
    #[must_use]
    pub fn for_event(attr: &Attr) -> Self {
        let chosen = attr.branch_sample_type;
        if !attr.sample_type.contains(SampleFields::BRANCH_STACK) {
            return Self::Absent;
        }
        let words = |types: &'static [(u64, &str)]| {
            types.iter().filter(move |(bit, _)| chosen & bit != 0).map(|(_, word)| *word)
        };
        let has_any = chosen & bit::ANY != 0;
        let mut left_out: BTreeSet<&str> = words(&bit::FILTERS).collect();
        if has_any && left_out.is_empty() {
            return Self::Complete;
        }
        if !has_any {
            left_out.extend(words(&bit::KINDS));
        }
        Self::Filtered(Vec::from_iter(left_out).join(","))
    }
}

/// Instructions between two taken branches: from the first one's address to the last one's, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StraightLineRange {
    /// Where a branch led.
    pub begin: LoadedAddress,
    /// Where the next branch began: the last instruction.
    pub end: LoadedAddress,
}

impl StraightLineRange {
    /// Whether it can be one: it has addresses, goes forward and is not too long.
    #[must_use]
    pub fn is_possible(self) -> bool {
        let length = self.end.bytes_from(self.begin);
        self.begin.0 != 0 && length.is_some_and(|length| length <= MAX_RANGE_BYTES)
    }
}

/// The straight-line ranges of a sample's branch stack, the youngest first. They may be impossible.
pub fn straight_line_ranges<'a>(sample: &Sample<'a>) -> impl Iterator<Item = StraightLineRange> + 'a {
    let stack = sample.branch_stack;
    let entries = move || {
        let entries = stack.into_iter().flat_map(|stack| stack.entries().take(MAX_BRANCHES));
        entries.filter(|branch| !branch.is_wrong_path)
    };
    entries().zip(entries().skip(1)).map(|(next, prev)| StraightLineRange { begin: prev.to, end: next.from })
}

/// Whether the sample itself has an access: its address, or its operation.
#[must_use]
pub fn records_access(sample: &Sample<'_>) -> bool {
    let is_access = |operation: Operation| operation.is_load() || operation.is_store();
    sample.addr.is_some() || sample.data_source.is_some_and(|source| is_access(source.operation()))
}

/// Whether samples of an event may have an access.
#[must_use]
pub fn may_record_access(attr: &Attr) -> bool {
    attr.sample_type.intersects(SampleFields::ADDR | SampleFields::DATA_SRC)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_data::{Endian, PerfFile, Record};
    use crate::writer::{RecordingWriter, SampleValues};

    const NO_TX: u64 = 1 << 9;
    const CALL_STACK: u64 = 1 << 11;

    fn attr(chosen: u64) -> Attr {
        let sample_type = SampleFields::IP | SampleFields::BRANCH_STACK;
        Attr { sample_type, branch_sample_type: chosen, ..Attr::default() }
    }

    #[test]
    fn filtered_and_complete_branch_stacks_differ() {
        let filtered = |words: &str| BranchStackKind::Filtered(words.to_owned());
        // any,u with flags, cycles, types and an index left out or added: perf record -b.
        assert_eq!(BranchStackKind::for_event(&attr(bit::ANY | 1)), BranchStackKind::Complete);
        assert_eq!(
            BranchStackKind::for_event(&attr(bit::ANY | 1 << 4 | 0xf_c007)),
            BranchStackKind::Complete
        );
        assert_eq!(BranchStackKind::for_event(&attr(1 << 4 | 1 << 5)), filtered("any_call,any_ret"));
        assert_eq!(BranchStackKind::for_event(&attr(CALL_STACK | 1)), filtered("stack"));
        assert_eq!(BranchStackKind::for_event(&attr(bit::ANY | CALL_STACK)), filtered("stack"));
        assert_eq!(BranchStackKind::for_event(&attr(bit::ANY | NO_TX)), filtered("no_tx"));
        assert_eq!(BranchStackKind::for_event(&attr(0)), filtered(""));
        assert_eq!(BranchStackKind::for_event(&Attr::default()), BranchStackKind::Absent);
    }

    #[test]
    fn ranges_lie_between_branches() {
        let mut recording = RecordingWriter::new(Endian::Little);
        let event = recording.event("cycles", attr(bit::ANY), &[]);
        let wrong = [0x484, 0x700, 1 << 24];
        let branches = [[0x500, 0x100, 0], wrong, [0x120, 0x480, 2 << 24], [0x90, 0x118, 0], [0x9000, 0, 0]];
        recording.sample(event, &SampleValues { branches: &branches, ..SampleValues::default() });
        recording.sample(event, &SampleValues { branches: &branches[..1], ..SampleValues::default() });
        let file = PerfFile::from_bytes(recording.to_file()).unwrap();
        let (mut records, mut found) = (file.records(), Vec::new());
        while let Some(record) = records.next_record().unwrap() {
            if let Record::Sample(sample) = record {
                found.push(straight_line_ranges(&sample).collect::<Vec<_>>());
            }
        }
        let range = |begin, end| StraightLineRange { begin: LoadedAddress(begin), end: LoadedAddress(end) };
        assert_eq!(found, [vec![range(0x480, 0x500), range(0x118, 0x120), range(0, 0x90)], vec![]]);
        assert_eq!(found[0].iter().map(|range| range.is_possible()).collect::<Vec<_>>(), [true, true, false]);
        assert!(!range(0x500, 0x480).is_possible() && !range(0x100, 0x101 + MAX_RANGE_BYTES).is_possible());
        assert!(!range(0x7fff_ffff, 0xffff_ffff_8000_0000).is_possible());
    }
}
