//! Walking the body of a sample in the kernel's order.

use super::cpu_mode::CpuMode;
use super::fields::SampleFields;
use super::fixed_offsets::{EXECUTION_FIELDS, FixedOffsets, weight_struct_latency};
use super::parts::{BranchStack, Sample, Words};
use crate::address::{DataAddress, LoadedAddress};
use crate::data_source::DataSource;
use crate::perf_data::{Attr, Endian};
use std::num::NonZeroU64;

/// `PERF_RECORD_MISC_EXACT_IP`.
const MISC_EXACT_IP: u16 = 1 << 14;
/// `PERF_SAMPLE_BRANCH_HW_INDEX`.
const BRANCH_HW_INDEX: u64 = 1 << 17;
/// `PERF_SAMPLE_BRANCH_COUNTERS`.
const BRANCH_COUNTERS: u64 = 1 << 19;

/// Bits of `read_format`.
const FORMAT_TIMES: u64 = 0b11;
const FORMAT_GROUP: u64 = 1 << 3;
const FORMAT_ID_AND_LOST: u64 = 1 << 2 | 1 << 4;

/// How the samples of one event are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampleLayout {
    fields: SampleFields,
    read_format: u64,
    branch_sample_type: u64,
    user_registers: u64,
    interrupt_registers: u64,
    default_period: u64,
    endian: Endian,
    /// Where fields are, if that is the same in all samples.
    fixed_offsets: Option<FixedOffsets>,
}

/// A sample that does not have the fields of its event's `sample_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldError {
    /// The record ends within a field, so many bytes into its body, where so many are needed.
    Short { field: SampleFields, offset: usize, needed: u64 },
    /// The record goes on after the last field, so many bytes into its body, by so many bytes.
    Leftover { offset: usize, count: usize },
}

/// An empty branch stack may or may not have a hardware index: the kernel leaves it out where the
/// event had no stack at all, and nothing in the record says which.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmptyStack {
    WithIndex,
    WithoutIndex,
}

impl SampleLayout {
    /// The layout that `attr` asks for in a recording of this byte order.
    #[must_use]
    pub(crate) fn new(attr: &Attr, endian: Endian) -> Self {
        Self {
            fields: attr.sample_type,
            read_format: attr.read_format,
            branch_sample_type: attr.branch_sample_type,
            user_registers: attr.user_registers,
            interrupt_registers: attr.interrupt_registers,
            default_period: if attr.is_frequency() { 1 } else { attr.period_or_frequency },
            endian,
            fixed_offsets: FixedOffsets::for_fields(attr.sample_type),
        }
    }

    /// Reads the body of a `PERF_RECORD_SAMPLE` whose header has `misc`. After an error `into` holds
    /// anything.
    ///
    /// # Errors
    ///
    /// The body is shorter or longer than the event's fields.
    #[inline]
    pub(crate) fn read<'a>(&self, misc: u16, body: &'a [u8], to: &mut Sample<'a>) -> Result<(), FieldError> {
        *to = Sample {
            cpu_mode: CpuMode::from_misc(misc),
            exact_ip: misc & MISC_EXACT_IP != 0,
            period: self.default_period,
            ..Sample::default()
        };
        match self.fixed_offsets.as_ref().filter(|offsets| offsets.size == body.len()) {
            Some(offsets) => {
                offsets.read(body, self.endian, to);
                Ok(())
            }
            None => self.read_fields(body, to),
        }
    }

    fn read_fields<'a>(&self, body: &'a [u8], sample: &mut Sample<'a>) -> Result<(), FieldError> {
        let result = self.read_fields_with(body, sample, EmptyStack::WithIndex);
        let may_lack_index = self.fields.contains(SampleFields::BRANCH_STACK)
            && self.branch_sample_type & BRANCH_HW_INDEX != 0;
        if result.is_err() && may_lack_index {
            return self.read_fields_with(body, sample, EmptyStack::WithoutIndex).or(result);
        }
        result
    }

    #[inline]
    fn read_fields_with<'a>(
        &self,
        body: &'a [u8],
        sample: &mut Sample<'a>,
        empty_stack: EmptyStack,
    ) -> Result<(), FieldError> {
        let mut at = FieldCursor { body, position: 0, fields: self.fields, endian: self.endian };
        at.word(SampleFields::IDENTIFIER)?;
        sample.ip = at.word(SampleFields::IP)?.map(LoadedAddress);
        (sample.pid, sample.tid) = at.half_words(SampleFields::TID)?.unzip();
        sample.time = at.word(SampleFields::TIME)?;
        sample.addr = at.word(SampleFields::ADDR)?.and_then(DataAddress::new);
        at.word(SampleFields::ID)?;
        at.word(SampleFields::STREAM_ID)?;
        sample.cpu = at.half_words(SampleFields::CPU)?.map(|(cpu, _reserved)| cpu);
        sample.period = at.word(SampleFields::PERIOD)?.unwrap_or(sample.period);
        if at.fields.intersects(EXECUTION_FIELDS) {
            self.read_execution_fields(&mut at, sample, empty_stack)?;
        }
        sample.latency = match at.word(SampleFields::WEIGHT_STRUCT)? {
            Some(word) => Some(weight_struct_latency(word)),
            None => at.word(SampleFields::WEIGHT)?,
        };
        sample.data_source = at.word(SampleFields::DATA_SRC)?.map(DataSource);
        at.word(SampleFields::TRANSACTION)?;
        at.registers(self.interrupt_registers, SampleFields::REGS_INTR)?;
        sample.physical_address = at.word(SampleFields::PHYS_ADDR)?.and_then(NonZeroU64::new);
        at.word(SampleFields::CGROUP)?;
        at.word(SampleFields::DATA_PAGE_SIZE)?;
        at.word(SampleFields::CODE_PAGE_SIZE)?;
        if let Some(size) = at.word(SampleFields::AUX)? {
            at.bytes(size, SampleFields::AUX)?;
        }
        at.finish()
    }

    /// The fields about where the code was: counters, call chain, branches, registers, stack.
    fn read_execution_fields<'a>(
        &self,
        at: &mut FieldCursor<'a>,
        sample: &mut Sample<'a>,
        empty_stack: EmptyStack,
    ) -> Result<(), FieldError> {
        if let Some(count) = at.word(SampleFields::READ)? {
            self.skip_read(at, count)?;
        }
        if let Some(count) = at.word(SampleFields::CALLCHAIN)? {
            sample.callchain = Some(at.words(count, SampleFields::CALLCHAIN)?);
        }
        if at.fields.contains(SampleFields::RAW) {
            let size = at.endian.u32(at.chunk(SampleFields::RAW)?);
            at.bytes(u64::from(size), SampleFields::RAW)?;
        }
        if let Some(count) = at.word(SampleFields::BRANCH_STACK)? {
            let has = |bit| self.branch_sample_type & bit != 0;
            if has(BRANCH_HW_INDEX) && (count != 0 || empty_stack == EmptyStack::WithIndex) {
                at.number(SampleFields::BRANCH_STACK)?;
            }
            let entries = at.words(count.saturating_mul(3), SampleFields::BRANCH_STACK)?;
            sample.branch_stack = Some(BranchStack(entries));
            if has(BRANCH_COUNTERS) {
                at.words(count, SampleFields::BRANCH_STACK)?;
            }
        }
        at.registers(self.user_registers, SampleFields::REGS_USER)?;
        // `perf_output_sample_ustack`: no bytes, then no filled size either.
        if let Some(size) = at.word(SampleFields::STACK_USER)?.filter(|size| *size != 0) {
            at.bytes(size, SampleFields::STACK_USER)?;
            at.number(SampleFields::STACK_USER)?;
        }
        Ok(())
    }

    /// `perf_output_read_group` and `perf_output_read_one`, behind the number of counters or the value of the
    /// only one.
    fn skip_read(&self, at: &mut FieldCursor<'_>, count: u64) -> Result<(), FieldError> {
        let words = |bits: u64| (self.read_format & bits).count_ones();
        let beside_value = words(FORMAT_ID_AND_LOST);
        let is_group = words(FORMAT_GROUP) > 0;
        for _ in 0..words(FORMAT_TIMES) + if is_group { 0 } else { beside_value } {
            at.number(SampleFields::READ)?;
        }
        if is_group {
            at.words(count.saturating_mul(u64::from(1 + beside_value)), SampleFields::READ)?;
        }
        Ok(())
    }
}

