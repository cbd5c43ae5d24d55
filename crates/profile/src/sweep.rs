//! Going over all records of a file by several threads, with results that don't depend on how many there are.
//!
//! Records are cut into blocks. Each block is read by any thread into a slot of its own, what it came to is taken in the
//! order of the file. Memory is that of the blocks under way, whatever the size of the file.

use crate::perf_data::{Block, Error, PerfFile, Record};
use crate::sample_file::SampleFile;
use crate::script::Script;

/// Records of a text between two results.
const LINES: u64 = 10_000;

/// What is done with records.
pub(crate) trait Sweep: Sync {
    /// What blocks are read into. What it holds at the end must not depend on which blocks it was given.
    type Slot: Send;
    /// What a block came to.
    type Out: Send;

    /// A slot by its number.
    fn slot(&self, number: usize) -> Self::Slot;

    /// Takes a record. `at` grows along the file.
    fn record(&self, slot: &mut Self::Slot, record: &Record<'_>, at: u64);

    /// All records of a block were taken.
    fn end(&self, slot: &mut Self::Slot) -> Self::Out;
}

/// Goes over all records of a file; `take` is given what each block came to, in the order of the file. Gives the slots.
///
/// # Errors
/// If a record can't be read: the first of them.
pub(crate) fn sweep<S: Sweep>(
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
        with.record(&mut slot, &record, at);
        at += 1;
        if at.is_multiple_of(LINES) {
            take(with.end(&mut slot));
        }
    }
    take(with.end(&mut slot));
    Ok(vec![slot])
}

/// A slot with the block that is read into it, and what came of that.
struct Lane<S: Sweep> {
    slot: S::Slot,
    block: Block,
    number: u64,
    out: Option<Result<S::Out, Error>>,
}

impl<S: Sweep> Lane<S> {
    fn read(&mut self, file: &PerfFile, with: &S) {
        // No block has so many records.
        let mut at = self.number << 32;
        let read = file.read_block(&self.block, |record| {
            with.record(&mut self.slot, record, at);
            at += 1;
        });
        self.out = Some(read.map(|()| with.end(&mut self.slot)));
    }
}

fn by_blocks<S: Sweep>(
    file: &PerfFile,
    with: &S,
    take: &mut impl FnMut(S::Out),
) -> Result<Vec<S::Slot>, Error> {
    let mut blocks = file.blocks();
    let count = rayon::current_num_threads().max(1);
    let lane = |number| Lane { slot: with.slot(number), block: Block::default(), number: 0, out: None };
    let mut lanes: Vec<Lane<S>> = (0..count).map(lane).collect();
    let mut next: Vec<Block> = (0..count).map(|_| Block::default()).collect();
    let mut numbers = 0;
    let (mut filled, mut ahead) = (0, fill(&mut blocks, &mut next));
    loop {
        let before: Vec<_> = lanes.iter_mut().take(filled).filter_map(|lane| lane.out.take()).collect();
        filled = ahead.0;
        for (lane, block) in lanes.iter_mut().zip(&mut next).take(filled) {
            std::mem::swap(&mut lane.block, block);
            lane.number = numbers;
            numbers += 1;
        }
        let error = ahead.1.take();
        let is_over = filled == 0 || error.is_some();
        let taken = rayon::in_place_scope(|scope| {
            for lane in lanes.iter_mut().take(filled) {
                scope.spawn(|_| lane.read(file, with));
            }
            let taken = take_all(before, take);
            ahead = if is_over { (0, error) } else { fill(&mut blocks, &mut next) };
            taken
        });
        taken?;
        if is_over {
            let last: Vec<_> = lanes.iter_mut().take(filled).filter_map(|lane| lane.out.take()).collect();
            take_all(last, take)?;
            return match ahead.1 {
                Some(error) => Err(error),
                None => Ok(lanes.into_iter().map(|lane| lane.slot).collect()),
            };
        }
    }
}

fn take_all<T>(outs: Vec<Result<T, Error>>, take: &mut impl FnMut(T)) -> Result<(), Error> {
    outs.into_iter().try_for_each(|out| out.map(&mut *take))
}

/// Fills blocks; gives how many have records, and what is wrong behind them.
fn fill(blocks: &mut crate::perf_data::Blocks<'_>, into: &mut [Block]) -> (usize, Option<Error>) {
    for (count, block) in into.iter_mut().enumerate() {
        match blocks.fill(block) {
            Ok(true) => {}
            Ok(false) => return (count, None),
            Err(error) => return (count, Some(error)),
        }
    }
    (into.len(), None)
}
