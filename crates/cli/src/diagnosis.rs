//! What `fieldline doctor` finds, as it is written: a machine, or recordings and the structs asked about.

mod judged;
mod structs;

use crate::args::Recordings;
use anyhow::Result;
use fieldline_doctor::machine::Machine;
<<<<<<< HEAD
use fieldline_doctor::{self as doctor, Advice, DoctorFinding, ExaminedProgram, RecordingSurvey, Severity};
use fieldline_perfdata::perf_data::RecordingFacts;
use fieldline_profile::run::link;
=======
use fieldline_doctor::{self as doctor, Advice, DoctorFinding, Severity};
>>>>>>> main
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) use judged::{Judged, Looked};
pub(crate) use structs::StructNeed;

use judged::{judge, program};

const FORMAT: &str = "fieldline-doctor";
const VERSION: u32 = 1;

/// The answer, and the file of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Diagnosis {
    format: &'static str,
    version: u32,
    /// No finding says that the question can't be answered.
    pub(crate) fit: bool,
    /// The machine looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) here: Option<Looked>,
    /// The recordings judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recordings: Vec<Judged>,
    /// The structs asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) structs: Vec<StructNeed>,
}

<<<<<<< HEAD
/// A machine and what to type on it.
#[derive(Debug, Serialize)]
pub(crate) struct Looked {
    pub(crate) machine: Machine,
    pub(crate) advice: Advice,
    pub(crate) findings: Vec<DoctorFinding>,
}

/// A recording, and what it can't answer.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    /// Name of the file.
    pub(crate) file: String,
    /// How it was made, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// Seconds from the first to the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    pub(crate) samples: u64,
    pub(crate) events: Vec<Event>,
    #[serde(flatten)]
    pub(crate) looked: Looked,
}

/// What an event brought.
#[derive(Debug, Serialize)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) samples: u64,
    /// By the data source.
    pub(crate) loads: u64,
    pub(crate) stores: u64,
    pub(crate) with_address: u64,
    /// Those whose instruction is marked as exact.
    pub(crate) exact: u64,
}

=======
>>>>>>> main
impl Diagnosis {
    fn new(here: Option<Looked>, recordings: Vec<Judged>, structs: Vec<StructNeed>) -> Self {
        let looked = here.iter().chain(recordings.iter().map(|judged| &judged.looked));
        let of_structs = structs.iter().flat_map(|of| &of.findings);
        let fit = !looked.flat_map(|looked| &looked.findings).chain(of_structs).any(is_grave);
        Self { format: FORMAT, version: VERSION, fit, here, recordings, structs }
    }

    /// Of the machine below a root folder.
    pub(crate) fn of_machine(root: &Path) -> Result<Self> {
        let machine = Machine::read(root)?;
        let advice = Advice::of(&machine);
        let findings = doctor::setup(&machine, &advice);
        Ok(Self::new(Some(Looked { machine, advice, findings }), Vec::new(), Vec::new()))
    }

    /// Of recordings, for a program and its structs if given.
    pub(crate) fn of_recordings(perf: &[PathBuf], vmlinux: Option<&Path>, types: &[String]) -> Result<Self> {
        let program = vmlinux.map(program).transpose()?;
        let judged: Vec<Judged> =
            perf.iter().map(|path| judge(path, program.as_ref())).collect::<Result<_>>()?;
        let structs = match vmlinux {
            Some(vmlinux) => {
                let of = Recordings {
                    programs: vec![vmlinux.to_owned()],
                    debug_dir: Vec::new(),
                    perf: perf.to_vec(),
                    force: false,
                    no_addresses: false,
                };
                structs::needs(&of, types, &judged)?
            }
            None => Vec::new(),
        };
        Ok(Self::new(None, judged, structs))
    }
}

fn is_grave(finding: &DoctorFinding) -> bool {
    finding.severity == Severity::CannotAnswer
}
<<<<<<< HEAD

fn program(path: &Path) -> Result<ExaminedProgram> {
    let bytes = FileBytes::open(path)?;
    let elf = Elf::parse(&bytes)?;
    let sections = elf.text_sections();
    let text =
        sections.iter().map(|(_, address, bytes)| (*address, address.saturating_add(bytes.len() as u64)));
    Ok(ExaminedProgram { is_kernel: link::is_kernel(&elf), text: text.collect() })
}

fn judge(path: &Path, program: Option<&ExaminedProgram>) -> Result<Judged> {
    let file = recordings::open(path)?;
    let survey = doctor::survey(&file, program).with_context(|| path.display().to_string())?;
    let exam = doctor::examine(&file, &survey, program);
    let command = file.facts().command_line.join(" ");
    Ok(Judged {
        file: recordings::base_name(path),
        command: Some(command).filter(|command| !command.is_empty()),
        seconds: survey.seconds().map(|seconds| (seconds * 1000.0).round() / 1000.0),
        samples: survey.tally.samples(),
        events: events(file.facts(), &survey),
        looked: Looked { machine: exam.machine, advice: exam.advice, findings: exam.findings },
    })
}

/// All events but those that perf opens for itself.
fn events(facts: &RecordingFacts, survey: &RecordingSurvey) -> Vec<Event> {
    let pairs = facts.events.iter().zip(&survey.tally.events);
    let real = pairs.filter(|(event, counts)| !event.attr.is_dummy() || counts.samples > 0);
    let event = |(event, counts): (&fieldline_perfdata::perf_data::Event, _)| {
        let counts: &fieldline_perfdata::perf_data::EventTally = counts;
        Event {
            name: event.name.clone(),
            samples: counts.samples,
            loads: counts.loads,
            stores: counts.stores,
            with_address: counts.with_address,
            exact: counts.exact,
        }
    };
    real.map(event).collect()
}
=======
>>>>>>> main
