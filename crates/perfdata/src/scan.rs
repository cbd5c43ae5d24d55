//! Scanning all records of a file by several threads, with results that don't depend on their number.
//!
//! Records are cut into blocks. Any thread reads a block into its own state; outputs of blocks are taken in
//! file order. No thread waits for another: the caller's takes finished outputs and reads blocks in between,
//! all others read blocks until too many outputs wait. Memory is that of these, whatever the size of the
//! file.

use crate::perf_data::{BlockRecord, Error, PerfFile, Record, RecordBlock, RecordBlocks};
use crate::sample::Sample;
use crate::sample_file::SampleFile;
use crate::script::ScriptFile;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Records of a text between two outputs.
const LINES_PER_OUTPUT: u64 = 10_000;
/// Finished blocks that may wait, for each thread.
const MAX_WAITING: usize = 4;

/// Work on the records of a file.
pub trait RecordScan: Sync {
    /// A thread's state. Its content at the end must not depend on the blocks it was given.
    type State: Send;
    /// The output of a block.
    type Output: Send;

    /// A thread's state, by its number.
    fn new_state(&self, number: usize) -> Self::State;

    /// Takes a sample. `at` grows along the file.
    fn add_sample(&self, slot: &mut Self::State, sample: &Sample<'_>, at: u64);

    /// Takes a record that is no sample.
    fn add_record(&self, slot: &mut Self::State, record: &Record<'_>) {
        let _ = (slot, record);
    }

    /// Ends a block: all its records were added.
    fn finish_block(&self, slot: &mut Self::State) -> Self::Output;
}

/// The states of threads.
type States<S> = Result<Vec<<S as RecordScan>::State>, Error>;

/// Scans all records of a file; `take` gets the outputs of blocks in file order. Returns the states of
/// threads.
///
/// # Errors
/// If a record can't be read: the first of them.
pub fn scan_records<S: RecordScan>(
    file: &SampleFile,
    with: &S,
    mut take: impl FnMut(S::Output),
) -> States<S> {
    match file {
        SampleFile::PerfData(file) => scan_blocks(file, with, &mut take),
        SampleFile::Script(file) => scan_script(file, with, &mut take),
    }
}

fn scan_script<S: RecordScan>(file: &ScriptFile, with: &S, take: &mut impl FnMut(S::Output)) -> States<S> {
    let mut state = with.new_state(0);
    let mut records = file.records();
    let mut at = 0;
    while let Some(record) = records.next_record()? {
        match &record {
            Record::Sample(sample) => with.add_sample(&mut state, sample, at),
            other => with.add_record(&mut state, other),
        }
        at += 1;
        if at.is_multiple_of(LINES_PER_OUTPUT) {
            take(with.finish_block(&mut state));
        }
    }
    take(with.finish_block(&mut state));
    Ok(vec![state])
}

fn scan_blocks<S: RecordScan>(file: &PerfFile, with: &S, take: &mut impl FnMut(S::Output)) -> States<S> {
    let count = rayon::current_num_threads().max(1);
    let queue = BlockQueue::new(file, with, MAX_WAITING * count);
    let mut states: Vec<S::State> = (0..count).map(|number| with.new_state(number)).collect();
    let Some((own, others)) = states.split_first_mut() else { return Ok(states) };
    rayon::in_place_scope(|scope| {
        for state in others {
            scope.spawn(|_| queue.read_blocks(state));
        }
        queue.take(own, take)
    })?;
    Ok(states)
}

/// Blocks between the file and the thread that takes their outputs.
struct BlockQueue<'s, 'f, S: RecordScan> {
    file: &'f PerfFile,
    with: &'s S,
    unread: Mutex<UnreadBlocks<'f>>,
    finished: Mutex<FinishedBlocks<S::Output>>,
    /// A block was finished or taken, or no more are wanted.
    changed: Condvar,
    /// How many finished blocks may wait.
    capacity: u64,
}

struct UnreadBlocks<'f> {
    blocks: RecordBlocks<'f>,
    next: u64,
    is_over: bool,
}

