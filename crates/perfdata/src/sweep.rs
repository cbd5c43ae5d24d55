//! Going over all records of a file by several threads, with results that don't depend on how many there are.
//!
//! Records are cut into blocks. Each block is read by any thread into a slot of its own, what it came to is taken in the
//! order of the file. No thread waits for another: the caller's takes what is ready and reads blocks in between, all
//! others read blocks until too many wait to be taken. Memory is that of these, whatever the size of the file.

use crate::perf_data::{Block, Blocks, Error, Found, PerfFile, Record};
use crate::sample::Sample;
use crate::sample_file::SampleFile;
use crate::script::Script;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Records of a text between two results.
const LINES: u64 = 10_000;
/// Blocks that may wait to be taken, for each thread.
const WAITING: usize = 4;

/// What is done with records.
pub trait Sweep: Sync {
    /// What blocks are read into. What it holds at the end must not depend on which blocks it was given.
    type Slot: Send;
    /// What a block came to.
    type Out: Send;

    /// A slot by its number.
    fn slot(&self, number: usize) -> Self::Slot;

    /// Takes a sample. `at` grows along the file.
    fn sample(&self, slot: &mut Self::Slot, sample: &Sample<'_>, at: u64);

    /// Takes a record that is no sample.
    fn other(&self, slot: &mut Self::Slot, record: &Record<'_>) {
        let _ = (slot, record);
    }

    /// All records of a block were taken.
    fn end(&self, slot: &mut Self::Slot) -> Self::Out;
}

/// Goes over all records of a file; `take` is given what each block came to, in the order of the file. Gives the slots.
///
/// # Errors
/// If a record can't be read: the first of them.
pub fn sweep<S: Sweep>(
    file: &SampleFile,
    with: &S,
    mut take: impl FnMut(S::Out),
) -> Result<Vec<S::Slot>, Error> {
    match file {
        SampleFile::PerfData(file) => by_blocks(file, with, &mut take),
        SampleFile::Script(file) => one_by_one(file, with, &mut take),
    }
}

fn one_by_one<S: Sweep>(
    file: &Script,
    with: &S,
    take: &mut impl FnMut(S::Out),
) -> Result<Vec<S::Slot>, Error> {
    let mut slot = with.slot(0);
    let mut records = file.records();
    let mut at = 0;
    while let Some(record) = records.next_record()? {
        match &record {
            Record::Sample(sample) => with.sample(&mut slot, sample, at),
            other => with.other(&mut slot, other),
        }
        at += 1;
        if at.is_multiple_of(LINES) {
            take(with.end(&mut slot));
        }
    }
    take(with.end(&mut slot));
    Ok(vec![slot])
}

fn by_blocks<S: Sweep>(
    file: &PerfFile,
    with: &S,
    take: &mut impl FnMut(S::Out),
) -> Result<Vec<S::Slot>, Error> {
    let count = rayon::current_num_threads().max(1);
    let road = Road::new(file, with, WAITING * count);
    let mut slots: Vec<S::Slot> = (0..count).map(|number| with.slot(number)).collect();
    let Some((own, others)) = slots.split_first_mut() else { return Ok(slots) };
    rayon::in_place_scope(|scope| {
        for slot in others {
            scope.spawn(|_| road.read(slot));
        }
        road.take(own, take)
    })?;
    Ok(slots)
}

/// Blocks on their way from the file to where they are taken.
struct Road<'s, 'f, S: Sweep> {
    file: &'f PerfFile,
    with: &'s S,
    source: Mutex<Ahead<'f>>,
    ready: Mutex<Ready<S::Out>>,
    /// Something became ready, was taken, or nothing more is wanted.
    changed: Condvar,
    /// How many blocks may wait to be taken.
    room: u64,
}

struct Ahead<'f> {
    blocks: Blocks<'f>,
    next: u64,
    is_over: bool,
}

struct Ready<T> {
    outs: BTreeMap<u64, Result<T, Error>>,
    taken: u64,
    /// How many there are, when that is known; 0 if no more are wanted.
    count: Option<u64>,
}

/// What the thread that takes results does next.
enum Turn<T> {
    Take(Result<T, Error>),
    Read,
    Wait,
    Over,
}

