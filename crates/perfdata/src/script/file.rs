//! The text as a recording: facts, records in the order of the lines.

use super::columns::Roles;
use super::front::cpu_mode;
use super::reader::Reader;
use super::sample_line::{Line, SampleLine, address};
use super::survey::{Survey, SurveyedEvent};
use super::symbol::{AddressSpace, Landmark, Landmarks, Symbol};
use super::{about, other};
use crate::data_source::DataSource;
use crate::perf_data::{Attr, Error, Event, EventIndex, Record, RecordingFacts, Source};
use crate::sample::{Sample, SampleFields};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Whether the first bytes of a file are text.
pub(crate) fn is_text(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x1b);
    !head.is_empty() && !head.iter().any(is_control)
}

/// The text of `perf script`, whichever fields it was asked for. Its records can be read any number of times.
#[derive(Debug)]
pub struct Script {
    source: Source,
    facts: RecordingFacts,
    /// Events by name; one without a name is that of lines without.
    events: FxHashMap<String, usize>,
    roles: Vec<Roles>,
    landmarks: Landmarks,
    has_kernel_code: bool,
    has_short_times: bool,
    /// It doesn't tell which branches were recorded.
    has_untold_branches: bool,
}

impl Script {
    /// Goes over the text once: which events there are, and which fields their lines have.
    pub(crate) fn of_source(source: Source) -> Result<Self, Error> {
        let mut survey = Survey::default();
        let mut reader = Reader::new(&source);
        while reader.advance()? {
            survey.note(&reader)?;
        }
        let roles: Vec<Roles> = survey.events.iter().map(|event| event.columns.roles()).collect();
        survey.check_ip(&roles)?;
        let mut facts = survey.facts;
        facts.is_finished = true;
        facts.events =
            survey.events.iter().zip(&roles).map(|(event, roles)| described(event, roles)).collect();
        let has_untold_branches = about::choose_branches(&mut facts.events, &survey.branches);
        Ok(Self {
            facts,
            events: survey.numbers,
            roles,
            landmarks: survey.landmarks,
            has_kernel_code: survey.has_kernel_code,
            has_short_times: survey.has_short_times,
            has_untold_branches,
            source,
        })
    }

    /// What the text says of its recording: events, and what `perf script --header` prints.
    #[must_use]
    pub fn facts(&self) -> &RecordingFacts {
        &self.facts
    }

    /// Where the text shows that symbols lay, by address space; needs the field `symoff`.
    #[must_use]
    pub fn landmarks(&self) -> &BTreeMap<AddressSpace, Landmark> {
        &self.landmarks.spaces
    }

    /// The records from the first line on.
    #[must_use]
    pub fn records(&self) -> ScriptRecords<'_> {
        ScriptRecords { file: self, reader: Reader::new(&self.source) }
    }

    /// What the text lacks that attribution and profiles use, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let wanted = [
            (SampleFields::ADDR, "addr"),
            (SampleFields::DATA_SRC, "data_src"),
            (SampleFields::WEIGHT, "weight"),
            (SampleFields::PERIOD, "period"),
        ];
        let has = |field| self.facts.events.iter().any(|event| event.attr.sample_type.contains(field));
        let lacking = wanted.into_iter().filter(|(field, _)| !has(*field));
        let fields: Vec<&str> = lacking.map(|(_, word)| word).collect();
        if !fields.is_empty() {
            let (fields, more) = (fields.join(", "), fields.join(",+"));
            notes.push(format!("the text has no {fields}; if recorded, perf script -F +{more} prints them"));
        }
        if self.has_kernel_code && !self.landmarks.spaces.contains_key(&AddressSpace::Kernel) {
            notes.push(
                "the text does not tell where the kernel lay, so addresses are taken as linked; \
                 perf script -F +symoff tells"
                    .to_owned(),
            );
        }
        if self.has_untold_branches {
            notes.push(
                "the text does not tell which branches were recorded, so they are taken for all (perf record -b); \
                 perf script --header tells"
                    .to_owned(),
            );
        }
        if self.has_short_times {
            notes.push(
                "times are in microseconds, so samples closer together have no order; perf script --ns prints \
                 nanoseconds"
                    .to_owned(),
            );
        }
        notes
    }

    /// The sample in a line and the frames behind it.
    fn sample<'a>(&'a self, line: &SampleLine<'a>, reader: &'a Reader<'_>) -> Result<Sample<'a>, Error> {
        let wrong = |problem: String| Error::line(reader.number, problem);
        let event = self.events.get(line.event.unwrap_or_default()).copied().unwrap_or(usize::MAX);
        let values = self.roles.get(event).and_then(|roles| roles.values(line, reader.has_frames()));
        let values =
            values.ok_or_else(|| wrong("has other fields than the event's lines before it".into()))?;
        let hexadecimal = |word: Option<&str>| word.map(|word| address(word).map_err(wrong)).transpose();
        let decimal = |word: Option<&str>| word.map(|word| number(word).map_err(wrong)).transpose();
        let inline = values.ip.and_then(|index| line.numbers.get(index));
        let ip = if reader.has_frames() { reader.first_frame()? } else { hexadecimal(inline)? };
        let symbol = match values.ip {
            Some(index) => Symbol::parse(line.behind(&reader.line, index)),
            None => reader.first_symbol(),
        };
        Ok(Sample {
            event: EventIndex(u32::try_from(event).unwrap_or(u32::MAX)),
            cpu_mode: cpu_mode(&line.front, ip, symbol.dso),
            ip,
            pid: line.front.pid,
            tid: line.front.tid,
            time: line.front.time,
            addr: hexadecimal(values.addr)?,
            cpu: line.front.cpu,
            period: line.period.or(decimal(values.period)?).unwrap_or(1),
            callchain: Some(reader.callchain()),
            branch_stack: Some(reader.branch_stack()),
            latency: decimal(values.latency)?,
            data_source: hexadecimal(values.data_source)?.map(DataSource),
            dso: symbol.dso,
            ..Sample::default()
        })
    }
}

fn described(event: &SurveyedEvent, roles: &Roles) -> Event {
    let name = if event.name.is_empty() { "samples" } else { &event.name };
    let attr = Attr { sample_type: event.fields | roles.fields(), ..about::attr_of_name(name) };
    Event { name: name.to_owned(), attr, ids: Vec::new() }
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word} is not a decimal number of 64 bits"))
}

/// The records of a text in the order of its lines.
#[derive(Debug)]
pub struct ScriptRecords<'f> {
    file: &'f Script,
    reader: Reader<'f>,
}

impl ScriptRecords<'_> {
    /// Reads the next record.
    ///
    /// # Errors
    ///
    /// The file can't be read, or is another than it was when it was opened.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        loop {
            if !self.reader.advance()? {
                return Ok(None);
            }
            if !Line::is_empty(&self.reader.line) {
                break;
            }
        }
        match Line::parse(&self.reader.line) {
            Line::Sample(line) => {
                self.file.sample(&line, &self.reader).map(|sample| Some(Record::Sample(sample)))
            }
            Line::Other(front, text) => {
                let wrong = || Error::line(self.reader.number, other::UNKNOWN_FORM.into());
                other::record(front, text).map(Some).ok_or_else(wrong)
            }
            Line::Empty => Ok(Some(Record::Other { kind: 0 })),
        }
    }
}

#[cfg(test)]
mod tests;
