//! Accesses in the order they were made.

/// Bytes of a binary record: address (8), instruction's lower half (4), CPU, flags, thread (2); little-endian
/// (docs/formats.md).
pub const RECORD_BYTES: usize = 16;
/// Flags from here on, without bit 7, mark times and switches.
const FIRST_MARK: u8 = 0x7c;
const IS_STORE: u8 = 0x80;

/// One recorded access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceAccess {
    /// CPU number.
    pub cpu: usize,
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Whether it writes.
    pub is_store: bool,
}

/// Accesses, one after the other.
#[derive(Clone, Debug)]
pub enum TraceAccesses<'t> {
    /// Records of [`RECORD_BYTES`]; those that mark a time or a switch are skipped.
    Binary(std::slice::ChunksExact<'t, u8>),
    /// Accesses already read.
    Listed(std::slice::Iter<'t, TraceAccess>),
}

impl TraceAccesses<'_> {
    /// One more than the highest number of a CPU, and how many accesses there are.
    pub fn count_cpus_and_accesses(&self) -> (usize, u64) {
        self.clone().fold((0, 0), |(cpus, count), access| (cpus.max(access.cpu + 1), count + 1))
    }
}

impl Iterator for TraceAccesses<'_> {
    type Item = TraceAccess;

    fn next(&mut self) -> Option<TraceAccess> {
        match self {
            Self::Binary(records) => records.find_map(parse_record),
            Self::Listed(accesses) => accesses.next().copied(),
        }
    }
}

fn parse_record(bytes: &[u8]) -> Option<TraceAccess> {
    let address = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let (cpu, flags) = (*bytes.get(12)?, *bytes.get(13)?);
    if address == 0 || flags & !IS_STORE >= FIRST_MARK {
        return None;
    }
    let is_store = flags & IS_STORE != 0;
    Some(TraceAccess { cpu: usize::from(cpu), address, size: 1 << (flags & 7), is_store })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_no_accesses() {
        let store = TraceAccess { cpu: 3, address: 0xffff_8880_0000_1008, size: 8, is_store: true };
        let mut bytes = store.address.to_le_bytes().to_vec();
        bytes.extend([1, 2, 3, 4, 3, 0x83, 0, 0]);
        assert_eq!(parse_record(&bytes), Some(store));
        bytes[13] = 0x7f;
        assert_eq!(parse_record(&bytes), None);
    }
}
