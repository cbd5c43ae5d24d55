//! A recording's profile.

use super::fold::{Fold, Folded};
use super::rows::{Alike, Rows};
use super::structs::Structs;
use crate::aggregate::{Builder, Counts, Moment, Row, Windows};
use crate::attribute::{self, Attribution, Joint};
use crate::gather::{Seen, SeenSum};
use fieldline_access::access::{AccessProfile, Recording};
use fieldline_debuginfo::dwarf::Dwarf;
use fieldline_perfdata::data_source::{Level, Snoop};
use fieldline_perfdata::perf_data::{Error, Record, RecordTally, RecordingFacts};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::sweep::{Sweep, sweep};
use fieldline_typeflow::operands::{Answers, Reason};
use fieldline_typeflow::types::Definitions;

/// A program and what recordings show of it.
#[derive(Clone, Copy)]
pub struct Part<'p> {
    /// Its debug info.
    pub dwarf: &'p Dwarf<'p>,
    /// What its samples touched.
    pub attribution: &'p Attribution<'p>,
}

/// The sum of the profiles of all recordings of some programs. `blind_spots` gives the sentences that say what a recording
/// with these facts and records can't show.
///
/// # Errors
/// If a record can't be read.
pub fn profile(
    parts: &[Part<'_>],
    joint: Joint<'_, '_>,
    files: &[SampleFile],
    names: &[String],
    build_id: Option<&str>,
    blind_spots: impl Fn(&RecordingFacts, &RecordTally) -> Vec<String>,
) -> Result<AccessProfile, Error> {
    let mut sum: Option<AccessProfile> = None;
    for (recording, (file, name)) in files.iter().zip(names).enumerate() {
        let facts = recording_facts(file, name, build_id);
        let profile = profile_one(parts, joint, recording, file, facts, &blind_spots)?;
        match &mut sum {
            None => sum = Some(profile),
            Some(sum) => sum.merge(profile),
        }
    }
    Ok(sum.unwrap_or_else(AccessProfile::empty))
}

fn recording_facts(file: &SampleFile, name: &str, build_id: Option<&str>) -> Recording {
    let facts = file.facts();
    let command = facts.command_line.join(" ");
    Recording {
        file: name.to_owned(),
        host: facts.hostname.clone(),
        release: facts.os_release.clone(),
        command: (!command.is_empty()).then_some(command),
        build_id: build_id.map(str::to_owned),
        cacheline: facts.cacheline_size.map(u64::from),
        ..Recording::default()
    }
}

/// A program's types and functions as a builder knows them.
struct Known<'k, 's> {
    structs: Structs<'k, 's>,
    functions: Vec<u32>,
    answers: &'k Answers,
}

fn profile_one(
    parts: &[Part<'_>],
    joint: Joint<'_, '_>,
    recording: usize,
    file: &SampleFile,
    facts: Recording,
    blind_spots: impl Fn(&RecordingFacts, &RecordTally) -> Vec<String>,
) -> Result<AccessProfile, Error> {
    let events = file.facts().events.iter().map(|event| event.name.clone());
    let blocks = parts.first().map(|part| part.attribution.blocks(recording)).unwrap_or_default();
    let mut builder = Builder::new(facts, events, &blocks);
    let definitions = Definitions::default();
    let mut known = Vec::new();
    for part in parts {
        let answers = &part.attribution.answers;
        let functions = answers.functions.iter();
        let functions = functions.map(|function| builder.add_function(function.name.clone())).collect();
        known.push(Known { structs: Structs::new(part.dwarf, &definitions), functions, answers });
    }
    let taken = joint.parts(recording);
    let (tally, gap) = look(&taken, file)?;
    let rows = Rows::new(&taken);
    let functions = known.iter().map(|known| known.functions.clone()).collect();
    let fold = Fold::new(&taken, file.facts(), &rows, &blocks, functions, |alike| {
        Builder::word(&known.get_mut(alike.part)?.row(alike, &mut builder))
    });
    let mut windows = Windows::new(gap, blocks.clone(), fold.words.clone());
    let slots = sweep(file, &fold, |folded| {
        builder.recording.callchains += folded.callchains;
        builder.recording.branch_stacks += folded.branch_stacks;
        cut(folded, &mut windows);
    })?;
    fold.run_sums(&slots, |alike, counts| {
        if let Some(known) = known.get_mut(alike.part) {
            known.count(alike, counts, &mut builder);
        }
    });
    let runs_counted = fold.runs_counted(&slots);
    builder.recording.branch_runs += runs_counted;
    let sums = fold.sums(slots);
    // Tables take memory, and the builder needs some.
    let Rows { alikes, tables, .. } = rows;
    drop(tables);
    for (alike, counts) in alikes.iter().zip(sums).filter(|(_, counts)| counts.samples > 0) {
        if let Some(known) = known.get_mut(alike.part) {
            known.count(alike, &counts, &mut builder);
        }
    }
    builder.recording.lost = tally.lost_samples.saturating_add(tally.lost_records);
    let mut spots: Vec<String> = file.notes().into_iter().collect();
    spots.extend(blind_spots(file.facts(), &tally));
    spots.extend(misfit(&builder, runs_counted));
    Ok(builder.finish(windows, spots))
}

/// What to say where branches and code don't fit: a fifth of all runs, and something is wrong with all of them.
fn misfit(builder: &Builder, runs: u64) -> Option<String> {
    let broken = builder.unattributed(Reason::BrokenRun.word());
    let all = runs.saturating_add(broken);
    (all > 0 && broken.saturating_mul(5) >= all).then(|| {
        format!(
            "{broken} of {all} runs between branches don't fit the code: the stacks may leave out branches, or the program \
             may be another build or change its code; record all branches (perf record -b) of this build"
        )
    })
}

impl Known<'_, '_> {
    fn count(&mut self, alike: &Alike, counts: &Counts, builder: &mut Builder) {
        let row = self.row(alike, builder);
        builder.add(&row, counts);
    }

    fn row(&mut self, alike: &Alike, builder: &mut Builder) -> Row {
        let Alike { attributed, source, .. } = alike;
        let function = attributed.function.and_then(|function| self.functions.get(function as usize));
        let level = source.map(|source| source.level()).filter(|level| *level != Level::NotAvailable);
        let snoop = source.map(|source| source.snoop());
        Row {
            event: alike.event.index(),
            ip: attributed.ip.unwrap_or(0),
            function: function.copied(),
            cpu: alike.cpu,
            is_store: attributed.is_store,
            level: level.map(Level::word),
            is_hitm: source.is_some_and(|source| source.is_hitm()),
            is_shared: snoop.is_some_and(|snoop| snoop.is_transfer() || snoop == Snoop::Hit),
            size: attributed.size,
            places: self.structs.touched(builder, self.answers, attributed),
            reason: attributed.target.reason().map(Reason::word),
        }
    }
}

/// Samples of a block on their way into windows.
fn cut(folded: Folded, windows: &mut Windows) {
    let mut rounds = folded.rounds.into_iter().peekable();
    let mut contexts = folded.contexts.into_iter().peekable();
    for (number, when) in folded.moments.into_iter().enumerate() {
        while rounds.next_if(|round| *round <= number).is_some() {
            windows.end_round();
        }
        let context = contexts.next_if(|(of, _)| *of == number).map(|(_, functions)| functions);
        windows.push(when.cpu, Moment { time: when.time, word: when.word, context });
    }
    rounds.for_each(|_| windows.end_round());
    for stack in folded.stacks {
        windows.push_whole(stack.block, &stack.words, &stack.context);
    }
}

/// Counts a recording's records, and finds the median gap of samples whose function is known, in nanoseconds.
fn look(parts: &[attribute::Part<'_, '_>], file: &SampleFile) -> Result<(RecordTally, u64), Error> {
    if let [only] = parts
        && let Some((tally, gap)) = only.looked()
    {
        return Ok((tally.clone(), *gap));
    }
    let facts = file.facts();
    let mut sum = SeenSum::new(facts);
    sweep(file, &Look { parts, facts }, |seen| sum.add(seen))?;
    Ok(sum.finish())
}

struct Look<'p, 'f> {
    parts: &'p [attribute::Part<'p, 'f>],
    facts: &'p RecordingFacts,
}

impl Sweep for Look<'_, '_> {
    type Slot = Seen;
    type Out = Seen;

    fn slot(&self, _number: usize) -> Seen {
        Seen::nothing(self.facts)
    }

    fn sample(&self, slot: &mut Seen, sample: &Sample<'_>, _at: u64) {
        slot.count(sample);
        let counts_runs = self.parts.first().is_some_and(|part| part.counts_runs(sample));
        if !counts_runs && self.parts.iter().find_map(|part| part.function(sample)).flatten().is_some() {
            slot.moment(sample.cpu, sample.time);
        }
    }

    fn other(&self, slot: &mut Seen, record: &Record<'_>) {
        slot.other(record);
    }

    fn end(&self, slot: &mut Seen) -> Seen {
        std::mem::replace(slot, Seen::nothing(self.facts))
    }
}
