//! A recording's profile.

use super::sample_classes::{SampleClass, SampleClasses};
use super::structs::AccessedStructs;
use super::sweep::{BlockOutcome, ClassSweep};
use super::turns::{Locations, find_turns, shows_lost_lines};
use crate::aggregate::{ClassCounts, ProfileBuilder, SampleGroup, WindowSample, Windows};
use crate::attribute::{Attribution, JointAttribution, ProgramSamples};
use crate::gather::{TallyAndTimes, TallySum};
use fieldline_access::access::{AccessProfile, Recording};
use fieldline_debuginfo::dwarf::Dwarf;
use fieldline_perfdata::data_source::{Level, Snoop};
use fieldline_perfdata::perf_data::{Error, Record, RecordCounts, RecordingFacts};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::scan::{RecordScan, scan_records};
use fieldline_typeflow::operands::{ProgramOperands, Reason};
use fieldline_typeflow::types::Definitions;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A program and the attribution of its samples.
#[derive(Clone, Copy)]
pub struct AttributedProgram<'p> {
    /// Its debug info.
    pub dwarf: &'p Dwarf<'p>,
    /// The attribution of its samples.
    pub attribution: &'p Attribution<'p>,
}

/// The merged profile of all recordings of some programs. `blind_spots` gives sentences on the limits of a
/// recording with these facts and records; `build_ids` are those of the programs, if they have any.
///
/// # Errors
/// If a record can't be read.
pub fn profile(
    parts: &[AttributedProgram<'_>],
    joint: JointAttribution<'_, '_>,
    files: &[SampleFile],
    names: &[String],
    build_ids: &[Option<String>],
    blind_spots: impl Fn(&RecordingFacts, &RecordCounts) -> Vec<String>,
) -> Result<AccessProfile, Error> {
    let mut sum: Option<AccessProfile> = None;
    for (recording, (file, name)) in files.iter().zip(names).enumerate() {
        let facts = recording_facts(file, name, build_ids);
        let profile = profile_recording(parts, joint, recording, file, facts, &blind_spots)?;
        match &mut sum {
            None => sum = Some(profile),
            Some(sum) => sum.merge(profile),
        }
    }
    Ok(sum.unwrap_or_else(AccessProfile::empty))
}

fn recording_facts(file: &SampleFile, name: &str, build_ids: &[Option<String>]) -> Recording {
    let facts = file.facts();
    let command = facts.command_line.join(" ");
    Recording {
        file: name.to_owned(),
        host: facts.hostname.clone(),
        release: facts.os_release.clone(),
        command: (!command.is_empty()).then_some(command),
        build_id: build_ids.first().cloned().flatten(),
        other_build_ids: build_ids.iter().skip(1).flatten().cloned().collect(),
        cacheline: facts.cacheline_size.map(u64::from),
        ..Recording::default()
    }
}

/// Types and functions of a program by their indices in the builder.
struct ProfiledProgram<'k, 's> {
    structs: AccessedStructs<'k, 's>,
    functions: Vec<u32>,
    answers: &'k ProgramOperands,
}

fn profile_recording(
    parts: &[AttributedProgram<'_>],
    joint: JointAttribution<'_, '_>,
    recording: usize,
    file: &SampleFile,
    facts: Recording,
    blind_spots: impl Fn(&RecordingFacts, &RecordCounts) -> Vec<String>,
) -> Result<AccessProfile, Error> {
    let events = file.facts().events.iter().map(|event| event.name.clone());
    let blocks = parts.first().map(|part| part.attribution.blocks(recording)).unwrap_or_default();
    let mut builder = ProfileBuilder::new(facts, events, &blocks);
    let definitions = Definitions::default();
    let mut known = Vec::new();
    for part in parts {
        let answers = &part.attribution.answers;
        let functions = answers.functions.iter();
        let functions = functions.map(|function| builder.add_function(function.name.clone())).collect();
        let structs = AccessedStructs::new(part.dwarf, &definitions);
        known.push(ProfiledProgram { structs, functions, answers });
    }
    let program_samples = joint.parts(recording);
    let (tally, gap) = tally_records(&program_samples, file)?;
    let classes = SampleClasses::new(&program_samples);
    let functions = known.iter().map(|known| known.functions.clone()).collect();
    let sweep_classes =
        ClassSweep::new(&program_samples, file.facts(), &classes, &blocks, functions, |class| {
            ProfileBuilder::window_entry(&known.get_mut(class.part)?.sample_group(class, &mut builder))
        });
    let mut windows = Windows::new(gap, blocks.clone(), sweep_classes.entries.clone());
    let states = scan_records(file, &sweep_classes, |outcome| {
        builder.recording.callchains += outcome.callchains;
        builder.recording.branch_stacks += outcome.branch_stacks;
        push_windows(outcome, &mut windows);
    })?;
    sweep_classes.range_sums(&states, |class, counts| {
        if let Some(known) = known.get_mut(class.part) {
            known.count(class, counts, &mut builder);
        }
    });
    let ranges_counted = sweep_classes.ranges_counted(&states);
    builder.recording.straight_line_ranges += ranges_counted;
    let sums = sweep_classes.sums(states);
    add_turns(&program_samples, &classes, &mut known, &mut builder)?;
    // Tables take memory, and the builder needs some.
    let SampleClasses { classes: all_classes, tables, .. } = classes;
    drop(tables);
    for (class, counts) in all_classes.iter().zip(sums).filter(|(_, counts)| counts.samples > 0) {
        if let Some(known) = known.get_mut(class.part) {
            known.count(class, &counts, &mut builder);
        }
    }
    builder.recording.lost = tally.lost_samples.saturating_add(tally.lost_records);
    let mut notes: Vec<String> = file.notes().into_iter().collect();
    notes.extend(blind_spots(file.facts(), &tally));
    notes.extend(broken_ranges_note(&builder, ranges_counted));
    Ok(builder.finish(windows, notes))
}

/// Adds turns of CPUs on lines, if samples don't show lost lines themselves.
fn add_turns(
    parts: &[ProgramSamples<'_, '_>],
    classes: &SampleClasses,
    known: &mut [ProfiledProgram<'_, '_>],
    builder: &mut ProfileBuilder,
) -> Result<(), Error> {
    if classes.classes.iter().any(shows_lost_lines) {
        return Ok(());
    }
    for (index, (part, known)) in parts.iter().zip(known).enumerate() {
        let mut found: FxHashMap<u32, Locations> = FxHashMap::default();
        let locations = |number: u32| {
            let class = classes.classes.get(number as usize);
            let new = || class.map_or([].into(), |class| known.locations(class, builder));
            Rc::clone(found.entry(number).or_insert_with(new))
        };
        for (target, turns) in find_turns(part, classes, index, locations)? {
            builder.add_turns(target, turns);
        }
    }
    Ok(())
}

/// A note if a fifth of all ranges or more do not fit the code.
fn broken_ranges_note(builder: &ProfileBuilder, ranges: u64) -> Option<String> {
    let broken = builder.unattributed(Reason::BrokenRange.id());
    let all = ranges.saturating_add(broken);
    (all > 0 && broken.saturating_mul(5) >= all).then(|| {
        format!(
            "{broken} of {all} straight-line ranges between branches don't fit the code: the stacks may leave out \
             branches, or the program may be another build or change its code; record all branches (perf record -b) of this build"
        )
    })
}

impl ProfiledProgram<'_, '_> {
    fn count(&mut self, class: &SampleClass, counts: &ClassCounts, builder: &mut ProfileBuilder) {
        let group = self.sample_group(class, builder);
        builder.add_group(&group, counts);
    }

    /// The structs that samples of a class touch.
    fn locations(&mut self, class: &SampleClass, builder: &mut ProfileBuilder) -> Locations {
        self.structs.accessed_structs(builder, self.answers, &class.attributed).into()
    }

    fn sample_group(&mut self, class: &SampleClass, builder: &mut ProfileBuilder) -> SampleGroup {
        let SampleClass { attributed, source, .. } = class;
        let function = attributed.function.and_then(|function| self.functions.get(function as usize));
        let level = source.map(|source| source.level()).filter(|level| *level != Level::NotAvailable);
        let snoop = source.map(|source| source.snoop());
        SampleGroup {
            event: class.event.index(),
            ip: attributed.ip,
            function: function.copied(),
            cpu: class.cpu,
            is_store: attributed.is_store,
            level: level.map(Level::label),
            is_hitm: source.is_some_and(|source| source.is_hitm()),
            is_shared: snoop.is_some_and(|snoop| snoop.is_transfer() || snoop == Snoop::Hit),
            size: attributed.size,
            locations: self.structs.accessed_structs(builder, self.answers, attributed),
            reason: attributed.target.reason().map(Reason::id),
        }
    }
}

/// Passes the entries of a block on to the windows.
fn push_windows(outcome: BlockOutcome, windows: &mut Windows) {
    let mut rounds = outcome.round_ends.into_iter().peekable();
    let mut contexts = outcome.contexts.into_iter().peekable();
    for (number, found) in outcome.entry_times.into_iter().enumerate() {
        while rounds.next_if(|round| *round <= number).is_some() {
            windows.end_round();
        }
        let context = contexts.next_if(|(sample, _)| *sample == number).map(|(_, functions)| functions);
        windows.push(found.cpu, WindowSample { time: found.time, entry: found.entry, context });
    }
    rounds.for_each(|_| windows.end_round());
    for stack in outcome.stacks {
        windows.push_window(stack.block, &stack.entries, &stack.context);
    }
}

/// Counts a recording's records, and finds the median gap of samples whose function is known, in nanoseconds.
fn tally_records(parts: &[ProgramSamples<'_, '_>], file: &SampleFile) -> Result<(RecordCounts, u64), Error> {
    if let [only] = parts
        && let Some((tally, gap)) = only.tally_and_gap()
    {
        return Ok((tally.clone(), *gap));
    }
    let facts = file.facts();
    let mut sum = TallySum::new(facts);
    scan_records(file, &TallySweep { parts, facts }, |part| sum.add(part))?;
    Ok(sum.finish())
}

struct TallySweep<'p, 'f> {
    parts: &'p [ProgramSamples<'p, 'f>],
    facts: &'p RecordingFacts,
}

impl RecordScan for TallySweep<'_, '_> {
    type State = TallyAndTimes;
    type Output = TallyAndTimes;

    fn new_state(&self, _number: usize) -> TallyAndTimes {
        TallyAndTimes::empty(self.facts)
    }

    fn add_sample(&self, tally: &mut TallyAndTimes, sample: &Sample<'_>, _at: u64) {
        tally.add_sample(sample);
        let counts_ranges = self.parts.first().is_some_and(|part| part.counts_ranges(sample));
        if !counts_ranges && self.parts.iter().find_map(|part| part.function(sample)).flatten().is_some() {
            tally.add_time(sample.cpu, sample.time);
        }
    }

    fn add_record(&self, tally: &mut TallyAndTimes, record: &Record<'_>) {
        tally.add_record(record);
    }

    fn finish_block(&self, tally: &mut TallyAndTimes) -> TallyAndTimes {
        std::mem::replace(tally, TallyAndTimes::empty(self.facts))
    }
}
