//! Walking the body of a sample in the kernel's order.

use super::fields::{SampleField, SampleFields};
use super::parts::{BranchStack, CounterRead, CounterValue, Parts, SampleRegisters, UserStack, Words};
use super::places::Places;
use crate::perf_data::{Attr, Endian};

/// `PERF_SAMPLE_BRANCH_HW_INDEX`.
const BRANCH_HW_INDEX: u64 = 1 << 17;
/// `PERF_SAMPLE_BRANCH_COUNTERS`.
const BRANCH_COUNTERS: u64 = 1 << 19;

/// The fields between the period and the weight, which most recordings have none of.
const EXECUTION: SampleFields = SampleFields(
    SampleFields::READ.0
        | SampleFields::CALLCHAIN.0
        | SampleFields::RAW.0
        | SampleFields::BRANCH_STACK.0
        | SampleFields::REGS_USER.0
        | SampleFields::STACK_USER.0,
);

const FORMAT_TIME_ENABLED: u64 = 1;
const FORMAT_TIME_RUNNING: u64 = 1 << 1;
const FORMAT_ID: u64 = 1 << 2;
const FORMAT_GROUP: u64 = 1 << 3;
const FORMAT_LOST: u64 = 1 << 4;

/// How the samples of one event are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleLayout {
    fields: SampleFields,
    read_format: u64,
    branch_sample_type: u64,
    user_registers: u64,
    interrupt_registers: u64,
    pub(super) unrecorded_period: u64,
    pub(super) endian: Endian,
    /// Where fields are, if that is the same in all samples.
    pub(super) places: Option<Places>,
}

/// A sample that does not hold what its event's `sample_type` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldError {
    /// The record ends within a field.
    Short {
        /// The field.
        field: SampleField,
        /// Bytes into the record's body where the field, or the part of it that is missing, starts.
        offset: usize,
        /// Bytes needed there.
        needed: u64,
    },
    /// The record goes on after the last field.
    Leftover {
        /// Bytes into the record's body.
        offset: usize,
        /// Bytes left over.
        count: usize,
    },
}

/// An empty branch stack may or may not have a hardware index: the kernel leaves it out where the
/// event had no stack at all, and nothing in the record says which.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmptyStack {
    WithIndex,
    Bare,
}

impl SampleLayout {
    /// The layout that `attr` asks for in a recording of this byte order.
    #[must_use]
    pub fn new(attr: &Attr, endian: Endian) -> Self {
        Self {
            fields: attr.sample_type,
            read_format: attr.read_format,
            branch_sample_type: attr.branch_sample_type,
            user_registers: attr.user_registers,
            interrupt_registers: attr.interrupt_registers,
            unrecorded_period: if attr.is_frequency() { 1 } else { attr.period_or_frequency },
            endian,
            places: Places::of(attr.sample_type),
        }
    }

    /// Whether samples have branch stacks.
    #[inline]
    pub(super) fn has_branches(&self) -> bool {
        self.fields.contains(SampleFields::BRANCH_STACK)
    }

