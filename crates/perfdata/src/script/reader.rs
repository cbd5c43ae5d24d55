//! A line, the frames of the call chain behind it, and the branches in it.

use super::lines::LineReader;
use super::symbol::Symbol;
use crate::address::LoadedAddress;
use crate::perf_data::{ByteSource, Endian, Error};
use crate::sample::{BranchStack, Words};

/// More frames than perf records (`kernel.perf_event_max_stack` can be raised, though not this far).
const FRAME_LIMIT: usize = 1 << 16;

/// A line and the frames of its call chain.
#[derive(Debug)]
pub(super) struct SampleReader<'s> {
    lines: LineReader<'s>,
    pub(super) line: String,
    /// Number of the line, not of its last frame.
    pub(super) number: u64,
    frame: String,
    first_frame_text: String,
    /// Addresses of frames, and branches as a perf.data's sample holds them, numbers in little-endian order.
    chain: Vec<u8>,
    branches: Vec<u8>,
}

impl<'s> SampleReader<'s> {
    pub(super) fn new(source: &'s ByteSource) -> Self {
        let lines = LineReader::new(source);
        let (line, frame, first, chain, branches) = Default::default();
        Self { lines, line, number: 0, frame, first_frame_text: first, chain, branches }
    }

    /// Reads the next line and its frames; `false` if there is none.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        if !self.lines.read_line(&mut self.line)? {
            return Ok(false);
        }
        self.number = self.lines.number();
        self.chain.clear();
        while !self.line.is_empty() && self.lines.peek()? == Some(b'\t') {
            self.lines.read_line(&mut self.frame)?;
            self.add_frame()?;
        }
        self.add_branches();
        Ok(true)
    }

    /// `ADDRESS SYMBOL+0xOFFSET (FILE)`. Functions inlined at an address stand in front of the one that holds
    /// it.
    fn add_frame(&mut self) -> Result<(), Error> {
        if self.frame.trim_end().ends_with("(inlined)") || self.frame.trim_start().is_empty() {
            return Ok(());
        }
        let ip = parse_frame_address(&self.frame).map_err(|why| Error::line(self.lines.number(), why))?;
        if self.chain.len() == 8 * FRAME_LIMIT {
            return Err(Error::line(self.lines.number(), format!("is a frame more than {FRAME_LIMIT}")));
        }
        if !self.has_frames() {
            std::mem::swap(&mut self.frame, &mut self.first_frame_text);
        }
        self.chain.extend(ip.to_le_bytes());
        Ok(())
    }

    /// Branches of the field `brstack`, `0xFROM/0xTO/…`, youngest first.
    fn add_branches(&mut self) {
        self.branches.clear();
        if memchr::memmem::find(self.line.as_bytes(), b"/0x").is_some() {
            let branches = self.line.split_whitespace().filter_map(parse_branch);
            self.branches.extend(branches.flatten().flat_map(u64::to_le_bytes));
        }
    }

    pub(super) fn callchain(&self) -> Words<'_> {
        Words { bytes: &self.chain, endian: Endian::Little }
    }

    pub(super) fn branch_stack(&self) -> BranchStack<'_> {
        BranchStack(Words { bytes: &self.branches, endian: Endian::Little })
    }

    pub(super) fn has_branches(&self) -> bool {
        !self.branches.is_empty()
    }

    pub(super) fn has_frames(&self) -> bool {
        !self.chain.is_empty()
    }

    /// The instruction of a sample with frames.
    pub(super) fn first_frame(&self) -> Result<Option<LoadedAddress>, Error> {
        parse_frame_address(&self.first_frame_text)
            .map(|address| Some(LoadedAddress(address)))
            .map_err(|problem| Error::line(self.number, problem))
    }

    pub(super) fn first_symbol(&self) -> Symbol<'_> {
        let symbol = self.first_frame_text.trim_start().split_once(char::is_whitespace);
        symbol.filter(|_| self.has_frames()).map(|(_, symbol)| Symbol::parse(symbol)).unwrap_or_default()
    }
}

fn parse_frame_address(frame: &str) -> Result<u64, String> {
    let word = frame.split_whitespace().next().unwrap_or_default();
    u64::from_str_radix(word, 16).map_err(|_| format!("{word:?} is not an address in a call chain"))
}

/// Flag of a `struct perf_branch_entry` that was taken on a wrong path, and how perf prints it
/// (`branch_spec_desc` in `tools/perf/util/branch.c`).
const WRONG_PATH: (u64, &str) = (1 << 24, "SPEC_WRONG_PATH");

fn parse_branch(word: &str) -> Option<[u64; 3]> {
    let mut parts = word.strip_prefix("0x")?.split('/');
    let from = u64::from_str_radix(parts.next()?, 16).ok()?;
    let to = u64::from_str_radix(parts.next()?.strip_prefix("0x")?, 16).ok()?;
    let (flag, name) = WRONG_PATH;
    Some([from, to, if parts.any(|part| part == name) { flag } else { 0 }])
}
