//! Diagnosis of a recording: its limits, each with its evidence and a command.

use crate::advice::Advice;
use crate::blind_spots::blind_spots;
use crate::finding::{DoctorFinding, Severity};
use crate::machine::Machine;
use crate::recording_summary::RecordingSummary;
use crate::supported_arch::check_arch;
use crate::{ExaminedProgram, kernel_load_bias};
use fieldline_perfdata::perf_data::{Event, RecordingFacts, SampleCounts};
use fieldline_perfdata::sample_file::SampleFile;

/// Samples from which on all of them on one CPU are no accident.
const ENOUGH_SAMPLES: u64 = 50;
/// Bit of `config` by which IBS samples only what missed L3 (`IBS_OP_L3MISSONLY` in
/// `arch/x86/include/asm/perf_event.h`).
const L3_MISS_ONLY: u64 = 1 << 16;

/// Events that perf makes of Arm's trace (`arm_spe_synth_events` in `tools/perf/util/arm-spe.c`).
const SPE_EVENTS: [&str; 10] = [
    "l1d-miss",
    "l1d-access",
    "llc-miss",
    "llc-access",
    "tlb-miss",
    "tlb-access",
    "branch-miss",
    "remote-access",
    "memory",
    "instructions",
];

/// Blind spots of recordings that only another event helps against.
const NEED_HARDWARE_SAMPLING: [&str; 5] =
    ["clock-event", "no-addresses", "no-data-source", "skid", "branch-runs"];
/// Makes one sample of each access that Arm's trace holds.
const INJECT_COMMAND: &str = "perf inject --itrace=i1i -i perf.data -o samples.perf.data";

/// A recording's machine, its limits and better commands.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingFindings {
    /// The machine it was made on.
    pub machine: Machine,
    /// Commands to record with there.
    pub advice: Advice,
    /// Limits of the recording, the gravest first.
    pub findings: Vec<DoctorFinding>,
}

struct RecordingChecks<'p> {
    facts: &'p RecordingFacts,
    summary: &'p RecordingSummary,
    advice: &'p Advice,
}

/// Finds the limits of a recording: for a program, or for any.
#[must_use]
pub fn diagnose(
    file: &SampleFile,
    summary: &RecordingSummary,
    program: Option<&ExaminedProgram>,
) -> RecordingFindings {
    let machine = Machine::from_recording(file.facts());
    let advice = Advice::for_machine(&machine);
    let checks = RecordingChecks { facts: file.facts(), summary, advice: &advice };
    let spots = blind_spots(checks.facts, &summary.counts, program);
    let mut findings: Vec<DoctorFinding> = spots.into_iter().map(|spot| checks.add_command(spot)).collect();
    findings.extend(kernel_load_bias::check_kernel_load_bias(file, summary, program));
    findings.extend(check_arch(&machine, Severity::CannotAnswer));
    findings.extend(checks.check_single_cpu());
    findings.extend(checks.check_l3_filter());
    findings.extend(checks.check_breakpoints());
    findings.extend(checks.check_repeated_counts());
    findings.extend(file.notes().into_iter().map(finding_from_note));
    findings.sort_by_key(|finding| finding.severity);
    RecordingFindings { machine, advice, findings }
}