struct FinishedBlocks<T> {
    outputs: BTreeMap<u64, Result<T, Error>>,
    taken: u64,
    /// How many blocks are wanted: all of the file, once their number is known, or those before an error.
    count: Option<u64>,
}

/// The next action of the thread that takes outputs.
enum ConsumerAction<T> {
    Take(Result<T, Error>),
    Read,
    Wait,
    Done,
}

impl<'s, 'f, S: RecordScan> BlockQueue<'s, 'f, S> {
    fn new(file: &'f PerfFile, with: &'s S, room: usize) -> Self {
        let unread = Mutex::new(UnreadBlocks { blocks: file.blocks(), next: 0, is_over: false });
        let finished = Mutex::new(FinishedBlocks { outputs: BTreeMap::new(), taken: 0, count: None });
        Self { file, with, unread, finished, changed: Condvar::new(), capacity: room as u64 }
    }

    /// Reads blocks until there are no more.
    fn read_blocks(&self, state: &mut S::State) {
        let _guard = StopOnPanic(self);
        let mut block = RecordBlock::default();
        while self.wait_for_room() && self.read_next(state, &mut block) {}
    }

    /// Waits until few enough blocks are finished; `false` if no more are wanted.
    fn wait_for_room(&self) -> bool {
        let is_full = |ready: &mut FinishedBlocks<S::Output>| {
            ready.count.is_none() && ready.outputs.len() as u64 >= self.capacity
        };
        let ready =
            self.changed.wait_while(lock(&self.finished), is_full).unwrap_or_else(PoisonError::into_inner);
        ready.count.is_none()
    }

    /// Reads the next block; `false` if there is none.
    fn read_next(&self, state: &mut S::State, block: &mut RecordBlock) -> bool {
        let (number, filled) = {
            let mut unread = lock(&self.unread);
            let filled = if unread.is_over { Ok(false) } else { unread.blocks.fill(block) };
            self.file.note_position(unread.blocks.position());
            let number = unread.next;
            match &filled {
                Ok(true) => unread.next += 1,
                // An error stands where the next block would.
                Err(_) => (unread.next, unread.is_over) = (number + 1, true),
                Ok(false) => unread.is_over = true,
            }
            (number, filled)
        };
        let out = match filled {
            Ok(true) => self.read_block(state, block, number),
            Ok(false) => {
                self.limit_count(number);
                return false;
            }
            Err(error) => Err(error),
        };
        lock(&self.finished).outputs.insert(number, out);
        self.changed.notify_all();
        true
    }

    fn read_block(&self, state: &mut S::State, block: &RecordBlock, number: u64) -> Result<S::Output, Error> {
        // No block has so many records.
        let mut at = number << 32;
        self.file.read_block(block, |record| {
            match record {
                BlockRecord::Sample(sample) => self.with.add_sample(state, sample, at),
                BlockRecord::Other(record) => self.with.add_record(state, record),
            }
            at += 1;
        })?;
        Ok(self.with.finish_block(state))
    }

    /// No more than so many blocks are wanted.
    fn limit_count(&self, count: u64) {
        let mut ready = lock(&self.finished);
        ready.count = Some(ready.count.map_or(count, |known| known.min(count)));
        self.changed.notify_all();
    }

    /// Takes the blocks' outputs in their order, and reads blocks while there is none to take.
    fn take(&self, state: &mut S::State, take: &mut impl FnMut(S::Output)) -> Result<(), Error> {
        let _guard = StopOnPanic(self);
        let mut block = RecordBlock::default();
        loop {
            let action = self.next_action(&mut lock(&self.finished));
            match action {
                ConsumerAction::Take(Ok(out)) => take(out),
                ConsumerAction::Take(Err(error)) => {
                    self.limit_count(0);
                    return Err(error);
                }
                ConsumerAction::Read => {
                    self.read_next(state, &mut block);
                }
                ConsumerAction::Wait => {
                    let is_idle = |ready: &mut FinishedBlocks<S::Output>| {
                        ready.count.is_none_or(|count| ready.taken < count)
                            && !ready.outputs.contains_key(&ready.taken)
                    };
                    drop(self.changed.wait_while(lock(&self.finished), is_idle));
                }
                ConsumerAction::Done => return Ok(()),
            }
        }
    }

