//! A trace's accesses, and the times between them (docs/formats.md, Traces).

use crate::error::{Error, Result};
use fieldline_debuginfo::FileBytes;

const RECORD_BYTES: usize = 16;
pub(super) const TIME_MARK: u8 = 0x7f;
/// Flags from here on, without bit 7, are marks.
const FIRST_MARK: u8 = 0x7c;
pub(super) const FLAG_STORE: u8 = 0x80;

/// A trace that is read as often as needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accesses<'t> {
    records: &'t [u8],
    /// A pause of more nanoseconds is a break of the recording.
    longest_pause: u64,
    /// One more than the highest number of a CPU.
    pub(super) cpus: usize,
    /// How many accesses there are.
    pub(super) count: usize,
}

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimedAccess {
    pub(super) cpu: usize,
    pub(super) address: u64,
    /// Bytes.
    pub(super) size: u64,
    pub(super) is_store: bool,
    /// Lower half of the instruction's address.
    pub(super) code: u32,
    /// Nanoseconds of the last mark before it; 0 before the first.
    pub(super) time: u64,
    /// How many breaks of the recording are before it: no visit goes on behind one.
    pub(super) burst: u32,
}

impl<'t> Accesses<'t> {
    /// A trace of whole records with an access, without breaks.
    pub(super) fn new(file: &'t FileBytes) -> Result<Self> {
        Self::with_breaks(file, u64::MAX)
    }

    /// A trace that breaks off wherever marks of time are further apart.
    pub(super) fn with_breaks(file: &'t FileBytes, longest_pause: u64) -> Result<Self> {
        let records = file.bytes();
        let broken = |what: String| Err(Error::Input { path: file.path().to_owned(), what });
        if !records.len().is_multiple_of(RECORD_BYTES) {
            let len = records.len();
            return broken(format!("{len} bytes are no whole number of {RECORD_BYTES}-byte records"));
        }
        let mut accesses = Self { records, longest_pause, cpus: 0, count: 0 };
        for access in accesses.iter() {
            accesses.cpus = accesses.cpus.max(access.cpu + 1);
            accesses.count += 1;
        }
        if accesses.count == 0 {
            return broken("no access is in the trace".to_owned());
        }
        Ok(accesses)
    }

    /// All accesses in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = TimedAccess> + use<'t> {
        let (mut time, mut burst) = (0_u64, 0_u32);
        let longest_pause = self.longest_pause;
        self.records.chunks_exact(RECORD_BYTES).filter_map(move |bytes| {
            let (address, rest) = bytes.split_first_chunk::<8>()?;
            let (code, rest) = rest.split_first_chunk::<4>()?;
            let [cpu, flags, ..] = *rest else { return None };
            let address = u64::from_le_bytes(*address);
            if flags == TIME_MARK {
                let is_break = time != 0 && address.saturating_sub(time) > longest_pause;
                burst = burst.saturating_add(u32::from(is_break));
                time = address;
            }
            let is_access = address != 0 && flags & !FLAG_STORE < FIRST_MARK;
            is_access.then(|| TimedAccess {
                cpu: usize::from(cpu),
                address,
                size: 1 << (flags & 7),
                is_store: flags & FLAG_STORE != 0,
                code: u32::from_le_bytes(*code),
                time,
                burst,
            })
        })
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
    fn accesses_have_the_time_of_the_last_mark() {
        let records = [
            record(0x1000, 7, 0, 3),
            record(500, 0, 1, TIME_MARK),
            record(0x1008, 8, 3, FLAG_STORE | 2),
            record(0xffff, 9, 1, 0x7e),
            record(0, 9, 5, 0),
        ];
        let file = FileBytes::from_vec("t", records.concat());
        let accesses = Accesses::new(&file).unwrap();
        assert_eq!((accesses.cpus, accesses.count), (4, 2));
        let load =
            TimedAccess { cpu: 0, address: 0x1000, size: 8, is_store: false, code: 7, time: 0, burst: 0 };
        let store =
            TimedAccess { cpu: 3, address: 0x1008, size: 4, is_store: true, code: 8, time: 500, burst: 0 };
        assert_eq!(accesses.iter().collect::<Vec<_>>(), [load, store]);
    }

    #[test]
    fn a_long_pause_is_a_break() {
        let mark = |time: u64| record(time, 0, 0, TIME_MARK);
        let records = [10, 15, 40, 45].map(|time| [mark(time), record(0x1000, 0, 0, 3)].concat());
        let file = FileBytes::from_vec("t", records.concat());
        let bursts = |pause| {
            let accesses = Accesses::with_breaks(&file, pause).unwrap();
            accesses.iter().map(|access| access.burst).collect::<Vec<_>>()
        };
        assert_eq!((bursts(20), bursts(25)), (vec![0, 0, 1, 1], vec![0; 4]));
    }

    #[test]
    fn broken_and_empty_traces_are_errors() {
        for (bytes, what) in
            [(vec![0; 15], "15 bytes are no whole number"), (record(5, 0, 0, TIME_MARK), "no access")]
        {
            let file = FileBytes::from_vec("t", bytes);
            let error = Accesses::new(&file).unwrap_err().to_string();
            assert!(error.starts_with("t: ") && error.contains(what), "{error}");
        }
    }
}
