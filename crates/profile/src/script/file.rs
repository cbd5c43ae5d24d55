//! The text as a recording: facts, records in the order of the lines.

use super::about;
use super::columns::{Columns, Roles};
use super::front::Front;
use super::lines::Lines;
use super::other;
use super::sample_line::{Line, SampleLine};
use super::symbol::{Landmark, Landmarks, Space, Symbol};
use crate::data_source::DataSource;
use crate::perf_data::{Attr, Endian, Error, Event, EventIndex, Facts, Record, Source};
use crate::sample::{CpuMode, Sample, SampleFields, SampleLayout, Weight};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// More events than any recording has.
const EVENT_LIMIT: usize = 1 << 12;
/// More frames than perf records (`kernel.perf_event_max_stack` can be raised, though not this far).
const FRAME_LIMIT: usize = 1 << 16;
/// Digits an address has at least where nothing but its form tells a line from other text.
const TELLING_DIGITS: usize = 6;

/// Whether the first bytes of a file are text.
pub(crate) fn is_text(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x1b);
    !head.is_empty() && !head.iter().any(is_control)
}

/// The text of `perf script`, whichever fields it was asked for. Its records can be read any number of times.
#[derive(Debug)]
pub struct Script {
    source: Source,
    facts: Facts,
    /// Events by name; one without a name is that of lines without.
    events: FxHashMap<String, usize>,
    roles: Vec<Roles>,
    landmarks: Landmarks,
    has_kernel_code: bool,
    has_short_times: bool,
    /// How call chains and branches are kept for [`Sample::parts`].
    layout: SampleLayout,
}

impl Script {
    /// Goes over the text once: which events there are, and which fields their lines have.
    pub(crate) fn of_source(source: Source) -> Result<Self, Error> {
        let mut survey = Survey::default();
        let mut reader = Reader::new(&source);
        while reader.advance()? {
            survey.note(&reader)?;
        }
        let roles: Vec<Roles> = survey.columns.iter().map(Columns::roles).collect();
        survey.check_ip(&roles)?;
        let mut facts = survey.facts;
        facts.is_finished = true;
        let named = survey.names.iter().zip(&roles).zip(&survey.fields);
        facts.events = named.map(|((name, roles), fields)| event(name, roles, *fields)).collect();
        let fields = SampleFields::CALLCHAIN | SampleFields::BRANCH_STACK;
        Ok(Self {
            facts,
            events: survey.events,
            roles,
            landmarks: survey.landmarks,
            has_kernel_code: survey.has_kernel_code,
            has_short_times: survey.has_short_times,
            layout: SampleLayout::new(&Attr { sample_type: fields, ..Attr::default() }, Endian::Little),
            source,
        })
    }

    /// What the text says of its recording: events, and what `perf script --header` prints.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Where the text shows that symbols lay, by address space; needs the field `symoff`.
    #[must_use]
    pub fn landmarks(&self) -> &BTreeMap<Space, Landmark> {
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
        let lacks = |has: &dyn Fn(&Roles) -> bool| !self.roles.iter().any(has);
        let mut fields: Vec<&str> = Vec::new();
        for (is_absent, field) in [
            (lacks(&Roles::has_addr), "addr"),
            (lacks(&Roles::has_data_source), "data_src"),
            (lacks(&Roles::has_weight), "weight"),
            (!self.has_field(SampleFields::PERIOD), "period"),
        ] {
            if is_absent {
                fields.push(field);
            }
        }
        if !fields.is_empty() {
            let (fields, more) = (fields.join(", "), fields.join(",+"));
            notes.push(format!("the text has no {fields}; if recorded, perf script -F +{more} prints them"));
        }
        if self.has_kernel_code && !self.landmarks.spaces.contains_key(&Space::Kernel) {
            notes.push(
                "the text does not tell where the kernel lay, so addresses are taken as linked; \
                 perf script -F +symoff tells"
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

    fn has_field(&self, field: SampleFields) -> bool {
        self.facts.events.iter().any(|event| event.attr.sample_type.contains(field))
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
        let [latency, instruction, retirement] = values.weights;
        let weight = decimal(latency)?.map(|latency| Weight {
            latency,
            instruction_latency: instruction.and_then(|word| word.parse().ok()),
            retirement_latency: retirement.and_then(|word| word.parse().ok()),
        });
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
            weight,
            data_source: hexadecimal(values.data_source)?.map(DataSource),
            dso: symbol.dso,
            body: &reader.body,
            layout: Some(&self.layout),
            ..Sample::default()
        })
    }
}

fn event(name: &str, roles: &Roles, mut fields: SampleFields) -> Event {
    let has = [
        (roles.has_ip, SampleFields::IP),
        (roles.has_addr(), SampleFields::ADDR),
        (roles.has_data_source(), SampleFields::DATA_SRC),
        (roles.has_weight(), SampleFields::WEIGHT),
        (roles.has_period(), SampleFields::PERIOD),
    ];
    for (has, field) in has {
        if has {
            fields = fields | field;
        }
    }
    let name = if name.is_empty() { "samples" } else { name };
    Event {
        name: name.to_owned(),
        attr: Attr { sample_type: fields, ..about::attr_of_name(name) },
        ids: vec![],
    }
}

fn address(word: &str) -> Result<u64, String> {
    u64::from_str_radix(word, 16).map_err(|_| format!("{word} is not a number of 64 bits"))
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word} is not a decimal number of 64 bits"))
}

