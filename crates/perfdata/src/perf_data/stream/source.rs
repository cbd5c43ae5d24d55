//! The bytes of a recording: a file or memory, read by position or as a stream.

use fieldline_files::UnreadableKind;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::perf_data::error::{BytePosition, Error};

/// Bytes a [`ByteStream`] holds at once: several records of the largest size, little enough to stay in cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// A recording's bytes. Reads take a position and share nothing, so several streams can read one source.
#[derive(Debug)]
pub(crate) enum ByteSource {
    File { file: File, length: u64 },
    Memory(Vec<u8>),
}

impl ByteSource {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Io { what: "the file", offset: 0, source };
        let file = fieldline_files::open(path).map_err(|error| match UnreadableKind::in_error(&error) {
            Some(UnreadableKind::Folder) => Error::Directory { is_recording: path.join("data").is_file() },
            Some(kind) => Error::NotRegular(kind),
            None => failed(error),
        })?;
        let length = file.metadata().map_err(failed)?.len();
        Ok(Self::File { file, length })
    }

    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::File { length, .. } => *length,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Fills `buffer` from `offset` on.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64, what: &'static str) -> Result<(), Error> {
        self.check(offset, buffer.len() as u64, what)?;
        if buffer.is_empty() {
            return Ok(());
        }
        match self {
            Self::File { file, .. } => {
                file.read_exact_at(buffer, offset).map_err(|source| Error::Io { what, offset, source })
            }
            Self::Memory(bytes) => {
                let missing = || io::Error::from(io::ErrorKind::UnexpectedEof);
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let bytes = bytes.get(start..).and_then(|rest| rest.get(..buffer.len()));
                let bytes = bytes.ok_or_else(|| Error::Io { what, offset, source: missing() })?;
                buffer.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// A copy of `size` bytes at `offset`, which may be at most `limit`.
    pub(crate) fn bytes(&self, at: u64, size: u64, limit: u64, what: &'static str) -> Result<Vec<u8>, Error> {
        self.check(at, size, what)?;
        if size > limit {
            let problem = format!("it has {size} bytes, more than the {limit} any recording has");
            return Err(Error::malformed(what, BytePosition::in_file(at), problem));
        }
        let mut buffer = vec![0; usize::try_from(size).unwrap_or(0)];
        self.read_at(&mut buffer, at, what)?;
        Ok(buffer)
    }

    /// That `size` bytes at `offset` are within the file.
    pub(crate) fn check(&self, offset: u64, size: u64, what: &'static str) -> Result<(), Error> {
        let available = self.length().saturating_sub(offset);
        if size > available {
            let place = BytePosition::in_file(offset);
            return Err(Error::Truncated { what, place, needed: size, available });
        }
        Ok(())
    }
}

/// Part of a source read from front to end through a window of fixed size.
#[derive(Debug)]
pub(crate) struct ByteStream<'s> {
    source: &'s ByteSource,
    buffer: Vec<u8>,
    /// Start and end of the bytes in `window` that are still to come.
    start: usize,
    end: usize,
    /// Offset in the source of the byte at `start`.
    offset: u64,
    limit: u64,
}

impl<'s> ByteStream<'s> {
    /// The bytes from `offset` up to `limit`.
    pub(crate) fn new(source: &'s ByteSource, offset: u64, limit: u64) -> Self {
        Self { source, buffer: Vec::new(), start: 0, end: 0, offset, limit }
    }

    pub(crate) fn place(&self) -> BytePosition {
        BytePosition::in_file(self.offset)
    }