impl RecordingChecks<'_> {
    /// Adds the command that suits the machine. On one that can't sample accesses no option of perf helps.
    fn add_command(&self, mut spot: DoctorFinding) -> DoctorFinding {
        if !self.advice.can_answer && NEED_HARDWARE_SAMPLING.contains(&spot.key.as_str()) {
            spot.remedy = "record on a machine that samples memory accesses; this one can't".to_owned();
        }
        spot.command = match spot.key.as_str() {
            "aux-trace" => Some(INJECT_COMMAND.to_owned()),
            "lost" => self.advice.command_with("-m 16M"),
            "throttled" => self.advice.command_with("-F 1000"),
            _ => self.command(),
        };
        spot
    }

    fn command(&self) -> Option<String> {
        self.advice.command().map(str::to_owned)
    }

    fn sampled_events(&self) -> impl Iterator<Item = (&Event, &SampleCounts)> {
        self.facts.events.iter().zip(&self.summary.counts.events).filter(|(_, counts)| counts.samples > 0)
    }

    fn check_single_cpu(&self) -> Option<DoctorFinding> {
        let online = self.facts.cpus.map(|cpus| cpus.online).filter(|online| *online > 1)?;
        let mut cpus = self.summary.cpus.iter();
        let (Some((cpu, samples)), None) = (cpus.next(), cpus.next()) else { return None };
        let finding = DoctorFinding::limits(
            "one-cpu",
            "one CPU was recorded, so nothing shows which CPUs share an object, and no false sharing",
            format!("all {samples} samples are of CPU {cpu}, while {online} CPUs were online"),
            "record all CPUs (-a), without -C and taskset",
        );
        (*samples >= ENOUGH_SAMPLES).then(|| DoctorFinding { command: self.command(), ..finding })
    }

    fn check_l3_filter(&self) -> Option<DoctorFinding> {
        let is_ibs = |event: &Event| self.facts.pmu_name(event.attr.kind) == Some("ibs_op");
        let is_filtered = |event: &Event| match is_ibs(event) {
            true => event.attr.config & L3_MISS_ONLY != 0,
            false => event.name.contains("l3missonly=1"),
        };
        let (event, counts) = self.sampled_events().find(|(event, _)| is_filtered(event))?;
        let (Event { name, attr, .. }, samples) = (event, counts.samples);
        let finding = DoctorFinding::new(
            "l3-misses-only",
            Severity::CannotAnswer,
            format!("{name} samples only what missed L3: members served by caches look untouched"),
            format!(
                "the attribute of {name} has config {:#x}, with l3missonly; {samples} samples",
                attr.config
            ),
            "leave l3missonly out",
        );
        Some(DoctorFinding { command: self.command(), ..finding })
    }

    fn check_breakpoints(&self) -> Option<DoctorFinding> {
        let breakpoints = self.sampled_events().filter_map(|(event, _)| event.attr.data_breakpoint());
        let watched = breakpoints.map(|watch| format!("{} bytes at {:#x}", watch.length, watch.address));
        let watched: Vec<String> = watched.collect();
        let finding = DoctorFinding::limits(
            "watched-only",
            "breakpoints show all accesses to the bytes they watch, and none to other members and objects",
            format!("attributes of type 5 (breakpoint): {}", watched.join(", ")),
            "watch other members in further recordings, and merge their profiles by `fieldline merge`",
        );
        (!watched.is_empty()).then(|| DoctorFinding { command: self.command(), ..finding })
    }

    fn check_repeated_counts(&self) -> Option<DoctorFinding> {
        let is_from_trace = |name: &str| SPE_EVENTS.contains(&name.split(':').next().unwrap_or(name));
        let from_trace = self.sampled_events().filter(|(event, _)| is_from_trace(&event.name));
        let events = from_trace.map(|(event, counts)| format!("{} ({} samples)", event.name, counts.samples));
        let events: Vec<String> = events.collect();
        let finding = DoctorFinding::limits(
            "counted-repeatedly",
            "an access counts once for each event that the trace has of it: cache, TLB and memory",
            format!("events made of a trace: {}", events.join(", ")),
            "make one sample of each access",
        );
        (events.len() > 1).then(|| finding.with_command(INJECT_COMMAND))
    }
}

fn finding_from_note(note: String) -> DoctorFinding {
    DoctorFinding::limits(
        "text-lacks",
        note,
        "the text that perf script printed",
        "give the perf.data itself, or print all fields (docs/formats.md)",
    )
    .with_command(
        "perf script --ns --header --show-mmap-events -F \
         comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,addr,data_src,weight",
    )
}