impl<'s, 'f, S: Sweep> Road<'s, 'f, S> {
    fn new(file: &'f PerfFile, with: &'s S, room: usize) -> Self {
        Self {
            file,
            with,
            source: Mutex::new(Ahead { blocks: file.blocks(), next: 0, is_over: false }),
            ready: Mutex::new(Ready { outs: BTreeMap::new(), taken: 0, count: None }),
            changed: Condvar::new(),
            room: room as u64,
        }
    }

    /// Reads blocks until there are no more.
    fn read(&self, slot: &mut S::Slot) {
        let _guard = EndOfPanic(self);
        let mut block = Block::default();
        while self.has_room() && self.read_one(slot, &mut block) {}
    }

    /// Waits until not too many blocks are ready; `false` if no more are wanted.
    fn has_room(&self) -> bool {
        let is_full =
            |ready: &mut Ready<S::Out>| ready.count.is_none() && ready.outs.len() as u64 >= self.room;
        let ready =
            self.changed.wait_while(lock(&self.ready), is_full).unwrap_or_else(PoisonError::into_inner);
        ready.count.is_none()
    }

    /// Reads the next block; `false` if there is none.
    fn read_one(&self, slot: &mut S::Slot, block: &mut Block) -> bool {
        let (number, filled) = {
            let mut ahead = lock(&self.source);
            let filled = if ahead.is_over { Ok(false) } else { ahead.blocks.fill(block) };
            let number = ahead.next;
            match &filled {
                Ok(true) => ahead.next += 1,
                // An error stands where the next block would.
                Err(_) => (ahead.next, ahead.is_over) = (number + 1, true),
                Ok(false) => ahead.is_over = true,
            }
            (number, filled)
        };
        let out = match filled {
            Ok(true) => self.read_block(slot, block, number),
            Ok(false) => {
                self.end(number);
                return false;
            }
            Err(error) => Err(error),
        };
        lock(&self.ready).outs.insert(number, out);
        self.changed.notify_all();
        true
    }

    fn read_block(&self, slot: &mut S::Slot, block: &Block, number: u64) -> Result<S::Out, Error> {
        // No block has so many records.
        let mut at = number << 32;
        self.file.read_block(block, |record| {
            match record {
                Found::Sample(sample) => self.with.sample(slot, sample, at),
                Found::Other(record) => self.with.other(slot, record),
            }
            at += 1;
        })?;
        Ok(self.with.end(slot))
    }

    /// No more than so many blocks are wanted.
    fn end(&self, count: u64) {
        let mut ready = lock(&self.ready);
        ready.count = Some(ready.count.map_or(count, |known| known.min(count)));
        self.changed.notify_all();
    }

    /// Takes what blocks come to, in their order, and reads some while there is nothing to take.
    fn take(&self, slot: &mut S::Slot, take: &mut impl FnMut(S::Out)) -> Result<(), Error> {
        let _guard = EndOfPanic(self);
        let mut block = Block::default();
        loop {
            let turn = self.turn(&mut lock(&self.ready));
            match turn {
                Turn::Take(Ok(out)) => take(out),
                Turn::Take(Err(error)) => {
                    self.end(0);
                    return Err(error);
                }
                Turn::Read => {
                    self.read_one(slot, &mut block);
                }
                Turn::Wait => {
                    let is_idle = |ready: &mut Ready<S::Out>| {
                        ready.count.is_none_or(|count| ready.taken < count)
                            && !ready.outs.contains_key(&ready.taken)
                    };
                    drop(self.changed.wait_while(lock(&self.ready), is_idle));
                }
                Turn::Over => return Ok(()),
            }
        }
    }

    fn turn(&self, ready: &mut Ready<S::Out>) -> Turn<S::Out> {
        if let Some(out) = ready.outs.remove(&ready.taken) {
            ready.taken += 1;
            self.changed.notify_all();
            return Turn::Take(out);
        }
        match ready.count {
            None => Turn::Read,
            Some(count) if ready.taken >= count => Turn::Over,
            Some(_) => Turn::Wait,
        }
    }
}

/// A thread that panics reads no more: nobody waits for its block.
struct EndOfPanic<'r, 's, 'f, S: Sweep>(&'r Road<'s, 'f, S>);

