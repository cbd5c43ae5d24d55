//! One pass over a recording's records: its counts, CPUs and times.

use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::perf_data::{Error, Record, RecordCounts};
use fieldline_perfdata::sample::{CpuMode, Sample};
use fieldline_perfdata::sample_file::SampleFile;
use serde::Serialize;
use std::collections::BTreeMap;

/// More CPUs than any machine has.
const CPU_LIMIT: usize = 1 << 16;

/// The program whose structs are asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExaminedProgram {
    /// It is a kernel.
    pub is_kernel: bool,
    /// Where its text lies as linked: first address and the one behind the last.
    #[serde(skip)]
    pub text: Vec<(u64, u64)>,
}

impl ExaminedProgram {
    fn contains(&self, address: u64) -> bool {
        self.text.iter().any(|(start, end)| *start <= address && address < *end)
    }
}

/// Counts over a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingSummary {
    /// Counts over all records.
    pub counts: RecordCounts,
    /// Samples by CPU.
    pub cpus: BTreeMap<u32, u64>,
    /// Times of the first and the last sample, in nanoseconds.
    pub times: Option<(u64, u64)>,
    /// Samples of kernel code that lie in the text of the program asked about, as linked.
    pub samples_in_text: u64,
    /// An instruction of the kernel.
    pub kernel_ip: Option<LoadedAddress>,
}

/// Reads all records.
///
/// # Errors
/// If a record can't be read.
pub fn summarize(file: &SampleFile, program: Option<&ExaminedProgram>) -> Result<RecordingSummary, Error> {
    let mut summary = RecordingSummary { counts: RecordCounts::new(file.facts()), ..Default::default() };
    let mut records = file.records();
    while let Some(record) = records.next_record()? {
        summary.counts.add(&record);
        if let Record::Sample(sample) = &record {
            summary.add(sample, program);
        }
    }
    Ok(summary)
}

impl RecordingSummary {
    fn add(&mut self, sample: &Sample<'_>, program: Option<&ExaminedProgram>) {
        if let Some(cpu) = sample.cpu.filter(|cpu| self.cpus.len() < CPU_LIMIT || self.cpus.contains_key(cpu))
        {
            *self.cpus.entry(cpu).or_default() += 1;
        }
        if let Some(time) = sample.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        if let Some(ip) = sample.ip.filter(|_| sample.cpu_mode == CpuMode::Kernel) {
            self.kernel_ip.get_or_insert(ip);
            self.samples_in_text += u64::from(program.is_some_and(|program| program.contains(ip.0)));
        }
    }

    /// Seconds from the first to the last sample.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        let (first, last) = self.times?;
        Some((last - first) as f64 / 1e9).filter(|seconds| *seconds > 0.0)
    }
}
