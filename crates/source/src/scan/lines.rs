//! Where lines begin.

use std::ops::Range;

/// The 1-based number of a 0-based line.
pub(crate) fn line_number(line: usize) -> u32 {
    u32::try_from(line + 1).unwrap_or(u32::MAX)
}

/// Tab stops of kernel source (Documentation/process/coding-style.rst, section 1).
const TAB: usize = 8;

/// Byte offsets of a text's lines. Line indices are 0-based, line numbers 1-based.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    length: usize,
}

impl LineIndex {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let mut starts = vec![0];
        starts.extend(newlines.map(|(at, _)| at + 1));
        Self { starts, length: bytes.len() }
    }

    /// The 0-based line of a byte offset.
    pub fn index(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The 1-based line of a byte offset.
    pub fn number(&self, offset: usize) -> u32 {
        line_number(self.index(offset))
    }

    /// Byte range of a line with its end.
    pub fn bytes(&self, line: usize) -> Range<usize> {
        self.start(line)..self.start(line + 1)
    }

    /// Byte range of whole lines.
    pub fn span(&self, lines: &Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end)
    }

    /// Offset where a line begins; the text's length behind the last line.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.length)
    }

    /// Lines that a byte range touches.
    pub fn lines_of_range(&self, range: &Range<usize>) -> Range<usize> {
        let last = range.end.saturating_sub(1).max(range.start);
        self.index(range.start)..self.index(last) + 1
    }

    /// The 0-based column of an offset as an editor shows it, with tab stops every eight columns.
    pub fn column(&self, bytes: &[u8], offset: usize) -> usize {
        let line = self.start(self.index(offset))..offset;
        bytes.get(line).unwrap_or_default().iter().fold(0, |column, byte| match byte {
            b'\t' => column - column % TAB + TAB,
            _ => column + 1,
        })
    }
}
