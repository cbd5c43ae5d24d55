//! What each sample of some recordings touched.

use super::link::{Linked, Linker};
use super::look;
use super::questions::{Decided, Question, Questions};
use super::traps::Traps;
use crate::aggregate::{Blocks, Clock};
use crate::attribute::answers::Answers;
use crate::attribute::decide::decide;
use crate::attribute::evidence::Seen;
use crate::attribute::objects::{Object, Objects};
use crate::attribute::reason::Reason;
use crate::attribute::slides::in_space;
use crate::attribute::target::{Operand, Target, TypeIndex};
use crate::perf_data::{Error, Record, Tally};
use crate::program::Program;
use crate::sample::Sample;
use crate::sample_file::SampleFile;
use crate::sweep::{Sweep, sweep};
use fieldline_debuginfo::Elf;
use rustc_hash::FxHashSet;

/// A recording with what turns its addresses into the program's.
struct Source<'f> {
    file: &'f SampleFile,
    linker: Linker,
    traps: Traps,
    /// When its samples were taken.
    clock: Clock,
    /// What samples touched, where addresses were used.
    decided: Decided,
    /// Its tally and the median gap of its samples, if they were found on the way.
    looked: Option<(Tally, u64)>,
    objects: Vec<Object>,
}

/// Recordings of one program whose sampled functions were analysed.
pub struct Attribution<'f> {
    sources: Vec<Source<'f>>,
    /// What the code tells.
    pub answers: Answers,
}

/// What a sample touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attributed {
    /// The instruction's address as linked, if it is of the program.
    pub ip: Option<u64>,
    /// Its function, an index of [`Answers::functions`].
    pub function: Option<u32>,
    /// What it touched: the outermost type that code and address show.
    pub target: Target<TypeIndex>,
    /// What the code alone tells that it touched.
    pub by_code: Target<TypeIndex>,
    /// Bytes touched.
    pub size: u64,
    /// Whether it stored.
    pub is_store: bool,
}

impl<'f> Attribution<'f> {
    /// Analyses the functions that the recordings' samples fall in, and finds the objects their addresses show.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn new<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [SampleFile],
    ) -> Result<Self, Error> {
        let (mut found, program) = Self::of_code(elf, program, files)?;
        for source in &mut found.sources {
            source.use_addresses(program, &mut found.answers)?;
        }
        Ok(found)
    }

    /// The same without a look at the addresses of data: what the code alone tells.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn by_code<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [SampleFile],
    ) -> Result<Self, Error> {
        Ok(Self::of_code(elf, program, files)?.0)
    }

    /// What the code alone tells, and the program with the units that were sampled.
    fn of_code<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [SampleFile],
    ) -> Result<(Self, &'a Program<'a>), Error> {
        let mut sources = Self::open(elf, files)?;
        let addresses = sampled(&mut sources)?;
        program.load(addresses.iter().copied());
        let program: &'a Program<'a> = program;
        Ok((Self { sources, answers: Answers::new(program, &addresses) }, program))
    }

    fn open(elf: &Elf<'_>, files: &'f [SampleFile]) -> Result<Vec<Source<'f>>, Error> {
        let open = |file| {
            let linker = Linker::new(elf, file)?;
            Ok(Source {
                file,
                linker,
                traps: Traps::of(file.facts()),
                clock: Clock::default(),
                decided: Decided::default(),
                looked: None,
                objects: Vec::new(),
            })
        };
        files.iter().map(open).collect()
    }

    /// Objects in memory that a recording's addresses show, in order of address.
    pub fn objects(&self, recording: usize) -> &[Object] {
        self.sources.get(recording).map_or(&[], |source| &source.objects)
    }

    /// Blocks of a recording's time.
    pub fn blocks(&self, recording: usize) -> Blocks {
        self.sources.get(recording).map(|source| source.clock.blocks()).unwrap_or_default()
    }

    /// What turns a recording's addresses into the program's.
    pub fn linker(&self, recording: usize) -> Option<&Linker> {
        self.sources.get(recording).map(|source| &source.linker)
    }

    /// Goes over the samples of one recording in file order.
    ///
    /// # Errors
    /// If a record can't be read, or the callback's own.
    pub fn each<E: From<Error>>(
        &self,
        recording: usize,
        mut each: impl FnMut(&Sample<'_>, &Attributed) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(part) = self.part(recording) else { return Ok(()) };
        let mut records = part.file().records();
        while let Some(record) = records.next_record()? {
            if let Record::Sample(sample) = record {
                let attributed = part.attribute(&sample);
                each(&sample, &attributed)?;
            }
        }
        Ok(())
    }

    /// What there is of one recording.
    pub(super) fn part(&self, recording: usize) -> Option<Part<'_, 'f>> {
        let source = self.sources.get(recording)?;
        Some(Part { source, answers: &self.answers })
    }
}