    /// The fields that [`SampleLayout::parse`] stepped over; those of a body it refuses are left out.
    pub(super) fn parts<'a>(&self, body: &'a [u8]) -> Parts<'a> {
        let mut parts = Parts::default();
        match self.walk(body, &mut parts) {
            Ok(()) => parts,
            Err(_) => Parts::default(),
        }
    }

    /// Walks over the body and gives each field to `sink`.
    pub(super) fn walk<'a, S: Sink<'a>>(&self, body: &'a [u8], sink: &mut S) -> Result<(), FieldError> {
        let walked = self.walk_with(body, sink, EmptyStack::WithIndex);
        let may_be_bare = self.fields.contains(SampleFields::BRANCH_STACK)
            && self.branch_sample_type & BRANCH_HW_INDEX != 0;
        if walked.is_err() && may_be_bare {
            return self.walk_with(body, sink, EmptyStack::Bare).or(walked);
        }
        walked
    }

    #[inline]
    fn walk_with<'a, S: Sink<'a>>(
        &self,
        body: &'a [u8],
        sink: &mut S,
        empty_stack: EmptyStack,
    ) -> Result<(), FieldError> {
        let mut at = Walk { body, position: 0, fields: self.fields, endian: self.endian };
        Self::walk_identity(&mut at, sink)?;
        if at.fields.intersects(EXECUTION) {
            self.walk_execution(&mut at, sink, empty_stack)?;
        }
        self.walk_memory(&mut at, sink)?;
        at.finish()
    }

    /// The fields of fixed size at the front.
    #[inline]
    fn walk_identity<'a, S: Sink<'a>>(at: &mut Walk<'a>, sink: &mut S) -> Result<(), FieldError> {
        at.word(SampleFields::IDENTIFIER, SampleField::Identifier, sink)?;
        at.word(SampleFields::IP, SampleField::Ip, sink)?;
        at.half_words(SampleFields::TID, SampleField::Tid, sink)?;
        at.word(SampleFields::TIME, SampleField::Time, sink)?;
        at.word(SampleFields::ADDR, SampleField::Addr, sink)?;
        at.word(SampleFields::ID, SampleField::Id, sink)?;
        at.word(SampleFields::STREAM_ID, SampleField::StreamId, sink)?;
        at.half_words(SampleFields::CPU, SampleField::Cpu, sink)?;
        at.word(SampleFields::PERIOD, SampleField::Period, sink)
    }

    /// The fields about where the code was: counters, call chain, branches, registers, stack.
    fn walk_execution<'a, S: Sink<'a>>(
        &self,
        at: &mut Walk<'a>,
        sink: &mut S,
        empty_stack: EmptyStack,
    ) -> Result<(), FieldError> {
        if at.has(SampleFields::READ) {
            sink.part(Part::Read(self.parse_read(at)?));
        }
        if at.has(SampleFields::CALLCHAIN) {
            sink.part(Part::Callchain(at.counted_words(SampleField::Callchain)?));
        }
        if at.has(SampleFields::RAW) {
            let size = at.number_32(SampleField::Raw)?;
            sink.part(Part::Raw(at.bytes(u64::from(size), SampleField::Raw)?));
        }
        if at.has(SampleFields::BRANCH_STACK) {
            sink.part(Part::BranchStack(self.parse_branches(at, empty_stack)?));
        }
        if at.has(SampleFields::REGS_USER) {
            let registers = at.registers(self.user_registers, SampleField::UserRegisters)?;
            sink.part(Part::UserRegisters(registers));
        }
        if at.has(SampleFields::STACK_USER) {
            sink.part(Part::UserStack(parse_stack(at)?));
        }
        Ok(())
    }

    /// The fields about the access and what follows them.
    #[inline]
    fn walk_memory<'a, S: Sink<'a>>(&self, at: &mut Walk<'a>, sink: &mut S) -> Result<(), FieldError> {
        if at.has(SampleFields::WEIGHT_STRUCT) {
            at.word(SampleFields::WEIGHT_STRUCT, SampleField::WeightStruct, sink)?;
        } else {
            at.word(SampleFields::WEIGHT, SampleField::Weight, sink)?;
        }
        at.word(SampleFields::DATA_SRC, SampleField::DataSource, sink)?;
        at.word(SampleFields::TRANSACTION, SampleField::Transaction, sink)?;
        if at.has(SampleFields::REGS_INTR) {
            let registers = at.registers(self.interrupt_registers, SampleField::InterruptRegisters)?;
            sink.part(Part::InterruptRegisters(registers));
        }
        at.word(SampleFields::PHYS_ADDR, SampleField::PhysicalAddress, sink)?;
        at.word(SampleFields::CGROUP, SampleField::Cgroup, sink)?;
        at.word(SampleFields::DATA_PAGE_SIZE, SampleField::DataPageSize, sink)?;
        at.word(SampleFields::CODE_PAGE_SIZE, SampleField::CodePageSize, sink)?;
        if at.has(SampleFields::AUX) {
            let size = at.number(SampleField::Aux)?;
            sink.part(Part::Aux(at.bytes(size, SampleField::Aux)?));
        }
        Ok(())
    }

    /// `perf_output_read_group` and `perf_output_read_one`.
    fn parse_read<'a>(&self, at: &mut Walk<'a>) -> Result<CounterRead<'a>, FieldError> {
        let has = |bit| self.read_format & bit != 0;
        let (has_id, has_lost) = (has(FORMAT_ID), has(FORMAT_LOST));
        // The number of counters, or the value of the only one.
        let count = at.number(SampleField::Read)?;
        let time_enabled = has(FORMAT_TIME_ENABLED).then(|| at.number(SampleField::Read)).transpose()?;
        let time_running = has(FORMAT_TIME_RUNNING).then(|| at.number(SampleField::Read)).transpose()?;
        if has(FORMAT_GROUP) {
            let words_per_value = 1 + u64::from(has_id) + u64::from(has_lost);
            let group = at.words(count.saturating_mul(words_per_value), SampleField::Read)?;
            return Ok(CounterRead { time_enabled, time_running, lone: None, group, has_id, has_lost });
        }
        let id = has_id.then(|| at.number(SampleField::Read)).transpose()?;
        let lost = has_lost.then(|| at.number(SampleField::Read)).transpose()?;
        let lone = Some(CounterValue { value: count, id, lost });
        Ok(CounterRead { time_enabled, time_running, lone, group: Words::default(), has_id, has_lost })
    }

    fn parse_branches<'a>(
        &self,
        at: &mut Walk<'a>,
        empty_stack: EmptyStack,
    ) -> Result<BranchStack<'a>, FieldError> {
        let count = at.number(SampleField::BranchStack)?;
        let indexed = self.branch_sample_type & BRANCH_HW_INDEX != 0
            && (count != 0 || empty_stack == EmptyStack::WithIndex);
        let hw_index = indexed.then(|| at.number(SampleField::BranchStack)).transpose()?;
        let entries = at.words(count.saturating_mul(3), SampleField::BranchStack)?;
        let counters = (self.branch_sample_type & BRANCH_COUNTERS != 0)
            .then(|| at.words(count, SampleField::BranchStack))
            .transpose()?;
        Ok(BranchStack { hw_index, entries, counters })
    }
}

