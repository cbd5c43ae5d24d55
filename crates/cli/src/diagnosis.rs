//! Findings of `fieldline doctor`: about a machine, or about recordings and structs.

use crate::input::recordings::{self, RecordingInputs};
use crate::planning::{find_layout, rank_by_samples};
use anyhow::{Context, Result};
use fieldline_debuginfo::{Elf, FileBytes, types};
use fieldline_doctor::machine::Machine;
use fieldline_doctor::{self as doctor, Advice, DoctorFinding, ExaminedProgram, RecordingSummary, Severity};
use fieldline_layout::Layout;
use fieldline_perfdata::perf_data::{self, RecordingFacts, SampleCounts};
use fieldline_plan::{SampleSufficiency, count_samples};
use fieldline_profile::addresses::is_kernel;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Structs examined when none is named.
const BUSIEST: usize = 5;
/// Seconds to record if no earlier recording's length is known.
const USUAL_SECONDS: f64 = 10.0;

/// The diagnosis, also the file of `--format json`.
#[derive(Debug, Serialize)]
pub(crate) struct Diagnosis {
    format: &'static str,
    version: u32,
    /// Whether no finding has severity cannot-answer.
    pub(crate) fit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) here: Option<MachineReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recordings: Vec<RecordingReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) structs: Vec<StructReport>,
}

impl Diagnosis {
    fn new(
        here: Option<MachineReport>,
        recordings: Vec<RecordingReport>,
        structs: Vec<StructReport>,
    ) -> Self {
        let machines = here.iter().chain(recordings.iter().map(|judged| &judged.machine_report));
        let of_structs = structs.iter().flat_map(|need| &need.findings);
        let mut findings = machines.flat_map(|machine| &machine.findings).chain(of_structs);
        let fit = findings.all(|finding| finding.severity != Severity::CannotAnswer);
        Self { format: "fieldline-doctor", version: 1, fit, here, recordings, structs }
    }

    pub(crate) fn for_machine(root: &Path) -> Result<Self> {
        let machine = Machine::read(root)?;
        let advice = Advice::for_machine(&machine);
        let findings = doctor::check_setup(&machine, &advice);
        Ok(Self::new(Some(MachineReport { machine, advice, findings }), Vec::new(), Vec::new()))
    }

    pub(crate) fn for_recordings(perf: &[PathBuf], vmlinux: Option<&Path>, types: &[String]) -> Result<Self> {
        let examined = vmlinux.map(read_program).transpose()?;
        let judged = perf.iter().map(|path| diagnose(path, examined.as_ref())).collect::<Result<Vec<_>>>()?;
        let of_program = |program: &Path| {
            let (programs, perf) = (vec![program.to_owned()], perf.to_vec());
            // Of a kernel, findings say so.
            let may_lack_samples = examined.as_ref().is_some_and(|program| program.is_kernel);
            let inputs = RecordingInputs { programs, perf, may_lack_samples, ..RecordingInputs::default() };
            diagnose_structs(&inputs, types, &judged)
        };
        let structs = vmlinux.map_or(Ok(Vec::new()), of_program)?;
        Ok(Self::new(None, judged, structs))
    }
}

