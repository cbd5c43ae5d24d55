//! The records that the plugin writes, as events (`plugin/fieldline-plugin.c` says what they are).

use std::io::{self, Read};

/// Bytes of a record.
const RECORD_BYTES: usize = 16;
/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 20;
/// Most words of an event.
const MAX_WORDS: usize = 64;

const KIND_EVENT: u8 = 0x60;
const KIND_CPU: u8 = 0x61;
const KIND_MOVED: u8 = 0x62;
const KIND_BEGIN: u8 = 0x63;
const KIND_END: u8 = 0x64;
const KIND_TIME: u8 = 0x7f;
const STORE: u8 = 0x80;

/// A memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Of data.
    pub(crate) address: u64,
    /// Low half of the instruction's address.
    pub(crate) code: u32,
    /// In the order in which CPUs were met.
    pub(crate) cpu: u8,
    /// Bytes, as a power of two.
    pub(crate) size_log2: u8,
    pub(crate) is_store: bool,
}

/// A record, or an event with its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record<'w> {
    Access(Access),
    /// The time in nanoseconds at which the following happens.
    Time(u64),
    /// A CPU was met: its number and the value of the register that tells CPUs apart.
    Cpu(u8, u64),
    /// How far from its linked address the kernel lies.
    Moved(u64),
    /// Accesses follow.
    Begin,
    /// The end; whether the limit of accesses was reached.
    End {
        is_limit: bool,
    },
    /// Something that was watched.
    Event {
        cpu: u8,
        id: u32,
        words: &'w [u64],
    },
}

/// Reads records.
pub(crate) struct Records<R> {
    source: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    words: Vec<u64>,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; BUFFER_BYTES], begin: 0, end: 0, words: Vec::new() }
    }

    /// The next record; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        let Some(record) = self.take()? else { return Ok(None) };
        let word = |range: std::ops::Range<usize>| {
            record.get(range).unwrap_or(&[]).iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let (address, code, cpu, flags) = (word(0..8), word(8..12) as u32, record[12], record[13]);
        Ok(Some(match flags {
            KIND_TIME => Record::Time(address),
            KIND_CPU => Record::Cpu(cpu, address),
            KIND_MOVED => Record::Moved(address),
            KIND_BEGIN => Record::Begin,
            KIND_END => Record::End { is_limit: code != 0 },
            KIND_EVENT => {
                self.read_words(address)?;
                Record::Event { cpu, id: code, words: &self.words }
            }
            _ => Record::Access(Access {
                address,
                code,
                cpu,
                size_log2: flags & 7,
                is_store: flags & STORE != 0,
            }),
        }))
    }

    fn read_words(&mut self, count: u64) -> io::Result<()> {
        let count = usize::try_from(count).ok().filter(|count| *count <= MAX_WORDS);
        let count = count.ok_or_else(|| io::Error::other("the plugin's records are broken"))?;
        self.words.clear();
        while self.words.len() < count {
            let Some(record) = self.take()? else { return Err(io::ErrorKind::UnexpectedEof.into()) };
            for half in record.chunks_exact(8) {
                self.words.push(half.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
            }
        }
        self.words.truncate(count);
        Ok(())
    }

    fn take(&mut self) -> io::Result<Option<[u8; RECORD_BYTES]>> {
        while self.end - self.begin < RECORD_BYTES {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            let room = self.buffer.get_mut(self.end..).unwrap_or(&mut []);
            match self.source.read(room)? {
                0 => return Ok(None),
                count => self.end += count,
            }
        }
        let mut record = [0; RECORD_BYTES];
        let bytes = self.buffer.get(self.begin..self.begin + RECORD_BYTES).unwrap_or(&[]);
        record.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.begin += RECORD_BYTES;
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(address: u64, code: u32, cpu: u8, flags: u8) -> Vec<u8> {
        let mut bytes = address.to_le_bytes().to_vec();
        bytes.extend(code.to_le_bytes());
        bytes.extend([cpu, flags, 0, 0]);
        bytes
    }

    #[test]
    fn records_and_events_with_their_words_are_read() {
        let mut bytes = record(0xffff_8880_0000_1000, 0x8100_0000, 3, STORE | 2);
        bytes.extend(record(3, 7, 1, KIND_EVENT));
        for word in [10_u64, 11, 12, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(record(30, 1, 0, KIND_END));
        let mut records = Records::new(&bytes[..]);
        let access = Access {
            address: 0xffff_8880_0000_1000,
            code: 0x8100_0000,
            cpu: 3,
            size_log2: 2,
            is_store: true,
        };
        assert_eq!(records.next().unwrap(), Some(Record::Access(access)));
        assert_eq!(records.next().unwrap(), Some(Record::Event { cpu: 1, id: 7, words: &[10, 11, 12] }));
        assert_eq!(records.next().unwrap(), Some(Record::End { is_limit: true }));
        assert_eq!(records.next().unwrap(), None);
    }

    #[test]
    fn events_that_claim_too_many_words_are_errors() {
        let bytes = record(u64::MAX, 7, 1, KIND_EVENT);
        assert!(Records::new(&bytes[..]).next().is_err());
    }
}
