//! What each sample of some recordings touched.

use super::gather::{Gathered, Sums};
use super::key::{Aside, Facts, Table};
use super::link::Linker;
use super::pieces::{Piece, by_runs, each_access, mode};
use super::questions::{Decided, Question, Questions};
use super::straight::Straight;
use super::traps::Traps;
use crate::aggregate::Blocks;
use crate::objects::decide::decide;
use crate::objects::evidence::Seen;
use crate::objects::known::{Object, Objects};
use crate::objects::slides::in_space;
use fieldline_debuginfo::Elf;
use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::{Error, EventIndex, Record, RecordTally};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample::runs::Run;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::answers::Answers;
use fieldline_typeflow::operands::reason::Reason;
use fieldline_typeflow::operands::sampled::Sampled;
use fieldline_typeflow::operands::target::{Target, TypeIndex};
use fieldline_typeflow::program::Program;
use rustc_hash::FxHashSet;

/// A recording with what turns its addresses into the program's.
pub(super) struct Source<'f> {
    pub(super) file: &'f SampleFile,
    linker: Linker,
    pub(super) traps: Traps,
    /// Its samples, but for their times.
    gathered: Gathered,
    /// What samples touched, where addresses were used.
    decided: Decided,
    objects: Vec<Object>,
    /// By event: whether its samples count by the runs of their branch stacks.
    by_runs: Vec<bool>,
    straight: Straight,
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
            source.use_addresses(program, &mut found.answers);
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
        let sampled = sampled(&mut sources, program)?;
        program.load(sampled.addresses().iter().copied());
        let program: &'a Program<'a> = program;
        let answers = Answers::new(program, &sampled);
        for source in &mut sources {
            let runs = std::mem::take(&mut source.gathered.runs);
            source.straight = Straight::new(program, &answers, &runs);
        }
        Ok((Self { sources, answers }, program))
    }

    fn open(elf: &Elf<'_>, files: &'f [SampleFile]) -> Result<Vec<Source<'f>>, Error> {
        let open = |file| {
            let linker = Linker::new(elf, file)?;
            Ok(Source {
                file,
                linker,
                traps: Traps::of(file.facts()),
                gathered: Gathered::default(),
                decided: Decided::default(),
                objects: Vec::new(),
                by_runs: by_runs(file)?,
                straight: Straight::default(),
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
        self.sources.get(recording).map(|source| source.gathered.clock.blocks()).unwrap_or_default()
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
        let parts = [part];
        let mut records = self.sources.get(recording).into_iter().map(|source| source.file.records());
        let Some(mut records) = records.next() else { return Ok(()) };
        while let Some(record) = records.next_record()? {
            if let Record::Sample(sample) = record {
                each_access(&parts, &sample, &mut |sample, _, attributed| each(sample, attributed))?;
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
    pub(super) fn looked(&self) -> Option<&(RecordTally, u64)> {
        self.source.gathered.looked(self.answers).filter(|_| self.source.traps.is_empty())
    }

    /// What of a sample tells what it touched and how it counts, but for its time.
    pub(super) fn facts(&self, sample: &Sample<'_>) -> Facts {
        self.source.facts(sample)
    }

    /// All samples of the recording, but for their times.
    pub(super) fn table(&self) -> &Table<Sums> {
        &self.source.gathered.table
    }

    /// Their numbers, in the order in which the first of each stands in the file.
    pub(super) fn in_order(&self) -> Vec<u32> {
        self.source.gathered.in_order()
    }

    /// Whether the samples of an event count by the runs of their branch stacks.
    #[inline]
    pub(super) fn counts_runs(&self, event: EventIndex) -> bool {
        self.source.counts_runs(event)
    }

    /// What a piece of a branch stack is, if it is a run of the program's; else how it counts.
    pub(super) fn piece(&self, sample: &Sample<'_>, piece: Piece) -> Result<Facts, Facts> {
        self.source.piece(sample, piece)
    }

    /// What runs touched.
    pub(super) fn straight(&self) -> &Straight {
        &self.source.straight
    }

    /// What samples touched that are none of the program's.
    pub(super) fn attribute_facts(&self, facts: &Facts) -> Attributed {
        self.source.attribute(self.answers, facts, 0)
    }

    /// Whether a sample is in the program, and its function.
    pub(super) fn function(&self, sample: &Sample<'_>) -> Option<Option<u32>> {
        let question = self.source.question(self.answers, &self.source.facts(sample)).ok()?;
        Some(self.answers.at(question.ip).function)
    }

    /// What a sample touched.
    pub(super) fn attribute(&self, sample: &Sample<'_>) -> Attributed {
        self.source.attribute(self.answers, &self.source.facts(sample), sample.time.unwrap_or(0))
    }

    /// What samples touched, from each time on; the first of them also before. One at least.
    pub(super) fn turns(&self, facts: &Facts) -> Vec<(u64, Attributed)> {
        let (source, answers) = (self.source, self.answers);
        let question = source.question(answers, facts);
        let turns = question.as_ref().map_or(&[][..], |question| source.decided.turns(question));
        if turns.is_empty() {
            return vec![(0, source.attributed(answers, facts, question, None))];
        }
        let attributed = |target| source.attributed(answers, facts, question, Some(target));
        turns.iter().map(|(from, target)| (*from, attributed(*target))).collect()
    }
}

/// Instructions that were sampled, as linked. The units that hold them are surveyed.
fn sampled(sources: &mut [Source<'_>], program: &Program<'_>) -> Result<Sampled, Error> {
    let (mut addresses, mut runs) = (FxHashSet::default(), FxHashSet::default());
    for source in sources {
        source.note_mappings()?;
        source.gathered = Gathered::new(source, program)?;
        let linked = source.gathered.table.iter().filter_map(|(facts, _)| {
            // A byte of the instruction in front is enough to find its function.
            let is_trap = source.traps.of_event(facts.aside.event).is_some();
            facts.aside.space.ok().map(|_| facts.ip.wrapping_sub(u64::from(is_trap)))
        });
        addresses.extend(linked);
        runs.extend(source.gathered.runs.iter().map(|(facts, ())| (facts.ip, facts.address)));
    }
    Ok(Sampled::new(addresses, runs))
}

/// Whether a data source says that it is of a store, or of a load.
fn by_data_source(source: Option<DataSource>) -> Option<bool> {
    let operation = source?.operation();
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
        self.file.each_other(|record| self.linker.note(record))?;
        self.linker.settle();
        Ok(())
    }

    /// What of a sample tells what it touched and how it counts, but for its time.
    #[inline]
    pub(super) fn facts(&self, sample: &Sample<'_>) -> Facts {
        let (event, cpu, source) = (sample.event, sample.cpu, sample.data_source);
        match self.linker.locate(sample) {
            Ok(linked) => {
                let tid = sample.tid.filter(|_| self.linker.is_program());
                let aside = Aside { space: Ok(linked.space), event, cpu, tid, source };
                Facts { ip: linked.ip, address: sample.addr.unwrap_or(0), aside }
            }
            Err(reason) => {
                let aside = Aside { space: Err(reason), event, cpu, tid: None, source };
                Facts { ip: 0, address: 0, aside }
            }
        }
    }

    /// Whether the samples of an event count by the runs of their branch stacks.
    #[inline]
    pub(super) fn counts_runs(&self, event: EventIndex) -> bool {
        self.by_runs.get(event.index()).is_some_and(|is| *is)
    }

    /// A run of instructions of the program: begin in place of the instruction, end in place of the data's address. Or
    /// how it counts that there is none. In whose code a branch is its own address tells.
    pub(super) fn piece(&self, sample: &Sample<'_>, piece: Piece) -> Result<Facts, Facts> {
        let (event, cpu) = (sample.event, sample.cpu);
        let aside = |space| Aside { space, event, cpu, tid: None, source: None };
        let lost = |reason| Facts { ip: 0, address: 0, aside: aside(Err(reason)) };
        let Run { begin, end } = piece.map_err(lost)?;
        let cpu_mode = mode(sample);
        let mut in_mode = *sample;
        in_mode.cpu_mode = cpu_mode;
        let at = |ip| self.linker.locate(&in_mode.with_ip(Some(ip)));
        let first = at(begin).map_err(lost)?;
        match at(end) {
            Ok(last) if last.space == first.space => {
                let aside = Aside { cpu: None, ..aside(Ok(0)) };
                Ok(Facts { ip: first.ip, address: last.ip, aside })
            }
            _ => Err(lost(Reason::BrokenRun)),
        }
    }

    /// Whether a sample says that it is of a store, or of a load.
    fn is_store(&self, aside: &Aside) -> Option<bool> {
        let is_of_writes = self.traps.of_event(aside.event).is_some_and(|watch| watch.is_of_writes);
        by_data_source(aside.source).or(is_of_writes.then_some(true))
    }

    /// What samples ask. A watch's address is the access's only if that is as long as what is watched.
    fn question(&self, answers: &Answers, facts: &Facts) -> Result<Question, Reason> {
        let Facts { aside, address, ip } = facts;
        let space = aside.space?;
        let is_store = self.is_store(aside);
        let (ip, is_whole) = match self.traps.of_event(aside.event) {
            Some(watch) => {
                let ip = answers.before(*ip).ok_or(Reason::NoMemoryOperand)?;
                let operand = answers.at(ip).operand(is_store);
                (ip, operand.is_some_and(|operand| u64::from(operand.size) == watch.length))
            }
            None => (*ip, true),
        };
        Ok(Question {
            ip,
            address: in_space(if is_whole { *address } else { 0 }, space),
            owner: if self.linker.is_program() { aside.tid } else { aside.cpu },
            is_store,
        })
    }

    /// What a sample touched, by code and, where they were used, addresses.
    fn attribute(&self, answers: &Answers, facts: &Facts, time: u64) -> Attributed {
        let question = self.question(answers, facts);
        let decided = question.as_ref().ok().and_then(|question| self.decided.get(question, time));
        self.attributed(answers, facts, question, decided)
    }

    /// What samples touched that ask something, of which more may be decided than the code tells.
    fn attributed(
        &self,
        answers: &Answers,
        facts: &Facts,
        question: Result<Question, Reason>,
        decided: Option<Target<TypeIndex>>,
    ) -> Attributed {
        let question = match question {
            Ok(question) => question,
            Err(reason) => {
                return Attributed {
                    ip: None,
                    function: None,
                    target: Target::Unknown(reason),
                    by_code: Target::Unknown(reason),
                    size: 0,
                    is_store: self.is_store(&facts.aside).unwrap_or(false),
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
            target: decided.unwrap_or(by_code),
            by_code,
            size: operand.map_or(0, |operand| u64::from(operand.size)),
            is_store: question.is_store.unwrap_or_else(is_write),
        }
    }

    /// Finds objects by the addresses of the samples, then decides with both.
    fn use_addresses<'a>(&mut self, program: &'a Program<'a>, answers: &mut Answers) {
        let mut questions = Questions::default();
        for (facts, sums) in self.gathered.table.iter() {
            if let Ok(question) = self.question(answers, &facts) {
                questions.ask(question, sums.votes(facts.aside.cpu), sums.at);
            }
        }
        let mut objects = Objects::new(program, answers, &questions.evidence(answers), self.linker.slides());
        for question in questions.in_order() {
            self.answer(question, &mut objects, answers);
        }
        self.objects = objects.into_objects();
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
