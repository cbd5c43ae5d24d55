//! Context functions of a sample: callers in its call chain, and those of its last branches.
//!
//! They connect the samples of one operation even where these are far apart. Only functions that were sampled
//! themselves are known.

use crate::addresses::Linker;
use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::sample::Sample;
use fieldline_typeflow::operands::ProgramOperands;

/// From here on an entry of a call chain is a marker (`PERF_CONTEXT_MAX`, include/uapi/linux/perf_event.h).
const MARKERS: u64 = 0_u64.wrapping_sub(4095);
/// Frames and branches read. Further ones belong to earlier operations, or are the same for all.
const MAX_ENTRIES: usize = 16;

/// Callers and branches of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SampleContext {
    /// Functions, indexes of [`ProgramOperands::functions`], sorted, each once.
    pub(super) functions: Vec<u32>,
    pub(super) has_callchain: bool,
    pub(super) has_branches: bool,
}

impl SampleContext {
    /// Reads the context of a sample in function `own`.
    pub(super) fn from_sample(
        sample: &Sample<'_>,
        own: Option<u32>,
        linker: &Linker,
        answers: &ProgramOperands,
    ) -> Self {
        let mut addresses = callers(sample);
        let has_callchain = !addresses.is_empty();
        let branches = branches(sample);
        let has_branches = !branches.is_empty();
        addresses.extend(branches);
        let function = |address| {
            let linked = linker.locate(&sample.with_ip(Some(address))).ok()?;
            answers.function_at(linked.ip).filter(|function| Some(*function) != own)
        };
        let mut functions: Vec<u32> = addresses.into_iter().filter_map(function).collect();
        functions.sort_unstable();
        functions.dedup();
        Self { functions, has_callchain, has_branches }
    }
}

/// Return addresses, each less one, so that a call at the end of a function is still its own.
fn callers(sample: &Sample<'_>) -> Vec<LoadedAddress> {
    let chain = sample.callchain.iter().flat_map(|chain| chain.iter());
    // The first entry is the sampled instruction.
    let frames = chain.filter(|address| *address < MARKERS).skip(1).take(MAX_ENTRIES);
    frames.map(|address| LoadedAddress(address.saturating_sub(1))).collect()
}

fn branches(sample: &Sample<'_>) -> Vec<LoadedAddress> {
    let entries = sample.branch_stack.iter().flat_map(|stack| stack.entries());
    let entries = entries.filter(|branch| !branch.is_wrong_path).take(MAX_ENTRIES);
    entries.flat_map(|branch| [branch.from, branch.to]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::perf_data::{Attr, Endian, PerfFile, Record};
    use fieldline_perfdata::sample::SampleFields;
    use fieldline_perfdata::writer::{RecordingWriter, SampleValues};

    #[test]
    fn callers_and_branches_are_read_and_markers_are_not() {
        let fields = SampleFields::IP.0 | SampleFields::CALLCHAIN.0 | SampleFields::BRANCH_STACK.0;
        let mut recording = RecordingWriter::new(Endian::Little);
        let attr = Attr { sample_type: SampleFields(fields), ..Attr::default() };
        let event = recording.event("loads", attr, &[1]);
        let kernel_marker = 0_u64.wrapping_sub(128);
        recording.sample(
            event,
            &SampleValues {
                ip: 100,
                callchain: &[kernel_marker, 100, 205, 301],
                branches: &[[90, 96, 0], [80, 88, 0]],
                ..SampleValues::default()
            },
        );
        let file = PerfFile::from_bytes(recording.to_file()).unwrap();
        let mut records = file.records();
        while let Some(record) = records.next_record().unwrap() {
            if let Record::Sample(sample) = record {
                assert_eq!(callers(&sample), [204, 300].map(LoadedAddress));
                assert_eq!(branches(&sample), [90, 96, 80, 88].map(LoadedAddress));
                return;
            }
        }
        panic!("the sample was not read back");
    }
}