/// Takes the fields of a sample in the order the kernel writes them.
pub(super) trait Sink<'a> {
    /// A field of 64 bits.
    fn number(&mut self, field: SampleField, value: u64);
    /// A field of twice 32 bits.
    fn pair(&mut self, field: SampleField, first: u32, second: u32);
    fn part(&mut self, part: Part<'a>);
}

pub(super) enum Part<'a> {
    Read(CounterRead<'a>),
    Callchain(Words<'a>),
    Raw(&'a [u8]),
    BranchStack(BranchStack<'a>),
    UserRegisters(SampleRegisters<'a>),
    UserStack(UserStack<'a>),
    InterruptRegisters(SampleRegisters<'a>),
    Aux(&'a [u8]),
}

impl<'a> Sink<'a> for Parts<'a> {
    fn number(&mut self, field: SampleField, value: u64) {
        match field {
            SampleField::Identifier => self.identifier = Some(value),
            SampleField::Id => self.id = Some(value),
            SampleField::StreamId => self.stream_id = Some(value),
            SampleField::Transaction => self.transaction = Some(value),
            SampleField::Cgroup => self.cgroup = Some(value),
            SampleField::DataPageSize => self.data_page_size = Some(value),
            SampleField::CodePageSize => self.code_page_size = Some(value),
            _ => {}
        }
    }

    fn pair(&mut self, _field: SampleField, _first: u32, _second: u32) {}

    fn part(&mut self, part: Part<'a>) {
        match part {
            Part::Read(read) => self.read = Some(read),
            Part::Callchain(chain) => self.callchain = Some(chain),
            Part::Raw(raw) => self.raw = Some(raw),
            Part::BranchStack(stack) => self.branch_stack = Some(stack),
            Part::UserRegisters(registers) => self.user_registers = Some(registers),
            Part::UserStack(stack) => self.user_stack = Some(stack),
            Part::InterruptRegisters(registers) => self.interrupt_registers = Some(registers),
            Part::Aux(aux) => self.aux = Some(aux),
        }
    }
}

/// `perf_output_sample_ustack`: no bytes, then no filled size either.
fn parse_stack<'a>(at: &mut Walk<'a>) -> Result<UserStack<'a>, FieldError> {
    let size = at.number(SampleField::UserStack)?;
    let bytes = at.bytes(size, SampleField::UserStack)?;
    let filled = if size == 0 { 0 } else { at.number(SampleField::UserStack)? };
    Ok(UserStack { bytes, filled })
}

/// Where in the body the next field starts.
struct Walk<'a> {
    body: &'a [u8],
    position: usize,
    fields: SampleFields,
    endian: Endian,
}

impl<'a> Walk<'a> {
    fn has(&self, field: SampleFields) -> bool {
        self.fields.contains(field)
    }

    /// The 64-bit field, if the samples have it.
    #[inline]
    fn word<S: Sink<'a>>(
        &mut self,
        bit: SampleFields,
        field: SampleField,
        sink: &mut S,
    ) -> Result<(), FieldError> {
        if self.has(bit) {
            sink.number(field, self.number(field)?);
        }
        Ok(())
    }

    /// The pair of 32-bit fields, if the samples have it.
    #[inline]
    fn half_words<S: Sink<'a>>(
        &mut self,
        bit: SampleFields,
        field: SampleField,
        sink: &mut S,
    ) -> Result<(), FieldError> {
        if self.has(bit) {
            sink.pair(field, self.number_32(field)?, self.number_32(field)?);
        }
        Ok(())
    }

    #[inline]
    fn number(&mut self, field: SampleField) -> Result<u64, FieldError> {
        self.chunk::<8>(field).map(|bytes| self.endian.u64(bytes))
    }

    #[inline]
    fn number_32(&mut self, field: SampleField) -> Result<u32, FieldError> {
        self.chunk::<4>(field).map(|bytes| self.endian.u32(bytes))
    }

    #[inline]
    fn chunk<const N: usize>(&mut self, field: SampleField) -> Result<[u8; N], FieldError> {
        let rest = self.body.get(self.position..).unwrap_or_default();
        let Some(bytes) = rest.first_chunk::<N>() else { return Err(self.short(field, N as u64)) };
        self.position += N;
        Ok(*bytes)
    }

    fn bytes(&mut self, count: u64, field: SampleField) -> Result<&'a [u8], FieldError> {
        let rest = self.body.get(self.position..).unwrap_or_default();
        let bytes = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let Some(bytes) = bytes else { return Err(self.short(field, count)) };
        self.position += bytes.len();
        Ok(bytes)
    }

    fn words(&mut self, count: u64, field: SampleField) -> Result<Words<'a>, FieldError> {
        let bytes = self.bytes(count.saturating_mul(8), field)?;
        Ok(Words::new(bytes, self.endian))
    }

    fn counted_words(&mut self, field: SampleField) -> Result<Words<'a>, FieldError> {
        let count = self.number(field)?;
        self.words(count, field)
    }

    /// A register dump; without an ABI there are no values.
    fn registers(&mut self, mask: u64, field: SampleField) -> Result<SampleRegisters<'a>, FieldError> {
        let abi = self.number(field)?;
        let count = if abi == 0 { 0 } else { mask.count_ones() };
        Ok(SampleRegisters { abi, mask, values: self.words(u64::from(count), field)? })
    }

    fn short(&self, field: SampleField, needed: u64) -> FieldError {
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
    pub(super) fn without_places(self) -> Self {
        Self { places: None, ..self }
    }
}
