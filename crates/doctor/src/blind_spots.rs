//! Limits of a recording, found before a profile is made of it.
//!
//! Every entry follows from the recording's facts and from counts of its records, never from its name.
//!
//! * `threshold`: loads too fast to be sampled.

mod threshold;

use crate::finding::{DoctorFinding, Severity};
use crate::recording_summary::ExaminedProgram;
use fieldline_access::access::lacks_fast_loads;
use fieldline_perfdata::perf_data::{
    Event, RecordCounts, RecordingFacts, SampleCounts, is_modelled_event, is_step_event,
};
use fieldline_perfdata::sample::branch_ranges::BranchStackKind;
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use threshold::ENOUGH_SAMPLES;

/// Share of lost samples from which on they are reported.
const MIN_LOSS_SHARE: f64 = 0.001;
/// Share of samples from which on a recording counts as one of guests.
const MIN_GUEST_SHARE: f64 = 0.9;

/// Limits of a recording with these facts and counts, without commands: those of the whole recording first,
/// then those of events in their order. Severities depend on the program asked about.
#[must_use]
pub fn blind_spots(
    facts: &RecordingFacts,
    tally: &RecordCounts,
    program: Option<&ExaminedProgram>,
) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    check_recording(facts, tally, &mut found);
    let sampled = || facts.events.iter().zip(&tally.events).filter(|(_, counts)| counts.samples > 0);
    // Some event has samples that determine a member: by address, by an exact instruction, or by
    // straight-line ranges.
    let has_accesses = sampled().any(|(event, counts)| {
        counts.with_address > 0 || counts.exact_ips > 0 || counts.uses_branch_ranges(&event.attr)
    });
    for (event, counts) in sampled() {
        check_event(facts, event, counts, has_accesses, &mut found);
    }
    check_cpu_modes(facts, tally, program, &mut found);
    check_operations(tally, &mut found);
    check_losses(tally, &mut found);
    found
}

/// The same as sentences, each with its remedy.
#[must_use]
pub fn blind_spot_messages(facts: &RecordingFacts, tally: &RecordCounts) -> Vec<String> {
    let spots = blind_spots(facts, tally, None).into_iter();
    spots.map(|DoctorFinding { message: what, remedy, .. }| format!("{what}; {remedy}")).collect()
}

fn cannot_answer_if(is_grave: bool) -> Severity {
    if is_grave { Severity::CannotAnswer } else { Severity::Limits }
}

fn check_recording(facts: &RecordingFacts, tally: &RecordCounts, found: &mut Vec<DoctorFinding>) {
    let samples = tally.samples();
    if facts.has_aux_trace || tally.aux_bytes > 0 {
        let bytes = tally.aux_bytes;
        found.push(DoctorFinding::new(
            "aux-trace",
            cannot_answer_if(samples == 0),
            format!("{bytes} bytes of hardware trace are not samples yet and were not read"),
            format!("AUX records of {bytes} bytes beside {samples} samples"),
            "make samples of the trace: perf inject --itrace=i1i -i perf.data -o samples.perf.data",
        ));
    }
    if samples == 0 {
        found.push(DoctorFinding::new(
            "no-samples",
            Severity::CannotAnswer,
            "the recording has no samples",
            "no SAMPLE record in the file",
            "record longer, or an event that occurs: perf mem record -a -- sleep 10",
        ));
    }
    if facts.events.iter().any(|event| is_modelled_event(&event.name)) {
        let processor = facts.cpu_description.as_deref().unwrap_or("an emulator");
        found.push(DoctorFinding::limits(
            "modelled-levels",
            "cache levels, weights and HITM are those of modelled caches, and times count instructions",
            format!("fieldline guest record made the recording: {processor}"),
            "lines per visit rest on no levels; for measured misses, perf mem record on hardware",
        ));
    }
    if !facts.is_finished {
        found.push(DoctorFinding::limits(
            "unfinished",
            "perf record did not finish: names, build ids and the machine's description are missing",
            "the file header gives no size of the data, which perf record writes last",
            "stop perf record with Ctrl-C or SIGINT and let it finish writing",
        ));
    }
    if tally.unknown_samples > 0 {
        let unknown = tally.unknown_samples;
        found.push(DoctorFinding::limits(
            "unknown-events",
            format!("{unknown} samples belong to events that the recording does not describe"),
            format!("{unknown} samples carry an id that no event of the header has"),
            "record anew; the file was put together from others or is damaged",
        ));
    }
}

