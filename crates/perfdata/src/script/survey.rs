//! A first look at all lines of a text: its events, their columns, where symbols lay.

use super::columns::{Columns, Roles};
use super::front::cpu_mode;
use super::reader::Reader;
use super::sample_line::{Line, SampleLine, address};
use super::symbol::{Landmarks, Symbol};
use super::{about, other};
use crate::perf_data::{Error, RecordingFacts};
use crate::sample::{CpuMode, SampleFields};
use rustc_hash::FxHashMap;

/// More events than any recording has.
const EVENT_LIMIT: usize = 1 << 12;
/// Digits an address has at least where nothing but its form tells a line from other text.
const TELLING_DIGITS: usize = 6;

/// What a first look at all lines finds.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) facts: RecordingFacts,
    /// Numbers of events by name.
    pub(super) numbers: FxHashMap<String, usize>,
    pub(super) events: Vec<SurveyedEvent>,
    pub(super) landmarks: Landmarks,
    /// `branch_sample_type` of events by name, where comments tell.
    pub(super) branches: FxHashMap<String, u64>,
    /// The first sample: its line, and whether it has a time and an event.
    first: Option<(u64, bool, bool)>,
    pub(super) has_kernel_code: bool,
    pub(super) has_short_times: bool,
}

#[derive(Debug, Default)]
pub(super) struct SurveyedEvent {
    pub(super) name: String,
    pub(super) columns: Columns,
    /// Fields besides those of the columns.
    pub(super) fields: SampleFields,
}

impl Survey {
    pub(super) fn note(&mut self, reader: &Reader<'_>) -> Result<(), Error> {
        match Line::parse(&reader.line) {
            Line::Empty => {
                about::note_comment(&mut self.facts, &reader.line);
                if let Some((event, chosen)) = about::branches_of_event(&reader.line)
                    && self.branches.len() < EVENT_LIMIT
                {
                    self.branches.insert(event.to_owned(), chosen);
                }
            }
            Line::Other(front, text) => {
                if other::record(front, text).is_none() {
                    return Err(Error::line(reader.number, other::UNKNOWN_FORM.into()));
                }
            }
            Line::Sample(line) => self.note_sample(&line, reader)?,
        }
        Ok(())
    }

    fn note_sample(&mut self, line: &SampleLine<'_>, reader: &Reader<'_>) -> Result<(), Error> {
        check_form(line, reader)?;
        self.check_front(line, reader.number)?;
        let number = self.number(line.event.unwrap_or_default(), reader.number)?;
        if let Some(event) = self.events.get_mut(number) {
            event.columns.note(line, reader.has_frames());
            event.fields = event.fields | other_fields(line, reader);
        }
        self.has_short_times |= line.front.has_short_time;
        self.note_place(line, reader)
    }

    /// Takes note of where a symbol lay. With an offset behind it no symbol looks like a number, so the last number is the
    /// instruction.
    fn note_place(&mut self, line: &SampleLine<'_>, reader: &Reader<'_>) -> Result<(), Error> {
        let (ip, symbol) = if reader.has_frames() {
            (reader.first_frame()?, reader.first_symbol())
        } else {
            let last = line.numbers.count().checked_sub(1).and_then(|last| line.numbers.get(last));
            (last.and_then(|word| address(word).ok()), Symbol::parse(line.rest))
        };
        let Some(ip) = ip else { return Ok(()) };
        let mode = cpu_mode(&line.front, Some(ip), symbol.dso);
        self.has_kernel_code |= mode == CpuMode::Kernel;
        let pid = line.front.pid.or(line.front.tid).unwrap_or(0);
        match mode {
            CpuMode::Kernel => self.landmarks.note(None, ip, &symbol),
            CpuMode::User => self.landmarks.note(Some(pid), ip, &symbol),
            _ => {}
        }
        Ok(())
    }

    fn number(&mut self, name: &str, line: u64) -> Result<usize, Error> {
        if let Some(known) = self.numbers.get(name) {
            return Ok(*known);
        }
        let number = self.events.len();
        if number == EVENT_LIMIT {
            return Err(Error::line(line, format!("has one event more than {EVENT_LIMIT}")));
        }
        self.numbers.insert(name.to_owned(), number);
        self.events.push(SurveyedEvent { name: name.to_owned(), ..SurveyedEvent::default() });
        Ok(number)
    }

    /// All lines of a text have a time or none has, and the same for the event.
    fn check_front(&mut self, line: &SampleLine<'_>, number: u64) -> Result<(), Error> {
        let has = (line.front.time.is_some(), line.event.is_some());
        let (first, has_time, has_event) = *self.first.get_or_insert((number, has.0, has.1));
        if has == (has_time, has_event) {
            return Ok(());
        }
        let field = if has.0 == has_time { "event" } else { "time" };
        let (ours, theirs) = if has.0 == has_time { (has.1, has_event) } else { (has.0, has_time) };
        let word = |has| if has { "has" } else { "lacks" };
        let problem = format!("{} the field {field}, which line {first} {}", word(ours), word(theirs));
        Err(Error::line(number, problem))
    }

    /// Without instructions nothing can be attributed.
    pub(super) fn check_ip(&self, roles: &[Roles]) -> Result<(), Error> {
        match self.first {
            Some((line, ..)) if !roles.iter().any(|roles| roles.has_ip) => {
                let problem = "has no address of an instruction; print it by perf script -F +ip,+sym,+symoff";
                Err(Error::line(line, problem.into()))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses text that has nothing of a sample.
fn check_form(line: &SampleLine<'_>, reader: &Reader<'_>) -> Result<(), Error> {
    let is_frame = reader.line.starts_with('\t');
    let first = line.numbers.get(0).or_else(|| line.before_words.get(0)).unwrap_or_default();
    let has_form = line.front.time.is_some() || line.event.is_some() || first.len() >= TELLING_DIGITS;
    if is_frame || !has_form {
        let problem = "is not of a form that perf script prints (perf script -F comm,pid,tid,cpu,time,period,event,\
                       ip,sym,symoff,dso,addr,data_src,weight)";
        return Err(Error::line(reader.number, problem.into()));
    }
    Ok(())
}

/// The fields that a sample has besides its numbers.
fn other_fields(line: &SampleLine<'_>, reader: &Reader<'_>) -> SampleFields {
    let front = &line.front;
    SampleFields::of([
        (front.tid.is_some(), SampleFields::TID),
        (front.time.is_some(), SampleFields::TIME),
        (front.cpu.is_some(), SampleFields::CPU),
        (line.period.is_some(), SampleFields::PERIOD),
        (reader.has_branches(), SampleFields::BRANCH_STACK),
    ])
}
