//! Lines of a text, one at a time.

use crate::perf_data::{Error, Source};

/// Bytes held at once.
const WINDOW: usize = 256 * 1024;
/// No line of `perf script` comes near this; the longest hold a branch stack of some kilobytes.
pub(crate) const LINE_LIMIT: usize = 64 * 1024;

/// Reads a source line by line through a window of fixed size.
#[derive(Debug)]
pub(crate) struct Lines<'s> {
    source: &'s Source,
    window: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the source of what is read next.
    offset: u64,
    number: u64,
}

impl<'s> Lines<'s> {
    pub(crate) fn new(source: &'s Source) -> Self {
        Self { source, window: Vec::new(), start: 0, end: 0, offset: 0, number: 0 }
    }

    /// Number of the line read last, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line into `line`, without its end; `false` if there is none. What is no UTF-8 is replaced.
    pub(crate) fn next(&mut self, line: &mut String) -> Result<bool, Error> {
        line.clear();
        let Some(length) = self.find_end()? else { return Ok(false) };
        self.number += 1;
        if length > LINE_LIMIT {
            return Err(self.too_long());
        }
        let bytes = self.window.get(self.start..self.start + length).unwrap_or_default();
        line.push_str(&String::from_utf8_lossy(bytes.strip_suffix(b"\r").unwrap_or(bytes)));
        self.start = (self.start + length + 1).min(self.end);
        Ok(true)
    }

    /// The first byte of the next line.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Error> {
        if self.start == self.end {
            self.refill()?;
        }
        Ok(self.window.get(self.start..self.end).and_then(|bytes| bytes.first().copied()))
    }

    /// Length of the next line, if there is one.
    fn find_end(&mut self) -> Result<Option<usize>, Error> {
        loop {
            let bytes = self.window.get(self.start..self.end).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', bytes) {
                return Ok(Some(length));
            }
            let length = bytes.len();
            if length > LINE_LIMIT {
                self.number += 1;
                return Err(self.too_long());
            }
            if !self.refill()? {
                return Ok((length > 0).then_some(length));
            }
        }
    }

    /// Moves what is left to the front and reads on; `false` at the end of the source.
    fn refill(&mut self) -> Result<bool, Error> {
        self.window.resize(WINDOW, 0);
        self.window.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let left = self.source.length().saturating_sub(self.offset);
        let count = (WINDOW - self.end).min(usize::try_from(left).unwrap_or(usize::MAX));
        let room = self.window.get_mut(self.end..self.end + count).unwrap_or_default();
        self.source.read_at(room, self.offset, "the text")?;
        self.end += count;
        self.offset += count as u64;
        Ok(count > 0)
    }

    fn too_long(&self) -> Error {
        Error::line(self.number, format!("has more than {LINE_LIMIT} bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Result<Vec<String>, Error> {
        let source = Source::Memory(text.to_vec());
        let mut lines = Lines::new(&source);
        let (mut line, mut found) = (String::new(), Vec::new());
        while lines.next(&mut line)? {
            found.push(line.clone());
        }
        assert_eq!(lines.number(), found.len() as u64);
        Ok(found)
    }

    #[test]
    fn lines_of_any_end() {
        assert_eq!(lines(b"a\r\n\nb").unwrap(), ["a", "", "b"]);
        assert_eq!(lines(b"a\n").unwrap(), ["a"]);
        assert!(lines(b"").unwrap().is_empty());
        assert_eq!(lines(b"\xff\n").unwrap(), ["\u{fffd}"]);
    }

    #[test]
    fn lines_across_windows_are_whole() {
        let long = "x".repeat(LINE_LIMIT - 3);
        let text = format!("{long}\n").repeat(9);
        assert!(lines(text.as_bytes()).unwrap().iter().all(|line| *line == long));
    }

    #[test]
    fn a_line_without_end_is_refused_with_its_number() {
        let mut text = b"short\n".to_vec();
        text.extend(vec![b'x'; 10 * WINDOW]);
        assert_eq!(lines(&text).unwrap_err().to_string(), "line 2: has more than 65536 bytes");
    }
}