fn check_event(
    facts: &RecordingFacts,
    event: &Event,
    counts: &SampleCounts,
    has_accesses: bool,
    found: &mut Vec<DoctorFinding>,
) {
    let Event { name, attr, .. } = event;
    let samples = counts.samples;
    if is_clock(event) && !attr.excludes_kernel() {
        found.push(DoctorFinding::new(
            "clock-event",
            cannot_answer_if(!has_accesses),
            format!(
                "{name} samples by a timer, which waits while interrupts are off: code under spinlocks with interrupts off, \
                 most of the scheduler among it, is invisible, and its time is charged to the instruction that turns them on again"
            ),
            format!(
                "the attribute of {name} has type {} (software) and config {}; {samples} samples, {} of kernel code",
                attr.kind,
                attr.config,
                counts.in_mode(CpuMode::Kernel)
            ),
            "record memory accesses by a hardware event: perf mem record -a (Intel, Arm, PowerPC), \
             perf record -e ibs_op// -a (AMD); virtual machines rarely offer one",
        ));
    }
    found.extend(check_load_threshold(facts, event, counts));
    if counts.uses_branch_ranges(attr) {
        let (stacks, ranges) = (counts.branch_stacks, counts.ranges);
        found.push(DoctorFinding::limits(
            "branch-runs",
            format!(
                "samples of {name} have no access of their own: accesses are counted in {ranges} straight-line ranges of \
                 {stacks} branch stacks. They can't show which object was touched, so no false sharing, nor caches and latencies"
            ),
            describe_branch_stacks(event, counts),
            "for what is missing record memory accesses besides, such as by perf mem record; profiles of both can be merged",
        ));
    } else {
        check_access_fields(facts, event, counts, has_accesses, found);
    }
    let needed = [(SampleFields::TIME, "time"), (SampleFields::CPU, "cpu"), (SampleFields::TID, "tid")];
    for (_, field) in needed.into_iter().filter(|(field, _)| !attr.sample_type.contains(*field)) {
        found.push(DoctorFinding::limits(
            "no-field",
            format!("samples of {name} have no {field}, so accesses cannot be joined to visits"),
            format!("the attribute of {name} has sample_type {:#x}", attr.sample_type.0),
            "record with -T --sample-cpu and without --no-samples",
        ));
    }
}

fn check_load_threshold(
    facts: &RecordingFacts,
    event: &Event,
    counts: &SampleCounts,
) -> Option<DoctorFinding> {
    let (cycles, is_asked_for) = threshold::find_load_threshold(facts, event, counts)?;
    let (name, loads, hits) = (&event.name, counts.loads, counts.l1_load_hits);
    let what = match is_asked_for {
        true => format!(
            "{name} samples only loads that take {cycles} cycles or more: members that hit the first-level cache look unread"
        ),
        false => format!(
            "no load of {name} took fewer than {cycles} cycles or hit the first-level cache: a threshold hides the fast ones"
        ),
    };
    let why = match is_asked_for {
        true => format!(
            "the attribute of {name} asks for {cycles} cycles; {hits} of its {loads} loads hit the nearest cache"
        ),
        false => {
            format!("of {loads} loads of {name} none hit the nearest cache or took less than {cycles} cycles")
        }
    };
    let remedy = "lower the threshold, and do not compare loads with stores: perf mem record --ldlat=3 -a";
    let severity = cannot_answer_if(lacks_fast_loads(hits, loads));
    Some(DoctorFinding::new("load-threshold", severity, what, why, remedy))
}