/// One recording's samples.
pub(super) struct Part<'p, 'f> {
    source: &'p Source<'f>,
    answers: &'p Answers,
}

impl<'f> Part<'_, 'f> {
    /// The recording.
    pub(super) fn file(&self) -> &'f SampleFile {
        self.source.file
    }

    /// What turns the recording's addresses into the program's.
    pub(super) fn linker(&self) -> &Linker {
        &self.source.linker
    }

    /// What the code of the program tells.
    pub(super) fn answers(&self) -> &Answers {
        self.answers
    }

    /// The tally and the median gap, if they are known.
    pub(super) fn looked(&self) -> Option<&(Tally, u64)> {
        self.source.looked.as_ref()
    }

    /// What tells what a sample touched, but for its time; none of a sample that is not in the program.
    pub(super) fn question(&self, sample: &Sample<'_>) -> Option<Question> {
        let (question, _) = self.source.question(self.answers, sample).ok()?;
        Some(question)
    }

    /// Whether the answer to a question is the same at all times.
    pub(super) fn is_timeless(&self, question: &Question) -> bool {
        self.source.decided.is_timeless(question)
    }

    /// Whether a sample is in the program, and its function.
    pub(super) fn function(&self, sample: &Sample<'_>) -> Option<Option<u32>> {
        let linked = self.source.located(self.answers, sample).ok()?;
        Some(self.answers.at(linked.ip).function)
    }

    /// What a sample touched.
    pub(super) fn attribute(&self, sample: &Sample<'_>) -> Attributed {
        self.source.attribute(self.answers, sample)
    }
}

/// Instructions that were sampled, as linked, in order of address.
fn sampled(sources: &mut [Source<'_>]) -> Result<Vec<u64>, Error> {
    let mut sampled: FxHashSet<u64> = FxHashSet::default();
    for source in sources {
        source.note_mappings()?;
        let slots = sweep(source.file, &Sampled { source }, |()| {})?;
        for slot in slots {
            source.clock.merge(&slot.clock);
            sampled.extend(slot.addresses);
        }
    }
    let mut addresses: Vec<u64> = sampled.into_iter().collect();
    addresses.sort_unstable();
    Ok(addresses)
}

/// Finds the instructions that were sampled.
struct Sampled<'s, 'f> {
    source: &'s Source<'f>,
}

#[derive(Default)]
struct SampledSlot {
    clock: Clock,
    addresses: FxHashSet<u64>,
    /// The address taken last: samples of a loop often follow each other.
    last: Option<u64>,
}

impl Sweep for Sampled<'_, '_> {
    type Slot = SampledSlot;
    type Out = ();

    fn slot(&self, _number: usize) -> SampledSlot {
        SampledSlot::default()
    }

    fn record(&self, slot: &mut SampledSlot, record: &Record<'_>, _at: u64) {
        let Record::Sample(sample) = record else { return };
        sample.time.into_iter().for_each(|time| slot.clock.note(time));
        let Ok(ip) = self.source.linker.link(sample) else { return };
        // A byte of the instruction in front is enough to find its function.
        let is_trap = self.source.traps.of_sample(sample).is_some();
        let address = ip.wrapping_sub(u64::from(is_trap));
        if slot.last.replace(address) != Some(address) {
            slot.addresses.insert(address);
        }
    }

    fn end(&self, _slot: &mut SampledSlot) {}
}

/// Collects what addresses are asked, and takes a first look besides.
struct Asking<'s, 'f> {
    source: &'s Source<'f>,
    answers: &'s Answers,
}

struct AskingSlot {
    questions: Questions,
    seen: look::Seen,
}

impl Sweep for Asking<'_, '_> {
    type Slot = AskingSlot;
    type Out = look::Seen;

    fn slot(&self, _number: usize) -> AskingSlot {
        let seen = look::Seen::nothing(self.source.file.facts());
        AskingSlot { questions: Questions::default(), seen }
    }

    fn record(&self, slot: &mut AskingSlot, record: &Record<'_>, at: u64) {
        let mut has_function = false;
        if let Record::Sample(sample) = record
            && let Ok((question, seen)) = self.source.question(self.answers, sample)
        {
            slot.questions.ask(question, seen, at);
            has_function = self.answers.function_of(question.ip).is_some();
        }
        slot.seen.take(record, has_function);
    }

    fn end(&self, slot: &mut AskingSlot) -> look::Seen {
        std::mem::replace(&mut slot.seen, look::Seen::nothing(self.source.file.facts()))
    }
}

/// Whether a data source says that it is of a store, or of a load.
fn by_data_source(sample: &Sample<'_>) -> Option<bool> {
    let operation = sample.data_source?.operation();
    match (operation.is_load(), operation.is_store()) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    }
}

