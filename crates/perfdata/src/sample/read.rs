//! Samples with the fields that attribution uses.

use super::fields::SampleField;
use super::layout::{FieldError, Part, SampleLayout, Sink};
use super::parts::{CpuMode, Parts, Weight};
use super::places::Places;
use crate::data_source::DataSource;
use crate::perf_data::{Endian, EventIndex};

/// `PERF_RECORD_MISC_EXACT_IP`.
const MISC_EXACT_IP: u16 = 1 << 14;

/// One sample. A field is `None` where the event's `sample_type` did not ask for it.
///
/// Here are the fields that attribution uses, for every sample; [`Sample::parts`] reads all others.
/// Making a sample allocates nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample<'a> {
    /// The event that was sampled.
    pub event: EventIndex,
    /// In whose code the sample was taken.
    pub cpu_mode: CpuMode,
    /// `ip` is exactly the instruction that caused the event (`PERF_RECORD_MISC_EXACT_IP`).
    pub exact_ip: bool,
    /// Address of the instruction.
    pub ip: Option<u64>,
    /// Process.
    pub pid: Option<u32>,
    /// Thread.
    pub tid: Option<u32>,
    /// Time in nanoseconds of the recording's clock.
    pub time: Option<u64>,
    /// Data address as recorded; zero where the hardware gave none, see [`Sample::data_address`].
    pub addr: Option<u64>,
    /// CPU that took the sample.
    pub cpu: Option<u32>,
    /// Events this sample stands for: as recorded, else the event's fixed period, else 1.
    pub period: u64,
    /// What the access cost.
    pub weight: Option<Weight>,
    /// Where the access was served.
    pub data_source: Option<DataSource>,
    /// Physical data address; zero where not known.
    pub physical_address: Option<u64>,
    /// The file its instruction is in, where a text names it; a perf.data tells by mappings.
    pub dso: Option<&'a str>,
    /// Where the other fields are.
    pub(crate) body: &'a [u8],
    pub(crate) layout: Option<&'a SampleLayout>,
}

impl<'a> Sample<'a> {
    /// The data address, unless none was recorded or it is zero, which is how "none" is written.
    #[must_use]
    pub fn data_address(&self) -> Option<u64> {
        self.addr.filter(|&address| address != 0)
    }

    /// Latency of the access in core cycles, where the event has weights.
    #[must_use]
    pub fn latency(&self) -> Option<u64> {
        self.weight.map(|weight| weight.latency)
    }

    /// The same at another instruction.
    #[must_use]
    pub fn with_ip(self, ip: Option<u64>) -> Self {
        Self { ip, ..self }
    }

    /// Whether a branch stack was asked for; it may be empty.
    #[inline]
    pub fn has_branches(&self) -> bool {
        self.layout.is_some_and(SampleLayout::has_branches)
    }

    /// The fields that are seldom wanted, read from the record once more.
    #[must_use]
    pub fn parts(&self) -> Parts<'a> {
        self.layout.map_or_else(Parts::default, |layout| layout.parts(self.body))
    }
}

impl SampleLayout {
    /// Reads the body of a `PERF_RECORD_SAMPLE` whose header has `misc`.
    ///
    /// # Errors
    ///
    /// The body is shorter or longer than the event's fields.
    #[inline]
    pub fn parse<'a>(&'a self, misc: u16, body: &'a [u8]) -> Result<Sample<'a>, FieldError> {
        let mut sample = Sample::default();
        self.read(misc, body, &mut sample)?;
        Ok(sample)
    }

    /// The same to a place. After an error it holds anything.
    ///
    /// # Errors
    ///
    /// As of [`SampleLayout::parse`].
    #[inline]
    pub(crate) fn read<'a>(
        &'a self,
        misc: u16,
        body: &'a [u8],
        into: &mut Sample<'a>,
    ) -> Result<(), FieldError> {
        *into = Sample {
            cpu_mode: CpuMode::from_misc(misc),
            exact_ip: misc & MISC_EXACT_IP != 0,
            period: self.unrecorded_period,
            body,
            layout: Some(self),
            ..Sample::default()
        };
        match self.places.as_ref().filter(|places| places.size == body.len()) {
            Some(places) => {
                places.read(body, self.endian, into);
                Ok(())
            }
            None => self.walk(body, into),
        }
    }
}

impl<'a> Sink<'a> for Sample<'a> {
    #[inline]
    fn number(&mut self, field: SampleField, value: u64) {
        match field {
            SampleField::Ip => self.ip = Some(value),
            SampleField::Time => self.time = Some(value),
            SampleField::Addr => self.addr = Some(value),
            SampleField::Period => self.period = value,
            SampleField::Weight => self.weight = Some(Weight::from_word(value, false)),
            SampleField::WeightStruct => self.weight = Some(Weight::from_word(value, true)),
            SampleField::DataSource => self.data_source = Some(DataSource(value)),
            SampleField::PhysicalAddress => self.physical_address = Some(value),
            _ => {}
        }
    }

    #[inline]
    fn pair(&mut self, field: SampleField, first: u32, second: u32) {
        match field {
            SampleField::Tid => (self.pid, self.tid) = (Some(first), Some(second)),
            SampleField::Cpu => self.cpu = Some(first),
            _ => {}
        }
    }

    #[inline]
    fn part(&mut self, _part: Part<'a>) {}
}

impl Places {
    /// Reads the fields of a body that is as long as it should be.
    #[inline]
    pub(super) fn read(&self, body: &[u8], endian: Endian, sample: &mut Sample<'_>) {
        let word = |at: u16| Some(endian.u64(*body.get(usize::from(at)..)?.first_chunk()?));
        let half = |at: u16| Some(endian.u32(*body.get(usize::from(at)..)?.first_chunk()?));
        sample.ip = word(self.ip);
        sample.pid = half(self.tid);
        sample.tid = half(self.tid.saturating_add(4));
        sample.time = word(self.time);
        sample.addr = word(self.addr);
        sample.cpu = half(self.cpu);
        sample.period = word(self.period).unwrap_or(sample.period);
        sample.weight = word(self.weight).map(|word| Weight::from_word(word, self.is_weight_struct));
        sample.data_source = word(self.data_source).map(DataSource);
        sample.physical_address = word(self.physical_address);
    }
}
