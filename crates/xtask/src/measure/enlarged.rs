//! Recordings of any size, made by repeating a small one.

use crate::tools::shell;
use anyhow::{Context, Result, bail, ensure};
use fieldline_perfdata::perf_data::{PerfFile, Record};
use fieldline_perfdata::sample::SampleFields;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Samples between two records of finished rounds.
const SAMPLES_PER_ROUND: usize = 10_000;
/// Bytes of the recording that the bound applies to.
pub(crate) const SIZE: u64 = 1_000_000_000;
/// Offset in the file header (`struct perf_file_header`) of the offset and size of the records.
const RECORDS_AT: usize = 40;
/// `PERF_RECORD_FINISHED_ROUND` with its header.
const FINISHED_ROUND: [u8; 8] = [68, 0, 0, 0, 0, 0, 8, 0];

/// A recording of at least `bytes`: all records, then the samples repeated with later times, and a finished round after
/// each [`SAMPLES_PER_ROUND`].
pub(crate) fn enlarge_recording(recording: &Path, bytes: u64) -> Result<PathBuf> {
    let name = recording.file_name().context("no file name")?.to_string_lossy();
    let path = shell::cache()?.join("data").join(format!("{bytes}.{name}"));
    if !path.exists() {
        let part = path.with_extension("part");
        Enlarger::read(recording)?.write(bytes, &part)?;
        fs::rename(&part, &path)?;
    }
    Ok(path)
}

/// The parts of a recording.
struct Enlarger {
    file: Vec<u8>,
    records: (usize, usize),
    /// Records that are neither samples nor finished rounds.
    others: Vec<u8>,
    /// Samples with their times, in order of time.
    samples: Vec<(u64, Vec<u8>)>,
    time_at: usize,
}

impl Enlarger {
    fn read(recording: &Path) -> Result<Self> {
        let file = fs::read(recording)?;
        let parsed = PerfFile::open(recording)?;
        let (begin, size) = (word(&file, RECORDS_AT)?, word(&file, RECORDS_AT + 8)?);
        let records = (begin, begin.checked_add(size).context("no such size")?);
        ensure!(records.1 <= file.len() && size > 0, "{}: cut", recording.display());
        let (others, samples, time_at) = (Vec::new(), Vec::new(), time_at(&parsed)?);
        let mut parts = Self { records, others, samples, time_at, file };
        let mut found = parsed.records();
        while let Some(raw) = found.next_raw()? {
            let at = usize::try_from(raw.place.offset)?;
            let bytes = parts.file.get(at..at + 8 + raw.body.len()).context("a packed recording")?.to_vec();
            match parsed.parse(raw)? {
                Record::Sample(sample) => parts.samples.push((sample.time.context("no times")?, bytes)),
                Record::FinishedRound => {}
                _ => parts.others.extend(bytes),
            }
        }
        parts.samples.sort_by_key(|(time, _)| *time);
        Ok(parts)
    }

    fn write(mut self, bytes: u64, to: &Path) -> Result<()> {
        let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) else {
            bail!("no samples")
        };
        let length = last.0 - first.0 + 1000;
        let once: u64 = self.samples.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let times = bytes.div_ceil(once);
        let count = times as usize * self.samples.len();
        let rounds = (count / SAMPLES_PER_ROUND * FINISHED_ROUND.len()) as u64;
        let data = self.others.len() as u64 + times * once + rounds;
        let grown = data - (self.records.1 - self.records.0) as u64;
        self.move_features(grown)?;
        self.file[RECORDS_AT + 8..RECORDS_AT + 16].copy_from_slice(&data.to_le_bytes());
        let mut out = BufWriter::with_capacity(1 << 20, File::create(to)?);
        out.write_all(&self.file[..self.records.0])?;
        out.write_all(&self.others)?;
        let mut written = 0;
        for time in 0..times {
            for (at, bytes) in &mut self.samples {
                bytes[self.time_at..self.time_at + 8].copy_from_slice(&(*at + time * length).to_le_bytes());
                out.write_all(bytes)?;
                written += 1;
                if written % SAMPLES_PER_ROUND == 0 {
                    out.write_all(&FINISHED_ROUND)?;
                }
            }
        }
        out.write_all(&self.file[self.records.1..])?;
        Ok(out.flush()?)
    }

    /// Moves the sections of features, which follow the records: a table before them has their offsets.
    fn move_features(&mut self, by: u64) -> Result<()> {
        let bits = (72..104).map(|at| self.file[at].count_ones() as usize).sum::<usize>();
        for entry in 0..bits {
            let at = self.records.1 + 16 * entry;
            let moved = word(&self.file, at)? as u64 + by;
            self.file[at..at + 8].copy_from_slice(&moved.to_le_bytes());
        }
        Ok(())
    }
}

/// Behind the header stand the event's identifier, the instruction and the thread, if asked for.
fn time_at(file: &PerfFile) -> Result<usize> {
    let fields = file.facts().events.first().context("no events")?.attr.sample_type;
    ensure!(fields.contains(SampleFields::TIME), "samples without times");
    let before = [SampleFields::IDENTIFIER, SampleFields::IP, SampleFields::TID];
    Ok(8 + 8 * before.into_iter().filter(|field| fields.contains(*field)).count())
}

fn word(bytes: &[u8], at: usize) -> Result<usize> {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()).context("cut")?;
    Ok(usize::try_from(u64::from_le_bytes(*word))?)
}