impl Source<'_> {
    /// Learns what was mapped where, before any sample is looked at: records may stand out of order.
    fn note_mappings(&mut self) -> Result<(), Error> {
        if self.linker.is_kernel() {
            return Ok(());
        }
        let mut records = self.file.records();
        while let Some(record) = records.next_record()? {
            self.linker.note(&record);
        }
        self.linker.settle();
        Ok(())
    }

    /// The instruction that a sample means, as linked.
    fn located(&self, answers: &Answers, sample: &Sample<'_>) -> Result<Linked, Reason> {
        let linked = self.linker.locate(sample)?;
        match self.traps.of_sample(sample) {
            Some(_) => {
                let ip = answers.before(linked.ip).ok_or(Reason::NoMemoryOperand)?;
                Ok(Linked { ip, ..linked })
            }
            None => Ok(linked),
        }
    }

    /// Whether a sample says that it is of a store, or of a load.
    fn is_store(&self, sample: &Sample<'_>) -> Option<bool> {
        let is_of_writes = self.traps.of_sample(sample).is_some_and(|watch| watch.is_of_writes);
        by_data_source(sample).or(is_of_writes.then_some(true))
    }

    /// The sample as far as objects go. A watch's address is the access's only if that is as long as what is watched.
    fn seen(&self, sample: &Sample<'_>, linked: Linked, operand: Option<&Operand<TypeIndex>>) -> Seen {
        let is_whole = self
            .traps
            .of_sample(sample)
            .is_none_or(|watch| operand.is_some_and(|operand| u64::from(operand.size) == watch.length));
        let address = sample.addr.filter(|_| is_whole).unwrap_or(0);
        Seen {
            address: in_space(address, linked.space),
            time: sample.time.unwrap_or(0),
            cpu: sample.cpu,
            owner: if self.linker.is_program() { sample.tid } else { sample.cpu },
        }
    }

    /// What a sample asks, and what of it objects see.
    fn question(&self, answers: &Answers, sample: &Sample<'_>) -> Result<(Question, Seen), Reason> {
        let linked = self.located(answers, sample)?;
        let is_store = self.is_store(sample);
        // Only watches ask how much the instruction touches.
        let is_trap = self.traps.of_sample(sample).is_some();
        let operand = if is_trap { answers.at(linked.ip).operand(is_store) } else { None };
        let seen = self.seen(sample, linked, operand);
        Ok((Question { ip: linked.ip, address: seen.address, owner: seen.owner, is_store }, seen))
    }

    /// What a sample touched, by code and, where they were used, addresses.
    fn attribute(&self, answers: &Answers, sample: &Sample<'_>) -> Attributed {
        let (question, seen) = match self.question(answers, sample) {
            Ok(asked) => asked,
            Err(reason) => {
                return Attributed {
                    ip: None,
                    function: None,
                    target: Target::Unknown(reason),
                    by_code: Target::Unknown(reason),
                    size: 0,
                    is_store: self.is_store(sample).unwrap_or(false),
                };
            }
        };
        let answer = answers.at(question.ip);
        let operand = answer.operand(question.is_store);
        let by_code = answer.target(question.is_store);
        let is_write = || operand.is_some_and(|operand| operand.access.is_write());
        Attributed {
            ip: Some(question.ip),
            function: answer.function,
            target: self.decided.get(&question, seen.time).unwrap_or(by_code),
            by_code,
            size: operand.map_or(0, |operand| u64::from(operand.size)),
            is_store: question.is_store.unwrap_or_else(is_write),
        }
    }

    /// Finds objects by the addresses of the samples, then decides with both.
    fn use_addresses<'a>(&mut self, program: &'a Program<'a>, answers: &mut Answers) -> Result<(), Error> {
        let mut questions = Questions::default();
        let mut sum = look::Sum::new(self.file.facts());
        let slots = sweep(self.file, &Asking { source: self, answers }, |seen| sum.add(seen))?;
        for slot in slots {
            questions.merge(slot.questions);
        }
        self.looked = Some(sum.finish());
        let mut objects = Objects::new(program, answers, &questions.evidence(answers), self.linker.slides());
        for question in questions.in_order() {
            self.answer(question, &mut objects, answers);
        }
        self.objects = objects.into_objects();
        Ok(())
    }

    /// Decides a question, for each time at which the answer may be another.
    fn answer(&mut self, question: Question, objects: &mut Objects<'_>, answers: &mut Answers) {
        let answer = answers.at(question.ip);
        let (operand, by_code) =
            (answer.operand(question.is_store).copied(), answer.target(question.is_store));
        let turns = objects.turns(question.address);
        let mut at = |time| {
            let seen = Seen { address: question.address, time, cpu: None, owner: question.owner };
            decide(objects, answers, seen, operand.as_ref(), by_code)
        };
        match turns.is_empty() {
            true => self.decided.always(question, at(0)),
            false => self.decided.by_time(question, turns.into_iter().map(|time| (time, at(time))).collect()),
        }
    }
}