/// Where in the body the next field starts.
struct FieldCursor<'a> {
    body: &'a [u8],
    position: usize,
    fields: SampleFields,
    endian: Endian,
}

impl<'a> FieldCursor<'a> {
    /// A word, if the samples have the field.
    #[inline]
    fn word(&mut self, field: SampleFields) -> Result<Option<u64>, FieldError> {
        if self.fields.contains(field) { self.number(field).map(Some) } else { Ok(None) }
    }

    /// Two numbers of 32 bits, if the samples have the field.
    #[inline]
    fn half_words(&mut self, field: SampleFields) -> Result<Option<(u32, u32)>, FieldError> {
        if !self.fields.contains(field) {
            return Ok(None);
        }
        let (first, second) = (self.chunk(field)?, self.chunk(field)?);
        Ok(Some((self.endian.u32(first), self.endian.u32(second))))
    }

    #[inline]
    fn number(&mut self, field: SampleFields) -> Result<u64, FieldError> {
        self.chunk(field).map(|bytes| self.endian.u64(bytes))
    }

    #[inline]
    fn chunk<const N: usize>(&mut self, field: SampleFields) -> Result<[u8; N], FieldError> {
        let rest = self.body.get(self.position..).unwrap_or_default();
        let Some(bytes) = rest.first_chunk::<N>() else { return Err(self.short(field, N as u64)) };
        self.position += N;
        Ok(*bytes)
    }

    fn bytes(&mut self, count: u64, field: SampleFields) -> Result<&'a [u8], FieldError> {
        let rest = self.body.get(self.position..).unwrap_or_default();
        let bytes = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let Some(bytes) = bytes else { return Err(self.short(field, count)) };
        self.position += bytes.len();
        Ok(bytes)
    }

    fn words(&mut self, count: u64, field: SampleFields) -> Result<Words<'a>, FieldError> {
        let bytes = self.bytes(count.saturating_mul(8), field)?;
        Ok(Words { bytes, endian: self.endian })
    }

    /// A register dump, if the samples have the field; without an ABI there are no values.
    fn registers(&mut self, mask: u64, field: SampleFields) -> Result<(), FieldError> {
        if self.word(field)?.is_some_and(|abi| abi != 0) {
            self.words(u64::from(mask.count_ones()), field)?;
        }
        Ok(())
    }

    fn short(&self, field: SampleFields, needed: u64) -> FieldError {
        FieldError::Short { field, offset: self.position, needed }
    }

    fn finish(&self) -> Result<(), FieldError> {
        match self.body.len() - self.position {
            0 => Ok(()),
            count => Err(FieldError::Leftover { offset: self.position, count }),
        }
    }
}

#[cfg(test)]
impl SampleLayout {
    /// The same, without knowing where fields are.
    pub(super) fn without_fixed_offsets(self) -> Self {
        Self { fixed_offsets: None, ..self }
    }
}
