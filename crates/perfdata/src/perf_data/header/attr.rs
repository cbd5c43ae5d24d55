//! `perf_event_attr`: the attribute of an event.

use crate::perf_data::bytes::{Cursor, Endian};
use crate::perf_data::error::{BytePosition, Error};
use crate::sample::SampleFields;

/// Bytes of the first published `perf_event_attr` (`PERF_ATTR_SIZE_VER0`); every file has these.
const SIZE_VER0: usize = 64;
/// Bytes of it that are read: up to `sample_regs_intr`.
const BYTES_READ: usize = 104;
/// No kernel's attribute comes near this; a larger one is garbage.
const SIZE_LIMIT: usize = 4096;

/// `perf_event_attr` of `include/uapi/linux/perf_event.h`, flags in the little-endian numbering.
///
/// Members that an older, shorter attribute lacks are zero, as the kernel takes them to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attr {
    /// `type`: 0 hardware, 1 software, 2 tracepoint, 3 cache, 4 raw, 5 breakpoint, else a PMU's number.
    pub kind: u32,
    /// Bytes the attribute has in the file.
    pub size: u32,
    /// `config`: which event of its type.
    pub config: u64,
    /// `sample_period`, or `sample_freq` where [`Attr::is_frequency`] holds.
    pub period_or_frequency: u64,
    /// `sample_type`: the fields each sample has.
    pub sample_type: SampleFields,
    /// `read_format`: the fields of a counter's value.
    pub read_format: u64,
    /// The 64 flag bits, bit 0 being `disabled`.
    pub flags: u64,
    /// `bp_type`: which accesses a breakpoint catches, 1 reads, 2 writes, 4 execution.
    pub breakpoint_kind: u32,
    /// `config1`, for Intel's load latency events the threshold in cycles, for breakpoints the address.
    pub config1: u64,
    /// `config2`, for breakpoints the length in bytes.
    pub config2: u64,
    /// `branch_sample_type`.
    pub branch_sample_type: u64,
    /// `sample_regs_user`: one bit per user register in a sample.
    pub user_registers: u64,
    /// `sample_regs_intr`: one bit per register at the interrupt.
    pub interrupt_registers: u64,
}

/// Positions of the flags read here, as the header file lists them.
mod flag {
    pub(super) const EXCLUDE_USER: u32 = 4;
    pub(super) const EXCLUDE_KERNEL: u32 = 5;
    pub(super) const FREQUENCY: u32 = 10;
    pub(super) const PRECISE_IP: u32 = 15;
    pub(super) const SAMPLE_ID_ALL: u32 = 18;
}

impl Attr {
    /// Reads an attribute that fills `bytes`, or less of it where its own size says so.
    ///
    /// # Errors
    ///
    /// Fewer bytes than the first published attribute has, a size beyond `bytes`, or sample fields that
    /// this reader does not know, so cannot step over.
    pub(crate) fn parse(bytes: &[u8], endian: Endian, place: BytePosition) -> Result<Self, Error> {
        let size = parse_size(bytes, endian, place)?;
        let mut padded = [0; BYTES_READ];
        for (to, from) in padded.iter_mut().zip(bytes.iter().take(size)) {
            *to = *from;
        }
        let mut attr = Self::parse_padded(&padded, endian, place)?;
        attr.size = u32::try_from(size).unwrap_or(u32::MAX);
        attr.check_known(place)?;
        Ok(attr)
    }

    fn parse_padded(bytes: &[u8], endian: Endian, place: BytePosition) -> Result<Self, Error> {
        let mut at = Cursor::new(bytes, endian, "event attribute", place);
        let mut attr = Self { kind: at.u32()?, size: at.u32()?, config: at.u64()?, ..Self::default() };
        attr.period_or_frequency = at.u64()?;
        attr.sample_type = SampleFields(at.u64()?);
        attr.read_format = at.u64()?;
        attr.flags = logical_flags(at.u64()?, endian);
        at.take(4)?; // wakeup_events
        attr.breakpoint_kind = at.u32()?;
        attr.config1 = at.u64()?;
        attr.config2 = at.u64()?;
        attr.branch_sample_type = at.u64()?;
        attr.user_registers = at.u64()?;
        at.take(8)?; // sample_stack_user, clockid
        attr.interrupt_registers = at.u64()?;
        Ok(attr)
    }

    fn check_known(&self, place: BytePosition) -> Result<(), Error> {
        let unknown = self.sample_type.0 & !SampleFields::KNOWN.0;
        if unknown != 0 {
            let problem = format!("sample_type has the bits {unknown:#x}, newer than this reader");
            return Err(Error::unsupported("event attribute", place, problem));
        }
        if self.read_format & !0x1f != 0 {
            let problem = format!("read_format is {:#x}, newer than this reader", self.read_format);
            return Err(Error::unsupported("event attribute", place, problem));
        }
        Ok(())
    }

    fn has(&self, flag: u32) -> bool {
        self.flags >> flag & 1 != 0
    }

    /// `period_or_frequency` is a frequency in Hz; the kernel varies the period to meet it.
    #[must_use]
    pub fn is_frequency(&self) -> bool {
        self.has(flag::FREQUENCY)
    }

    /// `precise_ip`: 0 the instruction pointer may lag by any distance, up to 3 it must not lag.
    #[must_use]
    pub fn precise_ip(&self) -> u8 {
        (self.flags >> flag::PRECISE_IP & 3) as u8
    }

    /// Records that are no samples end in a sample's identity too.
    #[must_use]
    pub fn has_sample_id_all(&self) -> bool {
        self.has(flag::SAMPLE_ID_ALL)
    }