fn is_kernel(ip: u64) -> bool {
    ip >> 63 == 1
}

/// In whose code a sample is: as printed (`misc`), else as the file's name or the address says.
fn cpu_mode(front: &Front, ip: Option<u64>, dso: Option<&str>) -> CpuMode {
    if let Some(mode) = front.cpu_mode {
        return mode;
    }
    match (dso.is_some_and(|dso| dso.starts_with("[guest.")), ip) {
        (true, _) => CpuMode::GuestKernel,
        (false, Some(ip)) if is_kernel(ip) => CpuMode::Kernel,
        (false, Some(_)) => CpuMode::User,
        (false, None) => CpuMode::Unknown,
    }
}

/// What a first look at all lines finds.
#[derive(Debug, Default)]
struct Survey {
    facts: Facts,
    events: FxHashMap<String, usize>,
    names: Vec<String>,
    columns: Vec<Columns>,
    /// Fields of the front, by event.
    fields: Vec<SampleFields>,
    landmarks: Landmarks,
    /// The first sample: its line, and whether it has a time and an event.
    first: Option<(u64, bool, bool)>,
    has_kernel_code: bool,
    has_short_times: bool,
}

impl Survey {
    fn note(&mut self, reader: &Reader<'_>) -> Result<(), Error> {
        match Line::parse(&reader.line) {
            Line::Empty => about::note_comment(&mut self.facts, &reader.line),
            Line::Other(front, text) => {
                if other::record(front, text).is_none() {
                    return Err(Error::line(
                        reader.number,
                        "is not of a form that perf script prints".into(),
                    ));
                }
            }
            Line::Sample(line) => self.note_sample(&line, reader)?,
        }
        Ok(())
    }

