//! What a recording can't answer.

use crate::advice::Advice;
use crate::blind_spots::blind_spots;
use crate::finding::{DoctorFinding, Severity};
use crate::machine::Machine;
use crate::survey::RecordingSurvey;
use crate::unread::unread;
use crate::{ExaminedProgram, kernel_place};
use fieldline_perfdata::perf_data::{Event, EventTally, RecordingFacts};
use fieldline_perfdata::sample_file::SampleFile;

/// Samples from which on all of them on one CPU are no accident.
const ENOUGH_SAMPLES: u64 = 50;
/// Bit of `config` by which IBS samples only what missed L3 (`IBS_OP_L3MISSONLY` in `arch/x86/include/asm/perf_event.h`).
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
const WANT_HARDWARE: [&str; 5] = ["clock-event", "no-addresses", "no-data-source", "skid", "branch-runs"];
/// Makes one sample of each access that Arm's trace holds.
const INJECT: &str = "perf inject --itrace=i1i -i perf.data -o samples.perf.data";

/// What was found out about a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Exam {
    /// The machine it was made on.
    pub machine: Machine,
    /// What to type there.
    pub advice: Advice,
    /// What it can't answer, the gravest first.
    pub findings: Vec<DoctorFinding>,
}

struct Patient<'p> {
    facts: &'p RecordingFacts,
    survey: &'p RecordingSurvey,
    advice: &'p Advice,
}

/// Judges a recording: for a program, or for any.
#[must_use]
pub fn examine(file: &SampleFile, survey: &RecordingSurvey, program: Option<&ExaminedProgram>) -> Exam {
    let machine = Machine::of_recording(file.facts());
    let advice = Advice::of(&machine);
    let patient = Patient { facts: file.facts(), survey, advice: &advice };
    let spots = blind_spots(patient.facts, &survey.tally, program);
    let mut findings: Vec<DoctorFinding> = spots.into_iter().map(|spot| patient.of_spot(spot)).collect();
    findings.extend(kernel_place::unplaced(file, survey, program));
    findings.extend(unread(&machine, Severity::CannotAnswer));
    findings.extend(patient.one_cpu());
    findings.extend(patient.l3_misses_only());
    findings.extend(patient.watched_only());
    findings.extend(patient.counted_repeatedly());
    findings.extend(file.notes().into_iter().map(of_note));
    findings.sort_by_key(|finding| finding.severity);
    Exam { machine, advice, findings }
}

impl Patient<'_> {
    /// Adds the command that suits the machine. On one that can't sample accesses no option of perf helps.
    fn of_spot(&self, mut spot: DoctorFinding) -> DoctorFinding {
        if !self.advice.can_answer && WANT_HARDWARE.contains(&spot.key.as_str()) {
            spot.remedy = "record on a machine that samples memory accesses; this one can't".to_owned();
        }
        spot.command = match spot.key.as_str() {
            "aux-trace" => Some(INJECT.to_owned()),
            "lost" => self.advice.command_with("-m 16M"),
            "throttled" => self.advice.command_with("-F 1000"),
            _ => self.command(),
        };
        spot
    }

    fn command(&self) -> Option<String> {
        self.advice.command().map(str::to_owned)
    }

    fn sampled(&self) -> impl Iterator<Item = (&Event, &EventTally)> {
        self.facts.events.iter().zip(&self.survey.tally.events).filter(|(_, counts)| counts.samples > 0)
    }

    fn one_cpu(&self) -> Option<DoctorFinding> {
        let online = self.facts.cpus.map(|cpus| cpus.online).filter(|online| *online > 1)?;
        let mut cpus = self.survey.cpus.iter();
        let (Some((cpu, samples)), None) = (cpus.next(), cpus.next()) else { return None };
        let finding = DoctorFinding::new(
            "one-cpu",
            Severity::Limits,
            "one CPU was recorded, so nothing shows which CPUs share an object, and no false sharing",
            format!("all {samples} samples are of CPU {cpu}, while {online} CPUs were online"),
            "record all CPUs (-a), without -C and taskset",
        );
        (*samples >= ENOUGH_SAMPLES).then(|| DoctorFinding { command: self.command(), ..finding })
    }

    fn l3_misses_only(&self) -> Option<DoctorFinding> {
        let is_ibs = |event: &Event| self.facts.pmu_name(event.attr.kind) == Some("ibs_op");
        let is_filtered = |event: &Event| match is_ibs(event) {
            true => event.attr.config & L3_MISS_ONLY != 0,
            false => event.name.contains("l3missonly=1"),
        };
        let (Event { name, attr, .. }, counts) = self.sampled().find(|(event, _)| is_filtered(event))?;
        let finding = DoctorFinding::new(
            "l3-misses-only",
            Severity::CannotAnswer,
            format!("{name} samples only what missed L3: members served by caches look untouched"),
            format!(
                "the attribute of {name} has config {:#x}, with l3missonly; {} samples",
                attr.config, counts.samples
            ),
            "leave l3missonly out",
        );
        Some(DoctorFinding { command: self.command(), ..finding })
    }

    fn watched_only(&self) -> Option<DoctorFinding> {
        let watches = self.sampled().filter_map(|(event, _)| event.attr.data_breakpoint());
        let watched: Vec<String> =
            watches.map(|watch| format!("{} bytes at {:#x}", watch.length, watch.address)).collect();
        let finding = DoctorFinding::new(
            "watched-only",
            Severity::Limits,
            "breakpoints show all accesses to the bytes they watch, and none to other members and objects",
            format!("attributes of type 5 (breakpoint): {}", watched.join(", ")),
            "watch other members in further recordings, and add their profiles up by `fieldline merge`",
        );
        (!watched.is_empty()).then(|| DoctorFinding { command: self.command(), ..finding })
    }

    fn counted_repeatedly(&self) -> Option<DoctorFinding> {
        let is_of_trace = |name: &str| SPE_EVENTS.contains(&name.split(':').next().unwrap_or(name));
        let of_trace = self.sampled().filter(|(event, _)| is_of_trace(&event.name));
        let events: Vec<String> =
            of_trace.map(|(event, counts)| format!("{} ({} samples)", event.name, counts.samples)).collect();
        let finding = DoctorFinding::new(
            "counted-repeatedly",
            Severity::Limits,
            "an access counts once for each event that the trace tells of it, cache, TLB and memory",
            format!("events made of a trace: {}", events.join(", ")),
            "make one sample of each access",
        );
        (events.len() > 1).then(|| finding.with_command(INJECT))
    }
}

fn of_note(note: String) -> DoctorFinding {
    DoctorFinding::new(
        "text-lacks",
        Severity::Limits,
        note,
        "the text that perf script printed",
        "give the perf.data itself, or print all fields (docs/formats.md)",
    )
    .with_command(
        "perf script --ns --header --show-mmap-events -F \
         comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,addr,data_src,weight",
    )
}