impl<S: Sweep> Drop for EndOfPanic<'_, '_, '_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(0);
        }
    }
}

/// What a thread that panicked left is not used: its panic goes on where threads meet.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_data::{Attr, Endian};
    use crate::sample::SampleFields;
    use crate::writer::{RecordingWriter, SampleValues};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Gives the instructions of samples, and counts samples by slot.
    struct Addresses {
        panics_at: u64,
    }

    impl Sweep for Addresses {
        type Slot = (usize, Vec<u64>);
        type Out = Vec<u64>;

        fn slot(&self, _number: usize) -> Self::Slot {
            Self::Slot::default()
        }

        fn sample(&self, slot: &mut Self::Slot, sample: &Sample<'_>, _at: u64) {
            let ip = sample.ip.unwrap();
            assert!(ip != self.panics_at, "as was asked");
            slot.0 += 1;
            slot.1.push(ip);
        }

        fn end(&self, slot: &mut Self::Slot) -> Vec<u64> {
            std::mem::take(&mut slot.1)
        }
    }

    const SAMPLES: u64 = 100_000;

    fn recording() -> Vec<u8> {
        let mut recording = RecordingWriter::new(Endian::Little);
        let fields = SampleFields(SampleFields::IP.0 | SampleFields::TIME.0);
        let event = recording.event("loads", Attr { sample_type: fields, ..Attr::default() }, &[]);
        for ip in 0..SAMPLES {
            recording.sample(event, &SampleValues { ip, ..SampleValues::default() });
        }
        recording.to_file()
    }

    fn swept(bytes: Vec<u8>, threads: usize, with: &Addresses) -> (Vec<u64>, Result<usize, Error>) {
        let file = SampleFile::of_bytes(bytes).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut taken = Vec::new();
        let slots = pool.install(|| sweep(&file, with, |addresses| taken.extend(addresses)));
        (taken, slots.map(|slots| slots.iter().map(|slot| slot.0).sum()))
    }

    #[test]
    fn blocks_are_taken_in_order_with_any_number_of_threads() {
        let bytes = recording();
        assert!(bytes.len() > 2_000_000, "blocks enough to be out of order");
        for threads in [1, 2, 7] {
            let (taken, count) = swept(bytes.clone(), threads, &Addresses { panics_at: u64::MAX });
            assert_eq!(count.unwrap(), SAMPLES as usize);
            assert!(taken.iter().copied().eq(0..SAMPLES), "{threads} threads");
        }
    }

    #[test]
    fn the_first_error_is_told_and_what_is_before_is_taken() {
        let mut bytes = recording();
        // Sizes of records, the first of which is said to be longer than its event's fields and the second less than a header.
        let at = |sample: u64| {
            let ip = sample.to_le_bytes();
            let found = bytes.windows(8).enumerate().skip(64).filter(|(_, word)| **word == ip);
            found.map(|(at, _)| at - 2).find(|at| bytes[*at..at + 2] == 24_u16.to_le_bytes()).unwrap()
        };
        let (first, second) = (at(70_001), at(95_003));
        bytes[first] = 48;
        bytes[second] = 4;
        for threads in [1, 2, 7] {
            let (taken, count) = swept(bytes.clone(), threads, &Addresses { panics_at: u64::MAX });
            let error = count.unwrap_err().to_string();
            assert!(error.contains(&format!("byte {}", first - 6 + 8 + 16)), "{error}");
            let stepped_over = SampleFile::of_bytes(bytes.clone()).unwrap().each_other(|_| {});
            assert_eq!(stepped_over.unwrap_err().to_string(), error);
            assert!(taken.len() > 30_000 && taken.len() < 70_001, "whole blocks: {}", taken.len());
            assert!(taken.iter().copied().eq(0..taken.len() as u64), "{threads} threads");
        }
    }

    #[test]
    fn a_panic_ends_the_sweep() {
        for threads in [1, 2, 7] {
            let with = Addresses { panics_at: 50_000 };
            assert!(catch_unwind(AssertUnwindSafe(|| swept(recording(), threads, &with))).is_err());
        }
    }
}
