//! Visits in a full trace of memory accesses: the accesses of one CPU to one object in one episode.

use super::objects::{Span, object_index_at};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// A visit is over when its CPU has made so many accesses elsewhere.
const GAP: u64 = 400;
/// Bytes of a record: address, low half of the instruction's address, CPU, flags, thread.
const RECORD: usize = 16;
/// Flags without the bit of stores from here on mark times and switches.
const MARKER_BITS: u8 = 0x7c;

/// An access of the trace: address of the data, and CPU.
#[derive(Clone, Copy)]
struct TracedAccess {
    address: u64,
    cpu: u8,
}

/// Calls back with each access of a trace file in order.
fn each_access(path: &Path, mut each: impl FnMut(TracedAccess)) -> Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut record = [0; RECORD];
    loop {
        match reader.read_exact(&mut record) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        }
        let [a, b, c, d, e, f, g, h, _, _, _, _, cpu, flags, _, _] = record;
        let address = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        if flags & 0x7f < MARKER_BITS && address != 0 {
            each(TracedAccess { address, cpu });
        }
    }
}

/// The words of an object that a visit touched: bit `n` stands for bytes `8 n ..= 8 n + 7`.
type TouchedWords = Vec<u64>;

/// Visits of the objects of one type that have not ended.
struct OpenVisits<'s> {
    spans: &'s [Span],
    /// By CPU, its accesses so far.
    clocks: Vec<u64>,
    /// By CPU and object, the clock at the last access and the words touched.
    open: Vec<Vec<(u64, TouchedWords)>>,
}

impl<'s> OpenVisits<'s> {
    fn new(spans: &'s [Span]) -> Self {
        Self { spans, clocks: Vec::new(), open: Vec::new() }
    }

    /// Adds the next access. Returns the visit that ended before it, if any.
    fn add_access(&mut self, access: TracedAccess) -> Option<TouchedWords> {
        let cpu = usize::from(access.cpu);
        if self.clocks.len() <= cpu {
            self.clocks.resize(cpu + 1, 0);
            self.open.resize(cpu + 1, vec![(0, TouchedWords::new()); self.spans.len()]);
        }
        self.clocks[cpu] += 1;
        let object = object_index_at(self.spans, access.address)?;
        let (span, now) = (self.spans[object], self.clocks[cpu]);
        let (last, words) = &mut self.open[cpu][object];
        let over = (*last > 0 && now - *last > GAP).then(|| std::mem::take(words));
        *last = now;
        words.resize(span.size.div_ceil(8 * 64) as usize, 0);
        let word = (access.address - span.base) / 8;
        words[(word / 64) as usize] |= 1 << (word % 64);
        over
    }

    /// The visits that have not ended.
    fn into_open(self) -> impl Iterator<Item = TouchedWords> {
        self.open.into_iter().flatten().map(|(_, words)| words).filter(|words| !words.is_empty())
    }
}

/// Mean number of cachelines of `line` bytes that the visits of a trace touch in the objects of one type, which do not
/// overlap and begin on lines.
pub(super) fn lines_per_visit(trace: &Path, spans: &[Span], line: u64) -> Result<f64> {
    let mut visits = OpenVisits::new(spans);
    let (mut count, mut touched) = (0, 0);
    let mut add = |words: TouchedWords| {
        count += 1;
        touched += lines(&words, line);
    };
    each_access(trace, |access| visits.add_access(access).into_iter().for_each(&mut add))?;
    visits.into_open().for_each(add);
    Ok(touched as f64 / (count as f64).max(1.0))
}

/// Number of cachelines of `line` bytes that a visit touches in an object that begins on one.
fn lines(words: &TouchedWords, line: u64) -> u64 {
    let per_line = (line / 8).clamp(1, 64);
    let mask = u64::MAX >> (64 - per_line);
    let touched = |word: &u64| (0..64 / per_line).filter(|bit| word >> (bit * per_line) & mask != 0).count();
    words.iter().map(|word| touched(word) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(accesses: &[(u64, u8)]) -> Vec<TouchedWords> {
        let spans = [Span { base: 4096, size: 256 }];
        let mut visits = OpenVisits::new(&spans);
        let mut found: Vec<TouchedWords> = accesses
            .iter()
            .filter_map(|(address, cpu)| visits.add_access(TracedAccess { address: *address, cpu: *cpu }))
            .collect();
        found.extend(visits.into_open());
        found
    }

    #[test]
    fn a_visit_ends_when_its_cpu_was_away_for_long() {
        let mut accesses = vec![(4096, 0), (4096 + 64, 0)];
        accesses.extend(std::iter::repeat_n((8, 0), GAP as usize - 1));
        accesses.push((4096 + 8, 0));
        assert_eq!(visits(&accesses), [vec![0b1_0000_0011]]);
        accesses.extend(std::iter::repeat_n((8, 0), GAP as usize));
        accesses.push((4096 + 8, 0));
        assert_eq!(visits(&accesses), [vec![0b1_0000_0011], vec![0b10]]);
    }

    #[test]
    fn accesses_of_other_cpus_neither_end_nor_join_a_visit() {
        let mut accesses = vec![(4096, 0)];
        accesses.extend(std::iter::repeat_n((8, 1), 2 * GAP as usize));
        accesses.extend([(4096 + 16, 1), (4096 + 8, 0)]);
        assert_eq!(visits(&accesses), [vec![0b11], vec![0b100]]);
    }

    #[test]
    fn lines_are_counted_once() {
        assert_eq!(lines(&vec![0b1_1000_0001, 1 << 63], 64), 3);
        assert_eq!(lines(&vec![0b1_1000_0001, 1 << 63], 128), 2);
    }
}
