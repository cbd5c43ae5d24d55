//! The text as a recording: facts, records in the order of the lines.

use super::columns::ColumnRoles;
use super::line_prefix::cpu_mode;
use super::reader::SampleReader;
use super::sample_line::{SampleLine, ScriptLine, parse_address};
use super::scan::{ScannedEvent, ScriptScan};
use super::symbol::{AddressSpace, Symbol, SymbolAddresses, SymbolAddressesBySpace};
use super::{header, records};
use crate::address::{DataAddress, LoadedAddress};
use crate::data_source::DataSource;
use crate::perf_data::{Attr, ByteSource, Error, Event, EventIndex, Record, RecordingFacts};
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
pub struct ScriptFile {
    source: ByteSource,
    facts: RecordingFacts,
    /// Events by name; one without a name is that of lines without.
    events: FxHashMap<String, usize>,
    roles: Vec<ColumnRoles>,
    symbol_addresses: SymbolAddressesBySpace,
    has_kernel_code: bool,
    has_short_times: bool,
    /// It doesn't say which branches were recorded.
    has_untold_branches: bool,
}

impl ScriptFile {
    /// Goes over the text once: which events there are, and which fields their lines have.
    pub(crate) fn from_source(source: ByteSource) -> Result<Self, Error> {
        let mut scan = ScriptScan::default();
        let mut reader = SampleReader::new(&source);
        while reader.advance()? {
            scan.add(&reader)?;
        }
        let roles: Vec<ColumnRoles> = scan.events.iter().map(|event| event.columns.assign_roles()).collect();
        scan.check_ip(&roles)?;
        let mut facts = scan.facts;
        facts.is_finished = true;
        facts.events =
            scan.events.iter().zip(&roles).map(|(event, roles)| describe_event(event, roles)).collect();
        let has_unknown_branches = header::set_branch_types(&mut facts.events, &scan.branches);
        Ok(Self {
            facts,
            events: scan.numbers,
            roles,
            symbol_addresses: scan.symbol_addresses,
            has_kernel_code: scan.has_kernel_code,
            has_short_times: scan.has_short_times,
            has_untold_branches: has_unknown_branches,
            source,
        })
    }

    /// Facts about the recording: events, and the comments of `perf script --header`.
    #[must_use]
    pub fn facts(&self) -> &RecordingFacts {
        &self.facts
    }

    /// Loaded addresses of symbols, by address space; needs the field `symoff`.
    #[must_use]
    pub fn symbol_addresses(&self) -> &BTreeMap<AddressSpace, SymbolAddresses> {
        &self.symbol_addresses.spaces
    }

    /// The records from the first line on.
    #[must_use]
    pub fn records(&self) -> ScriptRecords<'_> {
        ScriptRecords { file: self, reader: SampleReader::new(&self.source) }
    }

    /// Notes on fields that the text lacks and attribution and profiles use, a sentence each.
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
        let missing = wanted.into_iter().filter(|(field, _)| !has(*field));
        let fields: Vec<&str> = missing.map(|(_, word)| word).collect();
        if !fields.is_empty() {
            let (fields, more) = (fields.join(", "), fields.join(",+"));
            notes.push(format!("the text has no {fields}; if recorded, perf script -F +{more} prints them"));
        }
        if self.has_kernel_code && !self.symbol_addresses.spaces.contains_key(&AddressSpace::Kernel) {
            notes.push(
                "the text has no load bias (KASLR offset) of the kernel, so addresses are taken as linked; \
                 perf script -F +symoff prints it"
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
    fn sample<'a>(&'a self, line: &SampleLine<'a>, input: &'a SampleReader<'_>) -> Result<Sample<'a>, Error> {
        let line_error = |problem: String| Error::line(input.number, problem);
        let event = self.events.get(line.event.unwrap_or_default()).copied().unwrap_or(usize::MAX);
        let values = self.roles.get(event).and_then(|roles| roles.values(line, input.has_frames()));
        let values =
            values.ok_or_else(|| line_error("has other fields than the event's lines before it".into()))?;
        let hexadecimal =
            |word: Option<&str>| word.map(|word| parse_address(word).map_err(line_error)).transpose();
        let decimal =
            |word: Option<&str>| word.map(|word| parse_decimal(word).map_err(line_error)).transpose();
        let inline = values.ip.and_then(|index| line.numbers.get(index));
        let ip =
            if input.has_frames() { input.first_frame()? } else { hexadecimal(inline)?.map(LoadedAddress) };
        let symbol = match values.ip {
            Some(index) => Symbol::parse(line.text_after(&input.line, index)),
            None => input.first_symbol(),
        };
        Ok(Sample {
            event: EventIndex(u32::try_from(event).unwrap_or(u32::MAX)),
            cpu_mode: cpu_mode(&line.prefix, ip, symbol.dso),
            ip,
            pid: line.prefix.pid,
            tid: line.prefix.tid,
            time: line.prefix.time,
            addr: hexadecimal(values.addr)?.and_then(DataAddress::new),
            cpu: line.prefix.cpu,
            period: line.period.or(decimal(values.period)?).unwrap_or(1),
            callchain: Some(input.callchain()),
            branch_stack: Some(input.branch_stack()),
            latency: decimal(values.latency)?,
            data_source: hexadecimal(values.data_source)?.map(DataSource),
            dso: symbol.dso,
            ..Sample::default()
        })
    }
}

fn describe_event(event: &ScannedEvent, roles: &ColumnRoles) -> Event {
    let name = if event.name.is_empty() { "samples" } else { &event.name };
    let attr = Attr { sample_type: event.fields | roles.fields(), ..header::attr_from_name(name) };
    Event { name: name.to_owned(), attr, ids: Vec::new() }
}

fn parse_decimal(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word} is not a decimal number of 64 bits"))
}

/// The records of a text in the order of its lines.
#[derive(Debug)]
pub struct ScriptRecords<'f> {
    file: &'f ScriptFile,
    reader: SampleReader<'f>,
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
            if !ScriptLine::is_empty(&self.reader.line) {
                break;
            }
        }
        match ScriptLine::parse(&self.reader.line) {
            ScriptLine::Sample(line) => {
                self.file.sample(&line, &self.reader).map(|sample| Some(Record::Sample(sample)))
            }
            ScriptLine::Other(prefix, text) => {
                let line_error = || Error::line(self.reader.number, records::UNKNOWN_FORM.into());
                records::parse_record(prefix, text).map(Some).ok_or_else(line_error)
            }
            ScriptLine::Empty => Ok(Some(Record::Other { kind: 0 })),
        }
    }
}

#[cfg(test)]
mod tests;
