//! The first pass over all lines of a text: its events, their columns, loaded addresses of symbols.

use super::columns::{ColumnRoles, ColumnStatistics};
use super::line_prefix::cpu_mode;
use super::reader::SampleReader;
use super::sample_line::{SampleLine, ScriptLine, parse_address};
use super::symbol::{Symbol, SymbolAddressesBySpace};
use super::{header, records};
use crate::address::LoadedAddress;
use crate::perf_data::{Error, RecordingFacts};
use crate::sample::{CpuMode, SampleFields};
use rustc_hash::FxHashMap;

/// More events than any recording has.
const EVENT_LIMIT: usize = 1 << 12;
/// Fewest digits of an address where only its form distinguishes a line from other text.
const MIN_ADDRESS_DIGITS: usize = 6;

/// Results of the first pass over all lines.
#[derive(Debug, Default)]
pub(super) struct ScriptScan {
    pub(super) facts: RecordingFacts,
    /// Numbers of events by name.
    pub(super) numbers: FxHashMap<String, usize>,
    pub(super) events: Vec<ScannedEvent>,
    pub(super) symbol_addresses: SymbolAddressesBySpace,
    /// `branch_sample_type` of events by name, where comments have it.
    pub(super) branches: FxHashMap<String, u64>,
    /// The first sample: its line, and whether it has a time and an event.
    first_sample: Option<(u64, bool, bool)>,
    pub(super) has_kernel_code: bool,
    pub(super) has_short_times: bool,
}

#[derive(Debug, Default)]
pub(super) struct ScannedEvent {
    pub(super) name: String,
    pub(super) columns: ColumnStatistics,
    /// Fields besides those of the columns.
    pub(super) fields: SampleFields,
}

impl ScriptScan {
    pub(super) fn add(&mut self, reader: &SampleReader<'_>) -> Result<(), Error> {
        match ScriptLine::parse(&reader.line) {
            ScriptLine::Empty => {
                header::parse_comment(&mut self.facts, &reader.line);
                if let Some((event, chosen)) = header::parse_branch_types(&reader.line)
                    && self.branches.len() < EVENT_LIMIT
                {
                    self.branches.insert(event.to_owned(), chosen);
                }
            }
            ScriptLine::Other(prefix, text) => {
                if records::parse_record(prefix, text).is_none() {
                    return Err(Error::line(reader.number, records::UNKNOWN_FORM.into()));
                }
            }
            ScriptLine::Sample(line) => self.add_sample(&line, reader)?,
        }
        Ok(())
    }

    fn add_sample(&mut self, line: &SampleLine<'_>, reader: &SampleReader<'_>) -> Result<(), Error> {
        check_form(line, reader)?;
        self.check_prefix(line, reader.number)?;
        let number = self.event_number(line.event.unwrap_or_default(), reader.number)?;
        if let Some(event) = self.events.get_mut(number) {
            event.columns.add_line(line, reader.has_frames());
            event.fields = event.fields | other_fields(line, reader);
        }
        self.has_short_times |= line.prefix.has_short_time;
        self.add_symbol_address(line, reader)
    }

    /// Adds the loaded address of a symbol. With an offset behind it no symbol looks like a number, so the
    /// last number is the instruction.
    fn add_symbol_address(&mut self, line: &SampleLine<'_>, reader: &SampleReader<'_>) -> Result<(), Error> {
        let (ip, symbol) = if reader.has_frames() {
            (reader.first_frame()?, reader.first_symbol())
        } else {
            let last = line.numbers.count().checked_sub(1).and_then(|last| line.numbers.get(last));
            (last.and_then(|word| parse_address(word).ok()).map(LoadedAddress), Symbol::parse(line.rest))
        };
        let Some(ip) = ip else { return Ok(()) };
        let mode = cpu_mode(&line.prefix, Some(ip), symbol.dso);
        self.has_kernel_code |= mode == CpuMode::Kernel;
        let pid = line.prefix.pid.or(line.prefix.tid).unwrap_or(0);
        match mode {
            CpuMode::Kernel => self.symbol_addresses.add(None, ip, &symbol),
            CpuMode::User => self.symbol_addresses.add(Some(pid), ip, &symbol),
            _ => {}
        }
        Ok(())
    }

    fn event_number(&mut self, name: &str, line: u64) -> Result<usize, Error> {
        if let Some(known) = self.numbers.get(name) {
            return Ok(*known);
        }
        let number = self.events.len();
        if number == EVENT_LIMIT {
            return Err(Error::line(line, format!("has one event more than {EVENT_LIMIT}")));
        }
        self.numbers.insert(name.to_owned(), number);
        self.events.push(ScannedEvent { name: name.to_owned(), ..ScannedEvent::default() });
        Ok(number)
    }

    /// All lines of a text have a time or none has, and the same for the event.
    fn check_prefix(&mut self, line: &SampleLine<'_>, number: u64) -> Result<(), Error> {
        let has = (line.prefix.time.is_some(), line.event.is_some());
        let (first, has_time, has_event) = *self.first_sample.get_or_insert((number, has.0, has.1));
        if has == (has_time, has_event) {
            return Ok(());
        }
        let field = if has.0 == has_time { "event" } else { "time" };
        let (ours, theirs) = if has.0 == has_time { (has.1, has_event) } else { (has.0, has_time) };
        let verb = |has| if has { "has" } else { "lacks" };
        let problem = format!("{} the field {field}, which line {first} {}", verb(ours), verb(theirs));
        Err(Error::line(number, problem))
    }

    /// Without instructions nothing can be attributed.
    pub(super) fn check_ip(&self, roles: &[ColumnRoles]) -> Result<(), Error> {
        match self.first_sample {
            Some((line, ..)) if !roles.iter().any(|roles| roles.has_ip) => {
                let problem = "has no address of an instruction; print it by perf script -F +ip,+sym,+symoff";
                Err(Error::line(line, problem.into()))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses text that has no form of a sample.
fn check_form(line: &SampleLine<'_>, reader: &SampleReader<'_>) -> Result<(), Error> {
    let is_frame = reader.line.starts_with('\t');
    let first = line.numbers.get(0).or_else(|| line.before_source_text.get(0)).unwrap_or_default();
    let has_form = line.prefix.time.is_some() || line.event.is_some() || first.len() >= MIN_ADDRESS_DIGITS;
    if is_frame || !has_form {
        let problem = "is not of a form that perf script prints (perf script -F comm,pid,tid,cpu,time,period,event,\
                       ip,sym,symoff,dso,addr,data_src,weight)";
        return Err(Error::line(reader.number, problem.into()));
    }
    Ok(())
}

/// The fields that a sample has besides its numbers.
fn other_fields(line: &SampleLine<'_>, reader: &SampleReader<'_>) -> SampleFields {
    let prefix = &line.prefix;
    SampleFields::from_flags([
        (prefix.tid.is_some(), SampleFields::TID),
        (prefix.time.is_some(), SampleFields::TIME),
        (prefix.cpu.is_some(), SampleFields::CPU),
        (line.period.is_some(), SampleFields::PERIOD),
        (reader.has_branches(), SampleFields::BRANCH_STACK),
    ])
}
