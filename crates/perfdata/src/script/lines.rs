//! Lines of a text, one at a time.

use crate::perf_data::{ByteSource, ByteStream, Error};

/// No line of `perf script` comes near this; the longest hold a branch stack of some kilobytes.
pub(crate) const LINE_LIMIT: usize = 64 * 1024;
const TEXT_NAME: &str = "the text";

/// Reads a source line by line through a window of fixed size.
#[derive(Debug)]
pub(crate) struct LineReader<'s> {
    stream: ByteStream<'s>,
    number: u64,
}

impl<'s> LineReader<'s> {
    pub(crate) fn new(source: &'s ByteSource) -> Self {
        Self { stream: ByteStream::new(source, 0, source.length()), number: 0 }
    }

    /// Number of the line read last, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line into `line`, without its end; `false` if there is none. What is no UTF-8 is
    /// replaced.
    pub(crate) fn read_line(&mut self, line: &mut String) -> Result<bool, Error> {
        line.clear();
        let Some(length) = self.find_end()? else { return Ok(false) };
        self.number += 1;
        if length > LINE_LIMIT {
            return Err(self.too_long());
        }
        let ready = self.stream.ready();
        let (bytes, rest) = ready.split_at_checked(length).unwrap_or((ready, &[]));
        line.push_str(&String::from_utf8_lossy(bytes.strip_suffix(b"\r").unwrap_or(bytes)));
        self.stream.advance(length + rest.len().min(1));
        Ok(true)
    }

    /// The first byte of the next line.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Error> {
        let count = self.stream.remaining().min(1) as usize;
        Ok(self.stream.peek(count, TEXT_NAME)?.first().copied())
    }

    /// Length of the next line, if there is one.
    fn find_end(&mut self) -> Result<Option<usize>, Error> {
        loop {
            let ready = self.stream.ready();
            if let Some(length) = memchr::memchr(b'\n', ready) {
                return Ok(Some(length));
            }
            let length = ready.len();
            if length > LINE_LIMIT {
                self.number += 1;
                return Err(self.too_long());
            }
            if self.stream.remaining() == length as u64 {
                return Ok((length > 0).then_some(length));
            }
            self.stream.peek(length + 1, TEXT_NAME)?;
        }
    }

    fn too_long(&self) -> Error {
        Error::line(self.number, format!("has more than {LINE_LIMIT} bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Result<Vec<String>, Error> {
        let source = ByteSource::Memory(text.to_vec());
        let mut lines = LineReader::new(&source);
        let (mut line, mut found) = (String::new(), Vec::new());
        while lines.read_line(&mut line)? {
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
        text.extend(vec![b'x'; 40 * LINE_LIMIT]);
        assert_eq!(lines(&text).unwrap_err().to_string(), "line 2: has more than 65536 bytes");
    }

    #[test]
    fn the_next_line_is_seen_before_it_is_read() {
        let source = ByteSource::Memory(b"a\n\tb".to_vec());
        let (mut lines, mut line) = (LineReader::new(&source), String::new());
        assert_eq!(lines.peek().unwrap(), Some(b'a'));
        assert!(lines.read_line(&mut line).unwrap());
        assert_eq!(lines.peek().unwrap(), Some(b'\t'));
        assert!(lines.read_line(&mut line).unwrap());
        assert_eq!(line, "\tb");
        assert_eq!(lines.peek().unwrap(), None);
        assert!(!lines.read_line(&mut line).unwrap());
    }
}