    fn note_sample(&mut self, line: &SampleLine<'_>, reader: &Reader<'_>) -> Result<(), Error> {
        check_form(line, reader)?;
        self.check_front(line, reader.number)?;
        let event = self.event(line.event.unwrap_or_default(), reader.number)?;
        if let Some(columns) = self.columns.get_mut(event) {
            columns.note(line, reader.has_frames());
        }
        if let Some(fields) = self.fields.get_mut(event) {
            *fields = *fields | front_fields(line);
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
        match mode {
            CpuMode::Kernel => self.landmarks.note(None, ip, &symbol),
            CpuMode::User => {
                self.landmarks.note(Some(line.front.pid.or(line.front.tid).unwrap_or(0)), ip, &symbol);
            }
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self, name: &str, line: u64) -> Result<usize, Error> {
        if let Some(known) = self.events.get(name) {
            return Ok(*known);
        }
        let index = self.names.len();
        if index == EVENT_LIMIT {
            return Err(Error::line(line, format!("has one event more than {EVENT_LIMIT}")));
        }
        self.events.insert(name.to_owned(), index);
        self.names.push(name.to_owned());
        self.columns.push(Columns::default());
        self.fields.push(SampleFields::default());
        Ok(index)
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
    fn check_ip(&self, roles: &[Roles]) -> Result<(), Error> {
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

fn front_fields(line: &SampleLine<'_>) -> SampleFields {
    let front = &line.front;
    let has = [
        (front.tid.is_some(), SampleFields::TID),
        (front.time.is_some(), SampleFields::TIME),
        (front.cpu.is_some(), SampleFields::CPU),
        (line.period.is_some(), SampleFields::PERIOD),
    ];
    let fields = has.iter().filter(|(has, _)| *has).map(|(_, field)| *field);
    fields.fold(SampleFields::default(), |all, field| all | field)
}

/// A line and the frames of its call chain.
#[derive(Debug)]
struct Reader<'s> {
    lines: Lines<'s>,
    line: String,
    /// Number of the line, not of its last frame.
    number: u64,
    frame: String,
    /// The frame that holds the instruction.
    first: String,
    frames: usize,
    /// Call chain and branches as a perf.data's sample holds them.
    body: Vec<u8>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s Source) -> Self {
        let lines = Lines::new(source);
        let (line, frame, first) = Default::default();
        Self { lines, line, number: 0, frame, first, frames: 0, body: Vec::new() }
    }

    /// Reads the next line and its frames; `false` if there is none.
    fn advance(&mut self) -> Result<bool, Error> {
        if !self.lines.next(&mut self.line)? {
            return Ok(false);
        }
        self.number = self.lines.number();
        self.frames = 0;
        self.body.clear();
        self.body.extend([0; 8]);
        while !self.line.is_empty() && self.lines.peek()? == Some(b'\t') {
            self.lines.next(&mut self.frame)?;
            self.note_frame()?;
        }
        let count = (self.frames as u64).to_le_bytes();
        self.body.iter_mut().zip(count).for_each(|(to, from)| *to = from);
        self.note_branches();
        Ok(true)
    }

    /// `ADDRESS SYMBOL+0xOFFSET (FILE)`. Functions inlined at an address stand in front of the one that holds it.
    fn note_frame(&mut self) -> Result<(), Error> {
        if self.frame.trim_end().ends_with("(inlined)") || self.frame.trim_start().is_empty() {
            return Ok(());
        }
        let ip = frame_address(&self.frame).map_err(|problem| Error::line(self.lines.number(), problem))?;
        if self.frames == FRAME_LIMIT {
            return Err(Error::line(self.lines.number(), format!("is a frame more than {FRAME_LIMIT}")));
        }
        self.body.extend(ip.to_le_bytes());
        self.frames += 1;
        if self.frames == 1 {
            std::mem::swap(&mut self.frame, &mut self.first);
        }
        Ok(())
    }

    /// Branches of the field `brstack`, `0xFROM/0xTO/…`, youngest first.
    fn note_branches(&mut self) {
        let at = self.body.len();
        self.body.extend([0; 8]);
        let mut count = 0_u64;
        if memchr::memmem::find(self.line.as_bytes(), b"/0x").is_none() {
            return;
        }
        for (from, to) in self.line.split_whitespace().filter_map(branch) {
            count += 1;
            [from, to, 0].iter().for_each(|word: &u64| self.body.extend(word.to_le_bytes()));
        }
        let slot = self.body.get_mut(at..).into_iter().flatten();
        slot.zip(count.to_le_bytes()).for_each(|(to, from)| *to = from);
    }

    fn has_frames(&self) -> bool {
        self.frames > 0
    }

    /// The instruction of a sample with frames.
    fn first_frame(&self) -> Result<Option<u64>, Error> {
        frame_address(&self.first).map(Some).map_err(|problem| Error::line(self.number, problem))
    }

    fn first_symbol(&self) -> Symbol<'_> {
        let text = self.first.trim_start();
        let symbol = text.split_once(char::is_whitespace).map(|(_, symbol)| symbol);
        if self.has_frames() { symbol.map(Symbol::parse).unwrap_or_default() } else { Symbol::default() }
    }
}

fn frame_address(frame: &str) -> Result<u64, String> {
    let word = frame.split_whitespace().next().unwrap_or_default();
    u64::from_str_radix(word, 16).map_err(|_| format!("{word:?} is not an address in a call chain"))
}

fn branch(word: &str) -> Option<(u64, u64)> {
    let mut parts = word.strip_prefix("0x")?.split('/');
    let from = u64::from_str_radix(parts.next()?, 16).ok()?;
    let to = u64::from_str_radix(parts.next()?.strip_prefix("0x")?, 16).ok()?;
    Some((from, to))
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
        let number = self.reader.number;
        match Line::parse(&self.reader.line) {
            Line::Sample(line) => {
                self.file.sample(&line, &self.reader).map(|sample| Some(Record::Sample(sample)))
            }
            Line::Other(front, text) => {
                let wrong = || Error::line(number, "is not of a form that perf script prints".into());
                other::record(front, text).map(Some).ok_or_else(wrong)
            }
            Line::Empty => Ok(Some(Record::Other { kind: 0 })),
        }
    }
}

#[cfg(test)]
mod tests;