    pub(crate) fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.offset)
    }

    /// The next `count` bytes, without moving on. `count` is at most a record's 64 KiB.
    #[inline]
    pub(crate) fn peek(&mut self, count: usize, what: &'static str) -> Result<&[u8], Error> {
        if self.end - self.start < count {
            self.refill(count, what)?;
        }
        Ok(self.buffer.get(self.start..self.start + count).unwrap_or_default())
    }

    /// The next bytes as far as they are in the window.
    pub(crate) fn ready(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Moves on by bytes that were peeked at.
    pub(crate) fn advance(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }

    /// The last `count` bytes moved over, which a peek brought into the window.
    pub(crate) fn last_advanced(&self, count: usize) -> &[u8] {
        self.buffer.get(self.start - count..self.start).unwrap_or_default()
    }

    /// Moves on by any number of bytes, without reading them.
    pub(crate) fn skip(&mut self, count: u64, what: &'static str) -> Result<(), Error> {
        if count > self.remaining() {
            return Err(self.truncated(count, what));
        }
        let in_window = (self.end - self.start) as u64;
        self.start = if count <= in_window { self.start + count as usize } else { self.end };
        self.offset += count;
        Ok(())
    }

    /// Copies up to `count` of the bytes to come, without moving on.
    pub(crate) fn copy_next(&self, count: usize, into: &mut Vec<u8>) -> Result<(), Error> {
        let count = usize::try_from(self.remaining()).unwrap_or(usize::MAX).min(count);
        into.resize(count, 0);
        self.source.read_at(into, self.offset, "records")
    }

    #[cold]
    fn refill(&mut self, count: usize, what: &'static str) -> Result<(), Error> {
        if count as u64 > self.remaining() {
            return Err(self.truncated(count as u64, what));
        }
        self.buffer.resize(BUFFER_BYTES, 0);
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let unread = self.remaining() - self.end as u64;
        let read_size = usize::try_from(unread).unwrap_or(usize::MAX).min(BUFFER_BYTES - self.end);
        let target = self.buffer.get_mut(self.end..self.end + read_size).unwrap_or_default();
        self.source.read_at(target, self.offset + self.end as u64, what)?;
        self.end += read_size;
        Ok(())
    }

    fn truncated(&self, needed: u64, what: &'static str) -> Error {
        Error::Truncated { what, place: self.place(), needed, available: self.remaining() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(length: usize) -> ByteSource {
        ByteSource::Memory((0..length).map(|index| (index % 251) as u8).collect())
    }

    #[test]
    fn a_stream_gives_every_byte_in_order_across_refills() {
        let source = counting(3 * BUFFER_BYTES + 1000);
        let mut stream = ByteStream::new(&source, 7, 3 * BUFFER_BYTES as u64);
        let mut offset = 7;
        while stream.remaining() > 0 {
            let count = 40_001.min(stream.remaining() as usize);
            let bytes = stream.peek(count, "bytes").unwrap();
            assert_eq!((bytes.len(), bytes[0]), (count, (offset % 251) as u8));
            stream.advance(count);
            assert_eq!(stream.last_advanced(count)[0], (offset % 251) as u8);
            offset += count;
        }
        assert_eq!(offset, 3 * BUFFER_BYTES);
        assert!(matches!(stream.peek(1, "bytes"), Err(Error::Truncated { available: 0, .. })));
    }

    #[test]
    fn skipping_works_within_and_beyond_the_window() {
        let source = counting(3 * BUFFER_BYTES);
        let mut stream = ByteStream::new(&source, 0, source.length());
        for count in [10, 2 * BUFFER_BYTES] {
            stream.peek(1, "bytes").unwrap();
            stream.skip(count as u64, "bytes").unwrap();
        }
        let offset = 10 + 2 * BUFFER_BYTES;
        assert_eq!(stream.place(), BytePosition::in_file(offset as u64));
        assert_eq!(stream.peek(1, "bytes").unwrap(), [(offset % 251) as u8]);
        assert!(stream.skip(u64::MAX, "bytes").is_err());
    }

    #[test]
    fn a_size_beyond_the_source_or_the_limit_allocates_nothing() {
        let source = counting(100);
        assert!(matches!(source.bytes(90, u64::MAX, 50, "a part"), Err(Error::Truncated { .. })));
        assert!(matches!(source.bytes(0, 60, 50, "a part"), Err(Error::Malformed { .. })));
        assert_eq!(source.bytes(98, 2, 50, "a part").unwrap(), [98, 99]);
        assert!(source.bytes(101, 0, 50, "a part").unwrap().is_empty());
    }
}