    /// User code is left out.
    #[must_use]
    pub fn excludes_user(&self) -> bool {
        self.has(flag::EXCLUDE_USER)
    }

    /// Kernel code is left out.
    #[must_use]
    pub fn excludes_kernel(&self) -> bool {
        self.has(flag::EXCLUDE_KERNEL)
    }

    /// The software event without samples; `perf record` opens it for records of mappings and tasks.
    #[must_use]
    pub fn is_dummy(&self) -> bool {
        self.kind == 1 && self.config == 9
    }
}

/// A breakpoint on data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataBreakpoint {
    /// First byte watched.
    pub address: u64,
    /// Bytes watched.
    pub length: u64,
    /// Only writes are sampled.
    pub is_write_only: bool,
}

impl Attr {
    /// The bytes watched, if the event is a breakpoint on data (`PERF_TYPE_BREAKPOINT`, `HW_BREAKPOINT_*` of
    /// `include/uapi/linux/hw_breakpoint.h`).
    #[must_use]
    pub fn data_breakpoint(&self) -> Option<DataBreakpoint> {
        let (reads_or_writes, writes, executes) = (3, 2, 4);
        let kind = self.breakpoint_kind;
        let is_data = self.kind == 5 && kind & reads_or_writes != 0 && kind & executes == 0;
        let (address, length, is_write_only) = (self.config1, self.config2, kind == writes);
        is_data.then_some(DataBreakpoint { address, length, is_write_only })
    }
}

/// Bytes the attribute says it has; zero means the first published size.
fn parse_size(bytes: &[u8], endian: Endian, place: BytePosition) -> Result<usize, Error> {
    let mut at = Cursor::new(bytes, endian, "event attribute", place);
    at.take(4)?;
    let size = match at.u32()? as usize {
        0 => SIZE_VER0,
        stated => stated,
    };
    if !(SIZE_VER0..=SIZE_LIMIT).contains(&size) {
        return Err(Error::malformed("event attribute", place, format!("its size is {size} bytes")));
    }
    Cursor::new(bytes, endian, "event attribute", place).take(size)?;
    Ok(size)
}

/// The flags as a little-endian machine numbers them; `precise_ip` is the only one wider than a bit.
fn logical_flags(word: u64, endian: Endian) -> u64 {
    let precise = endian.bit_field(word, flag::PRECISE_IP, 2);
    let single_bits = match endian {
        Endian::Little => word,
        Endian::Big => word.reverse_bits(),
    };
    single_bits & !(3 << flag::PRECISE_IP) | precise << flag::PRECISE_IP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(size: u32, length: usize, endian: Endian) -> Vec<u8> {
        let mut bytes = vec![0xee; length];
        let (kind, size) = match endian {
            Endian::Little => (4_u32.to_le_bytes(), size.to_le_bytes()),
            Endian::Big => (4_u32.to_be_bytes(), size.to_be_bytes()),
        };
        bytes[0..4].copy_from_slice(&kind);
        bytes[4..8].copy_from_slice(&size);
        bytes[24..40].fill(0); // sample_type, read_format: 0xee… are unknown bits
        bytes
    }

    #[test]
    fn members_beyond_a_short_attribute_are_zero() {
        let attr =
            Attr::parse(&bytes(72, 136, Endian::Little), Endian::Little, BytePosition::default()).unwrap();
        assert_eq!((attr.size, attr.config2), (72, 0xeeee_eeee_eeee_eeee));
        assert_eq!((attr.branch_sample_type, attr.interrupt_registers), (0, 0));
    }

    #[test]
    fn a_longer_attribute_is_read_as_far_as_it_is_known() {
        let attr = Attr::parse(&bytes(160, 160, Endian::Big), Endian::Big, BytePosition::default()).unwrap();
        assert_eq!((attr.kind, attr.size, attr.interrupt_registers), (4, 160, 0xeeee_eeee_eeee_eeee));
    }

    #[test]
    fn a_zero_size_means_the_first_published_attribute() {
        let attr =
            Attr::parse(&bytes(0, 80, Endian::Little), Endian::Little, BytePosition::default()).unwrap();
        assert_eq!((attr.size, attr.config1, attr.config2), (64, 0xeeee_eeee_eeee_eeee, 0));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for (size, length) in [(8, 136), (136, 100), (u32::MAX, 136)] {
            let bytes = bytes(size, length, Endian::Little);
            assert!(
                Attr::parse(&bytes, Endian::Little, BytePosition::default()).is_err(),
                "{size} in {length}"
            );
        }
    }

    #[test]
    fn sample_fields_of_a_newer_kernel_are_refused_by_name() {
        let mut bytes = bytes(136, 136, Endian::Little);
        bytes[24..32].copy_from_slice(&(1_u64 << 25 | 1).to_le_bytes());
        let error = Attr::parse(&bytes, Endian::Little, BytePosition::in_file(104)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unsupported event attribute at byte 104: sample_type has the bits 0x2000000, newer than this reader"
        );
    }

    #[test]
    fn flags_of_both_byte_orders_mean_the_same() {
        // exclude_kernel, precise_ip = 2, sample_id_all.
        let little = 1 << 5 | 2 << 15 | 1 << 18;
        let big = 1 << 58 | 2 << 47 | 1 << 45;
        assert_eq!(logical_flags(little, Endian::Little), little);
        assert_eq!(logical_flags(big, Endian::Big), little);
        let attr = Attr { flags: little, ..Attr::default() };
        assert!(attr.excludes_kernel() && attr.has_sample_id_all() && !attr.excludes_user());
        assert_eq!(attr.precise_ip(), 2);
    }
}