/// A machine with the commands to type there.
#[derive(Debug, Serialize)]
pub(crate) struct MachineReport {
    pub(crate) machine: Machine,
    pub(crate) advice: Advice,
    pub(crate) findings: Vec<DoctorFinding>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RecordingReport {
    pub(crate) file: String,
    /// How it was made, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// Seconds from the first to the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    pub(crate) samples: u64,
    pub(crate) events: Vec<EventFigures>,
    #[serde(flatten)]
    pub(crate) machine_report: MachineReport,
}

#[derive(Debug, Serialize)]
pub(crate) struct EventFigures {
    pub(crate) name: String,
    pub(crate) samples: u64,
    /// By the data source.
    pub(crate) loads: u64,
    pub(crate) stores: u64,
    pub(crate) with_address: u64,
    /// Those whose instruction is marked as exact.
    pub(crate) exact: u64,
}

fn read_program(path: &Path) -> Result<ExaminedProgram> {
    let bytes = FileBytes::open(path)?;
    let elf = Elf::parse(&bytes)?;
    let sections = elf.text_sections();
    let text = sections.iter().map(|(_, start, bytes)| (*start, start.saturating_add(bytes.len() as u64)));
    Ok(ExaminedProgram { is_kernel: is_kernel(&elf), text: text.collect() })
}

fn diagnose(path: &Path, program: Option<&ExaminedProgram>) -> Result<RecordingReport> {
    let file = recordings::open(path)?;
    let survey = doctor::summarize(&file, program).with_context(|| path.display().to_string())?;
    let exam = doctor::diagnose(&file, &survey, program);
    let command = file.facts().command_line.join(" ");
    Ok(RecordingReport {
        file: recordings::base_name(path),
        command: Some(command).filter(|command| !command.is_empty()),
        seconds: survey.seconds().map(|seconds| (seconds * 1000.0).round() / 1000.0),
        samples: survey.counts.samples(),
        events: events(file.facts(), &survey),
        machine_report: MachineReport { machine: exam.machine, advice: exam.advice, findings: exam.findings },
    })
}

/// All events but those that perf opens for itself.
fn events(facts: &RecordingFacts, survey: &RecordingSummary) -> Vec<EventFigures> {
    let pairs = facts.events.iter().zip(&survey.counts.events);
    let real = pairs.filter(|(event, counts)| !event.attr.is_dummy() || counts.samples > 0);
    let event = |(event, counts): (&perf_data::Event, &SampleCounts)| EventFigures {
        name: event.name.clone(),
        samples: counts.samples,
        loads: counts.loads,
        stores: counts.stores,
        with_address: counts.with_address,
        exact: counts.exact_ips,
    };
    real.map(event).collect()
}

/// The samples of a struct, and how many a plan needs.
#[derive(Debug, Serialize)]
pub(crate) struct StructReport {
    pub(crate) name: String,
    pub(crate) samples: u64,
    /// A lower bound, estimated from the samples at hand.
    pub(crate) needed: u64,
    pub(crate) findings: Vec<DoctorFinding>,
}

/// Attributes the recordings and examines the structs named, or those with most samples.
fn diagnose_structs(
    inputs: &RecordingInputs,
    types: &[String],
    judged: &[RecordingReport],
) -> Result<Vec<StructReport>> {
    let mut findings = judged.iter().flat_map(|judged| &judged.machine_report.findings);
    if findings.any(|finding| finding.key == "architecture") {
        return Ok(Vec::new());
    }
    let profile = recordings::attribute(inputs, |attributed| attributed.profile())?;
    let busiest = || rank_by_samples(&profile).into_iter().take(BUSIEST).map(|ty| ty.name.clone()).collect();
    let names: Vec<String> = if types.is_empty() { busiest() } else { types.to_vec() };
    let layouts = types::with_types(inputs.first_program(), None, None, |found| {
        let layouts = names.iter().map(|name| find_layout(found, Some(&profile), types::strip_keyword(name)));
        layouts.collect::<Result<Vec<_>>>()
    })?;
    let severity = if types.is_empty() { Severity::Limits } else { Severity::CannotAnswer };
    let need = |layout: &Layout| {
        let enough = count_samples(&profile, layout);
        let name = layout.name.to_string();
        let findings = struct_findings(&name, enough, severity, judged);
        StructReport { name, samples: enough.have, needed: enough.need, findings }
    };
    Ok(layouts.iter().map(need).collect())
}

fn struct_findings(
    name: &str,
    enough: SampleSufficiency,
    severity: Severity,
    judged: &[RecordingReport],
) -> Vec<DoctorFinding> {
    if !enough.is_sufficient() {
        return vec![shortage_finding(name, enough, severity, judged)];
    }
    let bias = enough.describe_bias().map(|bias| DoctorFinding {
        key: "slow-loads-only".to_owned(),
        severity,
        message: format!("struct {name}: {bias}"),
        evidence: format!(
            "{} of its {} samples are loads, {} of them by the nearest cache",
            enough.loads, enough.have, enough.near
        ),
        remedy: "record all loads".to_owned(),
        command: record_command(judged, None),
    });
    bias.into_iter().collect()
}

fn shortage_finding(
    name: &str,
    enough: SampleSufficiency,
    severity: Severity,
    judged: &[RecordingReport],
) -> DoctorFinding {
    let SampleSufficiency { have, need, .. } = enough;
    let seconds: f64 = judged.iter().filter_map(|judged| judged.seconds).sum();
    let seconds = if seconds > 0.0 { seconds } else { USUAL_SECONDS };
    let (times, more) = (need as f64 / have as f64, need.saturating_sub(have));
    let (remedy, longer) = match have {
        0 => (format!("record a load that uses struct {name}"), None),
        _ => (
            format!("{more} more would do: record {times:.1} times as long, or as much more often (-F, -c)"),
            Some((seconds * times).ceil().max(1.0) as u64),
        ),
    };
    DoctorFinding {
        key: "too-few-samples".to_owned(),
        severity,
        message: format!("struct {name}: {}", enough.describe_shortage()),
        evidence: "a plan needs two samples of each function and offset, except for rare ones".to_owned(),
        remedy,
        command: record_command(judged, longer),
    }
}

/// The command to type on the machine of the first recording.
fn record_command(judged: &[RecordingReport], seconds: Option<u64>) -> Option<String> {
    let advice = &judged.first()?.machine_report.advice;
    match seconds {
        Some(seconds) => advice.command_for(seconds),
        None => advice.command().map(str::to_owned),
    }
}
