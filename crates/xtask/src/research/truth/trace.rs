//! Visits in a full trace of memory accesses: what one CPU touches of one object in one go.

use super::objects::{Span, at};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Accesses of a CPU, whatever they are to, after which a visit of its is over.
const GAP: u64 = 400;
/// Bytes of a record: address, low half of the instruction's address, CPU, flags, thread.
const RECORD: usize = 16;
/// Flags without the bit of stores from here on mark times and switches.
const MARKS: u8 = 0x7c;

/// An access of the trace: address of the data, and CPU.
#[derive(Clone, Copy)]
struct Access {
    address: u64,
    cpu: u8,
}

/// Calls back with each access of a trace file in order.
fn each_access(path: &Path, mut each: impl FnMut(Access)) -> Result<()> {
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
        if flags & 0x7f < MARKS && address != 0 {
            each(Access { address, cpu });
        }
    }
}

/// What a visit touched: bit `n` stands for bytes `8 n ..= 8 n + 7` of the object.
type Words = Vec<u64>;

/// Visits of the objects of one type that go on.
struct Visits<'s> {
    spans: &'s [Span],
    /// By CPU, its accesses so far.
    clocks: Vec<u64>,
    /// By CPU and object, the clock at the last touch and what was touched.
    open: Vec<Vec<(u64, Words)>>,
}

impl<'s> Visits<'s> {
    fn new(spans: &'s [Span]) -> Self {
        Self { spans, clocks: Vec::new(), open: Vec::new() }
    }

    /// Takes the next access; gives the visit that ended before it, if one did.
    fn take(&mut self, access: Access) -> Option<Words> {
        let cpu = usize::from(access.cpu);
        if self.clocks.len() <= cpu {
            self.clocks.resize(cpu + 1, 0);
            self.open.resize(cpu + 1, vec![(0, Words::new()); self.spans.len()]);
        }
        self.clocks[cpu] += 1;
        let object = at(self.spans, access.address)?;
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
    fn rest(self) -> impl Iterator<Item = Words> {
        self.open.into_iter().flatten().map(|(_, words)| words).filter(|words| !words.is_empty())
    }
}

/// Mean number of cachelines of `line` bytes that the visits of a trace touch in the objects of one type, which do not
/// overlap and begin on lines.
pub(super) fn lines_per_visit(trace: &Path, spans: &[Span], line: u64) -> Result<f64> {
    let mut visits = Visits::new(spans);
    let (mut count, mut touched) = (0, 0);
    let mut add = |words: Words| {
        count += 1;
        touched += lines(&words, line);
    };
    each_access(trace, |access| visits.take(access).into_iter().for_each(&mut add))?;
    visits.rest().for_each(add);
    Ok(touched as f64 / (count as f64).max(1.0))
}

/// Number of cachelines of `line` bytes that a visit touches in an object that begins on one.
fn lines(words: &Words, line: u64) -> u64 {
    let per_line = (line / 8).clamp(1, 64);
    let mask = u64::MAX >> (64 - per_line);
    let touched =
        |word: &u64| (0..64 / per_line).filter(|part| word >> (part * per_line) & mask != 0).count();
    words.iter().map(|word| touched(word) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(accesses: &[(u64, u8)]) -> Vec<Words> {
        let spans = [Span { base: 4096, size: 256 }];
        let mut visits = Visits::new(&spans);
        let mut found: Vec<Words> = accesses
            .iter()
            .filter_map(|(address, cpu)| visits.take(Access { address: *address, cpu: *cpu }))
            .collect();
        found.extend(visits.rest());
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
