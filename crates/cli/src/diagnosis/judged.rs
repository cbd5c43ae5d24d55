//! A machine, a recording, and what they can't answer.

use crate::input::recordings;
use anyhow::{Context, Result};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_doctor::machine::Machine;
use fieldline_doctor::{self as doctor, Advice, DoctorFinding, ExaminedProgram, RecordingSurvey};
use fieldline_perfdata::perf_data::{self, EventTally, RecordingFacts};
use fieldline_profile::addresses::is_kernel;
use serde::Serialize;
use std::path::Path;

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

pub(super) fn program(path: &Path) -> Result<ExaminedProgram> {
    let bytes = FileBytes::open(path)?;
    let elf = Elf::parse(&bytes)?;
    let sections = elf.text_sections();
    let text =
        sections.iter().map(|(_, address, bytes)| (*address, address.saturating_add(bytes.len() as u64)));
    Ok(ExaminedProgram { is_kernel: is_kernel(&elf), text: text.collect() })
}

pub(super) fn judge(path: &Path, program: Option<&ExaminedProgram>) -> Result<Judged> {
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
    let event = |(event, counts): (&perf_data::Event, &EventTally)| Event {
        name: event.name.clone(),
        samples: counts.samples,
        loads: counts.loads,
        stores: counts.stores,
        with_address: counts.with_address,
        exact: counts.exact,
    };
    real.map(event).collect()
}