    fn next_action(&self, ready: &mut FinishedBlocks<S::Output>) -> ConsumerAction<S::Output> {
        if let Some(out) = ready.outputs.remove(&ready.taken) {
            ready.taken += 1;
            self.changed.notify_all();
            return ConsumerAction::Take(out);
        }
        match ready.count {
            None => ConsumerAction::Read,
            Some(count) if ready.taken >= count => ConsumerAction::Done,
            Some(_) => ConsumerAction::Wait,
        }
    }
}

/// Stops all threads when one panics: nobody waits for its block.
struct StopOnPanic<'r, 's, 'f, S: RecordScan>(&'r BlockQueue<'s, 'f, S>);

impl<S: RecordScan> Drop for StopOnPanic<'_, '_, '_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.limit_count(0);
        }
    }
}

/// The state that a panicking thread left is not used: its panic goes on where threads are joined.
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

    /// Gives the instructions of samples, and counts samples by thread.
    struct Addresses {
        panics_at: u64,
    }

    impl RecordScan for Addresses {
        type State = (usize, Vec<u64>);
        type Output = Vec<u64>;

        fn new_state(&self, _number: usize) -> Self::State {
            Self::State::default()
        }

        fn add_sample(&self, slot: &mut Self::State, sample: &Sample<'_>, _at: u64) {
            let ip = sample.ip.unwrap().0;
            assert!(ip != self.panics_at, "as was asked");
            slot.0 += 1;
            slot.1.push(ip);
        }

        fn finish_block(&self, slot: &mut Self::State) -> Vec<u64> {
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

    fn scan(bytes: Vec<u8>, threads: usize, with: &Addresses) -> (Vec<u64>, Result<usize, Error>) {
        let file = SampleFile::from_bytes(bytes).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut taken = Vec::new();
        let states = pool.install(|| scan_records(&file, with, |addresses| taken.extend(addresses)));
        (taken, states.map(|slots| slots.iter().map(|slot| slot.0).sum()))
    }

    #[test]
    fn blocks_are_taken_in_order_with_any_number_of_threads() {
        let bytes = recording();
        assert!(bytes.len() > 2_000_000, "blocks enough to be out of order");
        for threads in [1, 2, 7] {
            let (taken, count) = scan(bytes.clone(), threads, &Addresses { panics_at: u64::MAX });
            assert_eq!(count.unwrap(), SAMPLES as usize);
            assert!(taken.iter().copied().eq(0..SAMPLES), "{threads} threads");
        }
    }

    #[test]
    fn the_first_error_is_returned_after_the_blocks_before_it() {
        let mut bytes = recording();
        // Sizes of records, the first of which is said to be longer than its event's fields and the second
        // less than a header.
        let at = |sample: u64| {
            let ip = sample.to_le_bytes();
            let found = bytes.windows(8).enumerate().skip(64).filter(|(_, word)| **word == ip);
            found.map(|(at, _)| at - 2).find(|at| bytes[*at..at + 2] == 24_u16.to_le_bytes()).unwrap()
        };
        let (first, second) = (at(70_001), at(95_003));
        bytes[first] = 48;
        bytes[second] = 4;
        for threads in [1, 2, 7] {
            let (taken, count) = scan(bytes.clone(), threads, &Addresses { panics_at: u64::MAX });
            let error = count.unwrap_err().to_string();
            assert!(error.contains(&format!("byte {}", first - 6 + 8 + 16)), "{error}");
            let stepped_over = SampleFile::from_bytes(bytes.clone()).unwrap().for_each_non_sample(|_| {});
            assert_eq!(stepped_over.unwrap_err().to_string(), error);
            assert!(taken.len() > 30_000 && taken.len() < 70_001, "whole blocks: {}", taken.len());
            assert!(taken.iter().copied().eq(0..taken.len() as u64), "{threads} threads");
        }
    }

    #[test]
    fn a_panic_ends_the_scan() {
        for threads in [1, 2, 7] {
            let with = Addresses { panics_at: 50_000 };
            assert!(catch_unwind(AssertUnwindSafe(|| scan(recording(), threads, &with))).is_err());
        }
    }
}
