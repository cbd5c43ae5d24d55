//! A recording's profile.

use super::attribution::{Attributed, Attribution};
use super::context::Context;
use super::joint::Joint;
use super::link::Linker;
use super::structs::{Structs, Touched};
use crate::aggregate::{Builder, Function, Outcome, Row};
use crate::attribute::slides::in_space;
use crate::attribute::target::Target;
use crate::blind_spots::blind_spots;
use crate::data_source::{Level, Snoop};
use crate::perf_data::Error;
use crate::sample::Sample;
use crate::sample_file::SampleFile;
use crate::types::Definitions;
use fieldline_debuginfo::dwarf::Dwarf;
use fieldline_layout::access::{AccessProfile, Recording};

/// A program and what recordings show of it.
#[derive(Clone, Copy)]
pub struct Part<'p> {
    /// Its debug info.
    pub dwarf: &'p Dwarf<'p>,
    /// What its samples touched.
    pub attribution: &'p Attribution<'p>,
}

/// The sum of the profiles of all recordings of some programs.
///
/// # Errors
/// If a record can't be read.
pub fn profile(
    parts: &[Part<'_>],
    joint: Joint<'_, '_>,
    files: &[SampleFile],
    names: &[String],
    build_id: Option<&str>,
) -> Result<AccessProfile, Error> {
    let mut sum: Option<AccessProfile> = None;
    for (recording, (file, name)) in files.iter().zip(names).enumerate() {
        let profile = profile_one(parts, joint, recording, file, &recording_facts(file, name, build_id))?;
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
    functions: Vec<Function>,
}

fn profile_one(
    parts: &[Part<'_>],
    joint: Joint<'_, '_>,
    recording: usize,
    file: &SampleFile,
    facts: &Recording,
) -> Result<AccessProfile, Error> {
    let events = file.facts().events.iter().map(|event| event.name.clone());
    let blocks = parts.first().map(|part| part.attribution.blocks(recording)).unwrap_or_default();
    let mut builder = Builder::new(facts.clone(), events).with_blocks(blocks);
    let definitions = Definitions::default();
    let mut known = Vec::new();
    for part in parts {
        let functions = part.attribution.answers.functions.iter();
        let functions = functions.map(|function| builder.add_function(function.name.clone())).collect();
        known.push(Known { structs: Structs::new(part.dwarf, &definitions), functions });
    }
    joint.each(recording, |sample, index, attributed| {
        let (Some(part), Some(known)) = (parts.get(index), known.get_mut(index)) else { return Ok(()) };
        let answers = &part.attribution.answers;
        let places = known.structs.touched(&mut builder, answers, attributed);
        let linker = part.attribution.linker(recording);
        let row = row(sample, attributed, &places, &known.functions, linker);
        let own = attributed.function;
        let context = linker.map(|linker| Context::of(sample, own, linker, answers)).unwrap_or_default();
        builder.note_context(context.has_callchain, context.has_branches);
        let context = context.functions.iter().filter_map(|index| known.functions.get(*index as usize));
        let context: Vec<Function> = context.copied().collect();
        builder.add_in_context(&row, &context);
        for (target, offset) in places.others {
            builder.credit(&row, target, offset, attributed.size, base(sample, linker, offset));
        }
        Ok::<(), Error>(())
    })?;
    let tally = file.tally()?;
    builder.set_lost(tally.lost_samples.saturating_add(tally.lost_records));
    let spots = blind_spots(file.facts(), &tally);
    let spots = spots.iter().map(|spot| format!("{spot}; {}", spot.remedy()));
    Ok(builder.finish(file.notes().into_iter().chain(spots).collect()))
}

fn row(
    sample: &Sample<'_>,
    attributed: &Attributed,
    places: &Touched,
    functions: &[Function],
    linker: Option<&Linker>,
) -> Row {
    let source = sample.data_source;
    Row {
        event: sample.event.index(),
        ip: attributed.ip.unwrap_or(0),
        function: attributed.function.and_then(|function| functions.get(function as usize)).copied(),
        cpu: sample.cpu,
        time: sample.time,
        period: sample.period,
        weight: sample.latency(),
        is_store: attributed.is_store,
        level: source
            .map(|source| source.level())
            .filter(|level| *level != Level::NotAvailable)
            .map(Level::word),
        is_hitm: source.is_some_and(|source| source.is_hitm()),
        is_shared: source.is_some_and(|source| source.snoop().is_transfer() || source.snoop() == Snoop::Hit),
        outcome: outcome(sample, attributed, places, linker),
    }
}

/// Where the object begins, if the sample's address tells.
fn base(sample: &Sample<'_>, linker: Option<&Linker>, offset: u64) -> Option<u64> {
    let space = linker.filter(|linker| linker.is_program()).and_then(|linker| linker.locate(sample).ok());
    let space = space.map_or(0, |linked| linked.space);
    sample.data_address().and_then(|address| in_space(address, space).checked_sub(offset))
}

fn outcome(
    sample: &Sample<'_>,
    attributed: &Attributed,
    places: &Touched,
    linker: Option<&Linker>,
) -> Outcome {
    match (places.primary, attributed.target) {
        (Some((target, offset)), _) => {
            Outcome::Attributed { target, offset, size: attributed.size, base: base(sample, linker, offset) }
        }
        (None, Target::Place { .. }) => Outcome::OtherType,
        (None, Target::Unknown(reason)) => Outcome::Unattributed(reason.word()),
        (None, Target::Within { .. }) => Outcome::Unattributed("unknown_offset"),
        (None, Target::Element { .. }) => Outcome::Unattributed("unknown_index"),
    }
}
