//! A line, the frames of the call chain behind it, and the branches in it.

use super::lines::Lines;
use super::symbol::Symbol;
use crate::perf_data::{Error, Source};

/// More frames than perf records (`kernel.perf_event_max_stack` can be raised, though not this far).
const FRAME_LIMIT: usize = 1 << 16;

/// A line and the frames of its call chain.
#[derive(Debug)]
pub(super) struct Reader<'s> {
    lines: Lines<'s>,
    pub(super) line: String,
    /// Number of the line, not of its last frame.
    pub(super) number: u64,
    frame: String,
    first: String,
    frames: usize,
    branches: u64,
    /// Call chain and branches as a perf.data's sample holds them.
    pub(super) body: Vec<u8>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let lines = Lines::new(source);
        let (line, frame, first) = Default::default();
        Self { lines, line, number: 0, frame, first, frames: 0, branches: 0, body: Vec::new() }
    }

    /// Reads the next line and its frames; `false` if there is none.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        if !self.lines.next(&mut self.line)? {
            return Ok(false);
        }
        self.number = self.lines.number();
        self.frames = 0;
        self.body.clear();
        self.body.extend([0; 8]);
        while !self.line.is_empty() && self.lines.peek()? == Some(b'\t') {
            self.lines.next(&mut self.frame)?;
            self.note_frame()?;
        }
        let count = (self.frames as u64).to_le_bytes();
        self.body.iter_mut().zip(count).for_each(|(to, from)| *to = from);
        self.note_branches();
        Ok(true)
    }

    /// `ADDRESS SYMBOL+0xOFFSET (FILE)`. Functions inlined at an address stand in front of the one that holds it.
    fn note_frame(&mut self) -> Result<(), Error> {
        if self.frame.trim_end().ends_with("(inlined)") || self.frame.trim_start().is_empty() {
            return Ok(());
        }
        let ip = frame_address(&self.frame).map_err(|problem| Error::line(self.lines.number(), problem))?;
        if self.frames == FRAME_LIMIT {
            return Err(Error::line(self.lines.number(), format!("is a frame more than {FRAME_LIMIT}")));
        }
        self.body.extend(ip.to_le_bytes());
        self.frames += 1;
        if self.frames == 1 {
            std::mem::swap(&mut self.frame, &mut self.first);
        }
        Ok(())
    }

    /// Branches of the field `brstack`, `0xFROM/0xTO/…`, youngest first.
    fn note_branches(&mut self) {
        let at = self.body.len();
        self.body.extend([0; 8]);
        let mut count = 0_u64;
        self.branches = 0;
        if memchr::memmem::find(self.line.as_bytes(), b"/0x").is_none() {
            return;
        }
        for (from, to, flags) in self.line.split_whitespace().filter_map(branch) {
            count += 1;
            [from, to, flags].iter().for_each(|word: &u64| self.body.extend(word.to_le_bytes()));
        }
        self.branches = count;
        let slot = self.body.get_mut(at..).into_iter().flatten();
        slot.zip(count.to_le_bytes()).for_each(|(to, from)| *to = from);
    }

    pub(super) fn has_branches(&self) -> bool {
        self.branches > 0
    }

    pub(super) fn has_frames(&self) -> bool {
        self.frames > 0
    }

    /// The instruction of a sample with frames.
    pub(super) fn first_frame(&self) -> Result<Option<u64>, Error> {
        frame_address(&self.first).map(Some).map_err(|problem| Error::line(self.number, problem))
    }

    pub(super) fn first_symbol(&self) -> Symbol<'_> {
        let text = self.first.trim_start();
        let symbol = text.split_once(char::is_whitespace).map(|(_, symbol)| symbol);
        if self.has_frames() { symbol.map(Symbol::parse).unwrap_or_default() } else { Symbol::default() }
    }
}

fn frame_address(frame: &str) -> Result<u64, String> {
    let word = frame.split_whitespace().next().unwrap_or_default();
    u64::from_str_radix(word, 16).map_err(|_| format!("{word:?} is not an address in a call chain"))
}

/// Flag of a `struct perf_branch_entry` that was taken on a wrong path, and how perf prints it (`branch_spec_desc` in
/// `tools/perf/util/branch.c`).
const WRONG_PATH: (u64, &str) = (1 << 24, "SPEC_WRONG_PATH");

fn branch(word: &str) -> Option<(u64, u64, u64)> {
    let mut parts = word.strip_prefix("0x")?.split('/');
    let from = u64::from_str_radix(parts.next()?, 16).ok()?;
    let to = u64::from_str_radix(parts.next()?.strip_prefix("0x")?, 16).ok()?;
    let (flag, name) = WRONG_PATH;
    Some((from, to, if parts.any(|part| part == name) { flag } else { 0 }))
}
