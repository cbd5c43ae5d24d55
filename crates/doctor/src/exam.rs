//! What a recording can't answer.

use crate::advice::Advice;
use crate::blind_spots::{BlindSpot, blind_spots};
use crate::evidence::{event_of, evidence};
use crate::finding::{DoctorFinding, Severity};
use crate::machine::Machine;
use crate::survey::RecordingSurvey;
use crate::unread::unread;
use crate::{ExaminedProgram, kernel_place};
use fieldline_access::access::are_only_slow;
use fieldline_perfdata::perf_data::{Event, EventTally, RecordingFacts};
use fieldline_perfdata::sample_file::SampleFile;

/// Share of samples from which on a recording counts as one of guests.
const MOSTLY: f64 = 0.9;
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
    program: Option<&'p ExaminedProgram>,
    advice: &'p Advice,
}

/// Judges a recording: for a program, or for any.
#[must_use]
pub fn examine(file: &SampleFile, survey: &RecordingSurvey, program: Option<&ExaminedProgram>) -> Exam {
    let machine = Machine::of_recording(file.facts());
    let advice = Advice::of(&machine);
    let patient = Patient { facts: file.facts(), survey, program, advice: &advice };
    let spots = blind_spots(patient.facts, &survey.tally);
    let mut findings: Vec<DoctorFinding> = spots.iter().map(|spot| patient.of_spot(spot)).collect();
    findings.extend(kernel_place::unplaced(file, survey, program));
    findings.extend(unread(&machine, Severity::CannotAnswer));
    findings.extend(patient.one_cpu());
    findings.extend(patient.l3_misses_only());
    findings.extend(patient.watched_only());
    findings.extend(patient.counted_repeatedly());
    findings.extend(file.notes().into_iter().map(|note| patient.of_note(note)));
    findings.sort_by_key(|finding| finding.severity);
    Exam { machine, advice, findings }
}