/// Fields that describe the access of a sample.
fn check_access_fields(
    facts: &RecordingFacts,
    event: &Event,
    counts: &SampleCounts,
    has_accesses: bool,
    found: &mut Vec<DoctorFinding>,
) {
    let Event { name, attr, .. } = event;
    let samples = counts.samples;
    if counts.with_address == 0 {
        let (what, remedy) = if attr.sample_type.contains(SampleFields::ADDR) {
            let what = format!("{name} asked for data addresses and the hardware gave none");
            (what, "record an event whose hardware knows addresses, by perf mem record")
        } else {
            let what = format!("samples of {name} have no data address, so objects and visits are not known");
            (what, "record with -d, or by perf mem record")
        };
        let why = format!("0 of {samples} samples of {name} have an address");
        found.push(DoctorFinding::limits("no-addresses", what, why, remedy));
    }
    if counts.with_level == 0 {
        let remedy = match is_step_event(&event.name) {
            true => {
                "steps can't tell; on a machine with a PMU that samples accesses, record by perf mem record"
            }
            false => "record with --data and -W, or by perf mem record",
        };
        found.push(DoctorFinding::limits(
            "no-data-source",
            format!("samples of {name} do not say where accesses were served: no cache levels, no HITM"),
            format!("0 of {samples} samples of {name} have a data source with a level"),
            remedy,
        ));
    }
    let (precise_ip, exact) = (attr.precise_ip(), counts.exact_ips);
    if is_hardware(event) && precise_ip == 0 && exact == 0 && !is_from_trace(facts, counts) {
        found.push(DoctorFinding::new(
            "skid",
            // Neither an address nor the instruction: the member stays unknown.
            cannot_answer_if(counts.with_address == 0 && !has_accesses),
            format!("{name} is not precise: its samples name an instruction after the one that touched memory"),
            format!(
                "the attribute of {name} has precise_ip {precise_ip}, and {exact} of {samples} samples are marked exact"
            ),
            "add the modifier P to the event, as in -e instructions:P",
        ));
    }
    if counts.with_address == 0 && counts.loads == 0 && counts.stores == 0 {
        found.extend(check_branch_stacks(event, counts));
    }
}

fn check_branch_stacks(event: &Event, counts: &SampleCounts) -> Option<DoctorFinding> {
    let name = &event.name;
    let (key, what, remedy) = match BranchStackKind::for_event(&event.attr) {
        BranchStackKind::Absent => return None,
        BranchStackKind::Filtered(filter) => {
            let filter = if filter.is_empty() { "an unknown filter" } else { &filter };
            let what = format!(
                "the branch stacks of {name} leave out branches ({filter}), so ranges between them are not straight-line, \
                 and are not counted"
            );
            ("filtered-branches", what, "record all branches: perf record -b, which is -j any")
        }
        BranchStackKind::Complete => {
            let what = format!(
                "the branch stacks of {name} are empty or broken: a sample has only its own instruction"
            );
            let remedy = "record where the processor keeps branches (/sys/bus/event_source/devices/cpu/caps/branches), which \
                 few virtual machines show";
            ("no-branches", what, remedy)
        }
    };
    Some(DoctorFinding::limits(key, what, describe_branch_stacks(event, counts), remedy))
}

/// Counts that show how useful an event's branch stacks are.
fn describe_branch_stacks(Event { name, attr, .. }: &Event, counts: &SampleCounts) -> String {
    format!(
        "the attribute of {name} has branch_sample_type {:#x}; {} of {} samples have a branch stack, with {} \
         straight-line ranges and {} impossible ones",
        attr.branch_sample_type,
        counts.branch_stacks,
        counts.samples,
        counts.ranges,
        counts.impossible_ranges
    )
}

/// `cpu-clock` and `task-clock`, both driven by a timer.
fn is_clock(event: &Event) -> bool {
    event.attr.kind == 1 && event.attr.config <= 1
}

/// Samples that perf made of Arm's trace: hardware events that aren't marked as exact though the trace names
/// the instruction (`arm_spe_prep_sample` in `tools/perf/util/arm-spe.c`).
fn is_from_trace(facts: &RecordingFacts, counts: &SampleCounts) -> bool {
    facts.pmus.iter().any(|(_, name)| name.starts_with("arm_spe")) && counts.with_operation > 0
}

/// A hardware, cache or raw event of the processor's own PMU.
fn is_hardware(event: &Event) -> bool {
    matches!(event.attr.kind, 0 | 3 | 4)
}

