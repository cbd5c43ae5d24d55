//! Finding what a recording cannot show.

use super::spot::BlindSpot;
use super::threshold::{self, ENOUGH_SAMPLES};
use fieldline_perfdata::perf_data::{Event, EventTally, RecordTally, RecordingFacts};
use fieldline_perfdata::sample::runs::Stacks;
use fieldline_perfdata::sample::{CpuMode, SampleFields};

/// Share of samples lost that is worth a word.
const LOSS_WORTH_SAYING: f64 = 0.001;
/// What a recording with these facts and counts cannot show; the gravest first, events in their order.
#[must_use]
pub fn blind_spots(facts: &RecordingFacts, tally: &RecordTally) -> Vec<BlindSpot> {
    let mut found = Vec::new();
    of_recording(facts, tally, &mut found);
    let sampled = facts.events.iter().zip(&tally.events).filter(|(_, counts)| counts.samples > 0);
    for (event, counts) in sampled {
        of_event(facts, event, counts, &mut found);
    }
    of_code(facts, tally, &mut found);
    of_operations(tally, &mut found);
    of_losses(tally, &mut found);
    found
}

/// The same as sentences, each with what to do about it.
#[must_use]
pub fn sentences(facts: &RecordingFacts, tally: &RecordTally) -> Vec<String> {
    blind_spots(facts, tally).iter().map(|spot| format!("{spot}; {}", spot.remedy())).collect()
}

fn of_recording(facts: &RecordingFacts, tally: &RecordTally, found: &mut Vec<BlindSpot>) {
    if facts.has_aux_trace || tally.aux_bytes > 0 {
        found.push(BlindSpot::AuxTrace { bytes: tally.aux_bytes });
    }
    if tally.samples() == 0 {
        found.push(BlindSpot::NoSamples);
    }
    if !facts.is_finished {
        found.push(BlindSpot::Unfinished);
    }
    if tally.unknown_samples > 0 {
        found.push(BlindSpot::UnknownEvents { samples: tally.unknown_samples });
    }
}

fn of_event(facts: &RecordingFacts, event: &Event, counts: &EventTally, found: &mut Vec<BlindSpot>) {
    let name = || event.name.clone();
    if is_clock(event) && !event.attr.excludes_kernel() {
        found.push(BlindSpot::ClockEvent { event: name() });
    }
    found.extend(threshold::blind_spot(facts, event, counts));
    match counts.counts_by_runs(&event.attr) {
        true => found.push(BlindSpot::BranchRuns { event: name(), stacks: counts.stacks, runs: counts.runs }),
        false => of_accesses(facts, event, counts, found),
    }
    let needed = [(SampleFields::TIME, "time"), (SampleFields::CPU, "cpu"), (SampleFields::TID, "tid")];
    for (field, word) in needed {
        if !event.attr.sample_type.contains(field) {
            found.push(BlindSpot::NoField { event: name(), field: word });
        }
    }
}

/// What samples of an event say of the access they stand for.
fn of_accesses(facts: &RecordingFacts, event: &Event, counts: &EventTally, found: &mut Vec<BlindSpot>) {
    let name = || event.name.clone();
    let asked_for = event.attr.sample_type.contains(SampleFields::ADDR);
    if counts.with_address == 0 {
        found.push(BlindSpot::NoAddresses { event: name(), asked_for });
    }
    if counts.with_level == 0 {
        found.push(BlindSpot::NoDataSource { event: name() });
    }
    let is_exact = event.attr.precise_ip() > 0 || counts.exact > 0 || is_of_trace(facts, counts);
    if is_hardware(event) && !is_exact {
        found.push(BlindSpot::Skid { event: name() });
    }
    let names_none = counts.with_address == 0 && counts.loads == 0 && counts.stores == 0;
    match Stacks::of(&event.attr) {
        Stacks::Filtered(filter) if names_none => {
            found.push(BlindSpot::FilteredBranches { event: name(), filter });
        }
        Stacks::Whole if names_none => found.push(BlindSpot::NoBranches { event: name() }),
        _ => {}
    }
}

/// `cpu-clock` and `task-clock`, both driven by a timer.
fn is_clock(event: &Event) -> bool {
    event.attr.kind == 1 && event.attr.config <= 1
}

/// Samples that perf made of Arm's trace: hardware events that aren't marked as exact though the trace names the instruction
/// (`arm_spe_prep_sample` in `tools/perf/util/arm-spe.c`).
fn is_of_trace(facts: &RecordingFacts, counts: &EventTally) -> bool {
    facts.pmus.iter().any(|(_, name)| name.starts_with("arm_spe")) && counts.with_operation > 0
}

/// A hardware, cache or raw event of the processor's own PMU.
fn is_hardware(event: &Event) -> bool {
    matches!(event.attr.kind, 0 | 3 | 4)
}

fn of_code(facts: &RecordingFacts, tally: &RecordTally, found: &mut Vec<BlindSpot>) {
    let samples = tally.samples();
    if samples == 0 {
        return;
    }
    let mut real = facts.events.iter().filter(|event| !event.attr.is_dummy()).peekable();
    let has_real = real.peek().is_some();
    let (no_kernel, no_user) = real.fold((has_real, has_real), |(kernel, user), event| {
        (kernel && event.attr.excludes_kernel(), user && event.attr.excludes_user())
    });
    let guests = tally.in_mode(CpuMode::GuestKernel) + tally.in_mode(CpuMode::GuestUser);
    let is_enough = samples >= ENOUGH_SAMPLES;
    if tally.in_mode(CpuMode::Kernel) == 0 && (no_kernel || is_enough) {
        found.push(BlindSpot::NoKernelCode { is_excluded: no_kernel });
    }
    if tally.in_mode(CpuMode::User) == 0 && (no_user || is_enough) {
        found.push(BlindSpot::NoUserCode { is_excluded: no_user });
    }
    if guests > 0 {
        found.push(BlindSpot::Guests { share: guests as f64 / samples as f64 });
    }
}

/// Loads without stores, and the reverse, where the samples say which they are.
fn of_operations(tally: &RecordTally, found: &mut Vec<BlindSpot>) {
    let loads: u64 = tally.events.iter().map(|event| event.loads).sum();
    let stores: u64 = tally.events.iter().map(|event| event.stores).sum();
    if loads >= ENOUGH_SAMPLES && stores == 0 {
        found.push(BlindSpot::NoStores);
    }
    if stores >= ENOUGH_SAMPLES && loads == 0 {
        found.push(BlindSpot::NoLoads);
    }
}

fn of_losses(tally: &RecordTally, found: &mut Vec<BlindSpot>) {
    // Newer kernels count the samples among the lost records once more, so the sum would be too much.
    let count = tally.lost_records.max(tally.lost_samples);
    let share = count as f64 / (count as f64 + tally.samples() as f64).max(1.0);
    if share >= LOSS_WORTH_SAYING {
        found.push(BlindSpot::Lost { count, share });
    }
    if tally.throttles > 0 {
        found.push(BlindSpot::Throttled { times: tally.throttles });
    }
}

#[cfg(test)]
mod tests;
