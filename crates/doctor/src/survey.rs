//! One pass over a recording's records: its tally, and what the exam asks besides.

use crate::Program;
use fieldline_perfdata::perf_data::{Error, Record, Tally};
use fieldline_perfdata::sample::{CpuMode, Sample};
use fieldline_perfdata::sample_file::SampleFile;
use std::collections::BTreeMap;

/// More CPUs than any machine has.
const CPU_LIMIT: usize = 1 << 16;

/// Counts over a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// What every reader counts.
    pub tally: Tally,
    /// Samples by CPU.
    pub cpus: BTreeMap<u32, u64>,
    /// Times of the first and the last sample, in nanoseconds.
    pub times: Option<(u64, u64)>,
    /// Samples of kernel code that lie in the text of the program asked about, as linked.
    pub in_text: u64,
    /// An instruction of the kernel.
    pub kernel_ip: Option<u64>,
}

/// Goes over all records.
///
/// # Errors
/// If a record can't be read.
pub fn survey(file: &SampleFile, program: Option<&Program>) -> Result<Survey, Error> {
    let mut survey = Survey { tally: Tally::new(file.facts()), ..Survey::default() };
    let mut records = file.records();
    while let Some(record) = records.next_record()? {
        survey.tally.add(&record);
        if let Record::Sample(sample) = &record {
            survey.add(sample, program);
        }
    }
    Ok(survey)
}

impl Survey {
    fn add(&mut self, sample: &Sample<'_>, program: Option<&Program>) {
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
            self.in_text += u64::from(program.is_some_and(|program| program.has(ip)));
        }
    }

    /// Seconds from the first to the last sample.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        let (first, last) = self.times?;
        Some((last - first) as f64 / 1e9).filter(|seconds| *seconds > 0.0)
    }
}
