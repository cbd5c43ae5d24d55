//! The fact behind a blind spot, and where in the recording it stands.

use crate::blind_spots::BlindSpot;
use crate::survey::RecordingSurvey;
use fieldline_perfdata::perf_data::{Event, EventTally, RecordingFacts};
use fieldline_perfdata::sample::CpuMode;

pub(super) fn evidence(spot: &BlindSpot, facts: &RecordingFacts, survey: &RecordingSurvey) -> String {
    let tally = &survey.tally;
    let samples = tally.samples();
    match spot {
        BlindSpot::NoSamples => "no SAMPLE record in the file".to_owned(),
        BlindSpot::Unfinished => {
            "the file header gives no size of the data, which perf record writes last".to_owned()
        }
        BlindSpot::AuxTrace { bytes } => format!("AUX records of {bytes} bytes beside {samples} samples"),
        BlindSpot::NoKernelCode { is_excluded: true } => {
            "exclude_kernel is set in every event's attribute".to_owned()
        }
        BlindSpot::NoUserCode { is_excluded: true } => {
            "exclude_user is set in every event's attribute".to_owned()
        }
        BlindSpot::NoKernelCode { .. } => format!("0 of {samples} samples were taken in kernel mode"),
        BlindSpot::NoUserCode { .. } => format!("0 of {samples} samples were taken in user mode"),
        BlindSpot::Guests { .. } => {
            let guests = tally.in_mode(CpuMode::GuestKernel) + tally.in_mode(CpuMode::GuestUser);
            format!("{guests} of {samples} samples were taken in guest mode")
        }
        BlindSpot::NoStores | BlindSpot::NoLoads => {
            let sum = |count: fn(&EventTally) -> u64| tally.events.iter().map(count).sum::<u64>();
            format!("data sources name {} loads and {} stores", sum(|of| of.loads), sum(|of| of.stores))
        }
        BlindSpot::Lost { .. } => {
            format!("LOST records count {}, LOST_SAMPLES records {}", tally.lost_records, tally.lost_samples)
        }
        BlindSpot::Throttled { times } => format!("{times} THROTTLE records"),
        BlindSpot::UnknownEvents { samples } => {
            format!("{samples} samples carry an id that no event of the header has")
        }
        _ => of_event(spot, facts, survey),
    }
}

fn of_event(spot: &BlindSpot, facts: &RecordingFacts, survey: &RecordingSurvey) -> String {
    let Some((event, counts)) = event_of(spot, facts, survey) else {
        return "the event's attribute".to_owned();
    };
    let Event { name, attr, .. } = event;
    let samples = counts.samples;
    match spot {
        BlindSpot::ClockEvent { .. } => format!(
            "the attribute of {name} has type {} (software) and config {}; {samples} samples, {} of kernel code",
            attr.kind,
            attr.config,
            counts.in_mode(CpuMode::Kernel)
        ),
        BlindSpot::LoadThreshold { cycles, is_asked_for: true, .. } => format!(
            "the attribute of {name} asks for {cycles} cycles; {} of its {} loads hit the nearest cache",
            counts.l1_load_hits, counts.loads
        ),
        BlindSpot::LoadThreshold { cycles, .. } => {
            format!(
                "of {} loads of {name} none hit the nearest cache or took less than {cycles} cycles",
                counts.loads
            )
        }
        BlindSpot::NoAddresses { .. } => {
            format!("{} of {samples} samples of {name} have an address", counts.with_address)
        }
        BlindSpot::NoDataSource { .. } => {
            format!("{} of {samples} samples of {name} have a data source with a level", counts.with_level)
        }
        BlindSpot::BranchRuns { .. } | BlindSpot::FilteredBranches { .. } | BlindSpot::NoBranches { .. } => {
            format!(
                "the attribute of {name} has branch_sample_type {:#x}; {} of {samples} samples have a branch stack, with {} runs \
             between branches and {} that can be none",
                attr.branch_sample_type, counts.stacks, counts.runs, counts.broken_runs
            )
        }
        BlindSpot::Skid { .. } => format!(
            "the attribute of {name} has precise_ip {}, and {} of {samples} samples are marked exact",
            attr.precise_ip(),
            counts.exact
        ),
        _ => format!("the attribute of {name} has sample_type {:#x}", attr.sample_type.0),
    }
}

/// The event a blind spot is about.
pub(super) fn event_of<'f>(
    spot: &BlindSpot,
    facts: &'f RecordingFacts,
    survey: &'f RecordingSurvey,
) -> Option<(&'f Event, &'f EventTally)> {
    let wanted = match spot {
        BlindSpot::ClockEvent { event }
        | BlindSpot::LoadThreshold { event, .. }
        | BlindSpot::NoAddresses { event, .. }
        | BlindSpot::NoDataSource { event }
        | BlindSpot::BranchRuns { event, .. }
        | BlindSpot::FilteredBranches { event, .. }
        | BlindSpot::NoBranches { event }
        | BlindSpot::Skid { event }
        | BlindSpot::NoField { event, .. } => event,
        _ => return None,
    };
    facts.events.iter().zip(&survey.tally.events).find(|(event, _)| event.name == *wanted)
}
