//! Memory that a recorder saw allocated and freed: a section of fieldline's own.
//!
//! perf knows no such section. Its number is the last that a header has room for; perf goes through those it has names
//! for (`perf_header__process_sections` of tools/perf/util/header.c), so it leaves this one alone. All numbers are in
//! the file's byte order: a version (32 bits), how many allocations follow (32), and for each process (32), zero (32),
//! address, bytes, nanoseconds of its beginning, and of its end or all ones (64 each).

use crate::perf_data::bytes::Cursor;
use crate::perf_data::error::Error;

/// The version that is written.
pub(crate) const VERSION: u32 = 1;
/// Bytes of one allocation.
const ENTRY_BYTES: usize = 40;

/// Memory that was allocated, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotedAllocation {
    /// The process.
    pub pid: u32,
    /// Its first byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds, as of samples.
    pub begin: u64,
    /// Nanoseconds at which it was freed; `None` if it wasn't.
    pub end: Option<u64>,
}

/// The section's allocations; none if it is of another version.
pub(crate) fn parse(mut at: Cursor<'_>) -> Result<Vec<NotedAllocation>, Error> {
    if at.u32()? != VERSION {
        return Ok(Vec::new());
    }
    let (place, count) = (at.place(), at.u32()?);
    let entries = at.rest().len() / ENTRY_BYTES;
    if usize::try_from(count).unwrap_or(usize::MAX) > entries {
        let problem = format!("{count} allocations are announced, and {entries} follow");
        return Err(Error::malformed("the allocations", place, problem));
    }
    (0..count).map(|_| allocation(&mut at)).collect()
}

fn allocation(at: &mut Cursor<'_>) -> Result<NotedAllocation, Error> {
    let (pid, _zero) = (at.u32()?, at.u32()?);
    let (address, size, begin, end) = (at.u64()?, at.u64()?, at.u64()?, at.u64()?);
    Ok(NotedAllocation { pid, address, size, begin, end: Some(end).filter(|end| *end != u64::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_data::{BytePosition, Endian};
    use crate::writer::RecordingWriter;

    const KEPT: NotedAllocation = NotedAllocation { pid: 7, address: 0x1000, size: 24, begin: 5, end: None };
    const FREED: NotedAllocation = NotedAllocation { address: 0x2000, end: Some(9), ..KEPT };

    fn section(endian: Endian) -> Vec<u8> {
        let mut recording = RecordingWriter::new(endian);
        recording.allocations(&[KEPT, FREED]);
        recording.sections().pop().unwrap().1
    }

    fn parsed(bytes: &[u8], endian: Endian) -> Result<Vec<NotedAllocation>, Error> {
        parse(Cursor::new(bytes, endian, "the allocations", BytePosition::default()))
    }

    #[test]
    fn what_is_written_is_read() {
        for endian in [Endian::Little, Endian::Big] {
            assert_eq!(parsed(&section(endian), endian).unwrap(), [KEPT, FREED]);
        }
    }

    #[test]
    fn other_versions_are_left_alone_and_false_counts_are_errors() {
        let mut bytes = section(Endian::Little);
        bytes.truncate(60);
        let problem = parsed(&bytes, Endian::Little).unwrap_err().to_string();
        assert!(problem.contains("2 allocations are announced, and 1 follow"), "{problem}");
        bytes[0] = 9;
        assert_eq!(parsed(&bytes, Endian::Little).unwrap(), []);
        assert!(parsed(&[1, 0], Endian::Little).is_err());
    }
}