impl Patient<'_> {
    fn of_spot(&self, spot: &BlindSpot) -> DoctorFinding {
        DoctorFinding {
            key: spot.key().to_owned(),
            severity: self.severity(spot),
            what: spot.to_string(),
            why: evidence(spot, self.facts, self.survey),
            remedy: self.remedy(spot),
            command: self.command(spot),
        }
    }

    /// On a machine that can't sample accesses no option of perf helps.
    fn remedy(&self, spot: &BlindSpot) -> String {
        let wants_hardware = matches!(
            spot,
            BlindSpot::ClockEvent { .. }
                | BlindSpot::NoAddresses { .. }
                | BlindSpot::NoDataSource { .. }
                | BlindSpot::Skid { .. }
                | BlindSpot::BranchRuns { .. }
        );
        match self.advice.can_answer {
            false if wants_hardware => {
                "record on a machine that samples memory accesses; this one can't".to_owned()
            }
            _ => spot.remedy().to_owned(),
        }
    }

    fn command(&self, spot: &BlindSpot) -> Option<String> {
        match spot {
            BlindSpot::AuxTrace { .. } => {
                Some("perf inject --itrace=i1i -i perf.data -o samples.perf.data".to_owned())
            }
            BlindSpot::Lost { .. } => self.advice.command_with("-m 16M"),
            BlindSpot::Throttled { .. } => self.advice.command_with("-F 1000"),
            _ => self.advice.command().map(str::to_owned),
        }
    }

    fn severity(&self, spot: &BlindSpot) -> Severity {
        let is_grave = match spot {
            BlindSpot::NoSamples => true,
            BlindSpot::ClockEvent { .. } => !self.has_accesses(),
            BlindSpot::LoadThreshold { .. } => {
                let counts = event_of(spot, self.facts, self.survey).map(|(_, counts)| counts);
                counts.is_some_and(|counts| are_only_slow(counts.l1_load_hits, counts.loads))
            }
            // Neither an address nor the instruction: nothing tells the member.
            BlindSpot::Skid { .. } => {
                let counts = event_of(spot, self.facts, self.survey).map(|(_, counts)| counts);
                counts.is_some_and(|counts| counts.with_address == 0) && !self.has_accesses()
            }
            BlindSpot::NoKernelCode { .. } => self.program.is_some_and(|program| program.is_kernel),
            BlindSpot::NoUserCode { .. } => self.program.is_some_and(|program| !program.is_kernel),
            BlindSpot::Guests { share } => *share >= MOSTLY,
            BlindSpot::AuxTrace { .. } => self.survey.tally.samples() == 0,
            _ => false,
        };
        match spot {
            _ if is_grave => Severity::CannotAnswer,
            // What wasn't asked for is not missed.
            BlindSpot::NoKernelCode { .. } | BlindSpot::NoUserCode { .. } if self.program.is_some() => {
                Severity::Note
            }
            BlindSpot::NoUserCode { .. } => Severity::Note,
            _ => Severity::Limits,
        }
    }

    /// Some event has samples that tell a member: by address, by an exact instruction, or by what ran between branches.
    fn has_accesses(&self) -> bool {
        self.sampled().any(|(event, counts)| {
            counts.with_address > 0 || counts.exact > 0 || counts.counts_by_runs(&event.attr)
        })
    }

    fn sampled(&self) -> impl Iterator<Item = (&Event, &EventTally)> {
        self.facts.events.iter().zip(&self.survey.tally.events).filter(|(_, counts)| counts.samples > 0)
    }

    fn one_cpu(&self) -> Option<DoctorFinding> {
        let online = self.facts.cpus.map(|cpus| cpus.online).filter(|online| *online > 1)?;
        let mut cpus = self.survey.cpus.iter();
        let (Some((cpu, samples)), None) = (cpus.next(), cpus.next()) else { return None };
        (*samples >= ENOUGH_SAMPLES).then(|| DoctorFinding {
            key: "one-cpu".to_owned(),
            severity: Severity::Limits,
            what: "one CPU was recorded, so nothing shows which CPUs share an object, and no false sharing"
                .to_owned(),
            why: format!("all {samples} samples are of CPU {cpu}, while {online} CPUs were online"),
            remedy: "record all CPUs (-a), without -C and taskset".to_owned(),
            command: self.advice.command().map(str::to_owned),
        })
    }

    fn l3_misses_only(&self) -> Option<DoctorFinding> {
        let is_ibs = |event: &Event| self.facts.pmu_name(event.attr.kind) == Some("ibs_op");
        let is_filtered = |event: &Event| match is_ibs(event) {
            true => event.attr.config & L3_MISS_ONLY != 0,
            false => event.name.contains("l3missonly=1"),
        };
        let (event, counts) = self.sampled().find(|(event, _)| is_filtered(event))?;
        Some(DoctorFinding {
            key: "l3-misses-only".to_owned(),
            severity: Severity::CannotAnswer,
            what: format!(
                "{} samples only what missed L3: members served by caches look untouched",
                event.name
            ),
            why: format!(
                "the attribute of {} has config {:#x}, with l3missonly; {} samples",
                event.name, event.attr.config, counts.samples
            ),
            remedy: "leave l3missonly out".to_owned(),
            command: self.advice.command().map(str::to_owned),
        })
    }

    fn watched_only(&self) -> Option<DoctorFinding> {
        let watches = self.sampled().filter_map(|(event, _)| event.attr.data_breakpoint());
        let watched: Vec<String> =
            watches.map(|watch| format!("{} bytes at {:#x}", watch.length, watch.address)).collect();
        (!watched.is_empty()).then(|| DoctorFinding {
            key: "watched-only".to_owned(),
            severity: Severity::Limits,
            what:
                "breakpoints show all accesses to the bytes they watch, and none to other members and objects"
                    .to_owned(),
            why: format!("attributes of type 5 (breakpoint): {}", watched.join(", ")),
            remedy:
                "watch other members in further recordings, and add their profiles up by `fieldline merge`"
                    .to_owned(),
            command: self.advice.command().map(str::to_owned),
        })
    }

    fn counted_repeatedly(&self) -> Option<DoctorFinding> {
        let is_of_trace = |name: &str| SPE_EVENTS.contains(&name.split(':').next().unwrap_or(name));
        let of_trace = self.sampled().filter(|(event, _)| is_of_trace(&event.name));
        let events: Vec<String> =
            of_trace.map(|(event, counts)| format!("{} ({} samples)", event.name, counts.samples)).collect();
        (events.len() > 1).then(|| DoctorFinding {
            key: "counted-repeatedly".to_owned(),
            severity: Severity::Limits,
            what: "an access counts once for each event that the trace tells of it, cache, TLB and memory"
                .to_owned(),
            why: format!("events made of a trace: {}", events.join(", ")),
            remedy: "make one sample of each access".to_owned(),
            command: Some("perf inject --itrace=i1i -i perf.data -o samples.perf.data".to_owned()),
        })
    }

    fn of_note(&self, note: String) -> DoctorFinding {
        DoctorFinding {
            key: "text-lacks".to_owned(),
            severity: Severity::Limits,
            what: note,
            why: "the text that perf script printed".to_owned(),
            remedy: "give the perf.data itself, or print all fields (docs/formats.md)".to_owned(),
            command: Some(
                "perf script --ns --header --show-mmap-events -F \
                 comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,addr,data_src,weight"
                    .to_owned(),
            ),
        }
    }
}