fn check_cpu_modes(
    facts: &RecordingFacts,
    tally: &RecordCounts,
    program: Option<&ExaminedProgram>,
    found: &mut Vec<DoctorFinding>,
) {
    let samples = tally.samples();
    if samples == 0 {
        return;
    }
    let sampling_events: Vec<&Event> = facts.events.iter().filter(|event| !event.attr.is_dummy()).collect();
    let has_any = !sampling_events.is_empty();
    let no_kernel = has_any && sampling_events.iter().all(|event| event.attr.excludes_kernel());
    let no_user = has_any && sampling_events.iter().all(|event| event.attr.excludes_user());
    let is_enough = samples >= ENOUGH_SAMPLES;
    if tally.in_mode(CpuMode::Kernel) == 0 && (no_kernel || is_enough) {
        // Code that wasn't asked for is not missed.
        let is_kernel_wanted = program.is_none_or(|program| program.is_kernel);
        let severity = if is_kernel_wanted { cannot_answer_if(program.is_some()) } else { Severity::Note };
        let (what, why, remedy) = match no_kernel {
            true if sampling_events.iter().all(|event| is_step_event(&event.name)) => (
                "kernel code was not stepped",
                "fieldline record steps programs only".to_owned(),
                "record the kernel by perf mem record, as root",
            ),
            true => (
                "kernel code was excluded",
                "exclude_kernel is set in every event's attribute".to_owned(),
                "record without the modifier u, as root",
            ),
            false => (
                "no sample is of kernel code",
                format!("0 of {samples} samples were taken in kernel mode"),
                "record a load that enters the kernel, as root, with kernel.perf_event_paranoid at 1 or less",
            ),
        };
        found.push(DoctorFinding::new("no-kernel-code", severity, what, why, remedy));
    }
    if tally.in_mode(CpuMode::User) == 0 && (no_user || is_enough) {
        let is_user_wanted = program.is_some_and(|program| !program.is_kernel);
        let severity = if is_user_wanted { Severity::CannotAnswer } else { Severity::Note };
        let (what, why, remedy) = match no_user {
            true => (
                "user code was excluded",
                "exclude_user is set in every event's attribute".to_owned(),
                "record without the modifier k",
            ),
            false => (
                "no sample is of user code",
                format!("0 of {samples} samples were taken in user mode"),
                "record while programs run",
            ),
        };
        found.push(DoctorFinding::new("no-user-code", severity, what, why, remedy));
    }
    let guests = tally.in_mode(CpuMode::GuestKernel) + tally.in_mode(CpuMode::GuestUser);
    if guests > 0 {
        let share = guests as f64 / samples as f64;
        let percent = 100.0 * share;
        found.push(DoctorFinding::new(
            "guests",
            cannot_answer_if(share >= MIN_GUEST_SHARE),
            format!("{percent:.1} % of the samples are of guests, which have kernels of their own"),
            format!("{guests} of {samples} samples were taken in guest mode"),
            "record inside the guest, with the guest's vmlinux at hand",
        ));
    }
}

/// Loads without stores, and the reverse, where the samples say which they are.
fn check_operations(tally: &RecordCounts, found: &mut Vec<DoctorFinding>) {
    let loads: u64 = tally.events.iter().map(|event| event.loads).sum();
    let stores: u64 = tally.events.iter().map(|event| event.stores).sum();
    let why = format!("data sources name {loads} loads and {stores} stores");
    if loads >= ENOUGH_SAMPLES && stores == 0 {
        let what = "no store was sampled: written members and false sharing stay hidden";
        let remedy = "record stores too: perf mem record records both, -t load only loads";
        found.push(DoctorFinding::limits("no-stores", what, why, remedy));
    } else if stores >= ENOUGH_SAMPLES && loads == 0 {
        let what = "no load was sampled: members that are only read stay hidden";
        let remedy = "record loads too: perf mem record records both, -t store only stores";
        found.push(DoctorFinding::limits("no-loads", what, why, remedy));
    }
}

fn check_losses(tally: &RecordCounts, found: &mut Vec<DoctorFinding>) {
    // Newer kernels count the samples among the lost records once more, so the sum would be too much.
    let (records, samples, times) = (tally.lost_records, tally.lost_samples, tally.throttles);
    let count = records.max(samples);
    let share = count as f64 / (count as f64 + tally.samples() as f64).max(1.0);
    if share >= MIN_LOSS_SHARE {
        found.push(DoctorFinding::limits(
            "lost",
            format!("{count} samples were lost ({:.1} %), more in busy moments", 100.0 * share),
            format!("LOST records count {records}, LOST_SAMPLES records {samples}"),
            "enlarge the buffer (-m 16M), or sample less often (-c, -F)",
        ));
    }
    if times > 0 {
        found.push(DoctorFinding::limits(
            "throttled",
            format!("the kernel paused sampling {times} times: busy moments are under-represented"),
            format!("{times} THROTTLE records"),
            "sample less often (-c, -F), or raise kernel.perf_event_max_sample_rate and kernel.perf_cpu_time_max_percent",
        ));
    }
}

#[cfg(test)]
mod tests;
