//! What `fieldline doctor` finds, as it is written: a machine, or recordings and the structs asked about.

use crate::args::Recordings;
use crate::input::recordings;
use crate::planning;
use anyhow::{Context, Result};
use fieldline_debuginfo::{Elf, FileBytes, types};
use fieldline_doctor::machine::Machine;
use fieldline_doctor::{self as doctor, Advice, DoctorFinding, ExaminedProgram, RecordingSurvey, Severity};
use fieldline_layout::Layout;
use fieldline_perfdata::perf_data::{self, EventTally, RecordingFacts};
use fieldline_plan::{Enough, enough};
use fieldline_profile::addresses::is_kernel;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How many structs are judged when none is named.
const BUSIEST: usize = 5;
/// Seconds to record for where nothing is known of how long was enough.
const USUAL_SECONDS: f64 = 10.0;

/// The answer, and the file of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Diagnosis {
    format: &'static str,
    version: u32,
    /// No finding says that the question can't be answered.
    pub(crate) fit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) here: Option<Looked>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recordings: Vec<Judged>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) structs: Vec<StructNeed>,
}

impl Diagnosis {
    fn new(here: Option<Looked>, recordings: Vec<Judged>, structs: Vec<StructNeed>) -> Self {
        let looked = here.iter().chain(recordings.iter().map(|judged| &judged.looked));
        let of_structs = structs.iter().flat_map(|of| &of.findings);
        let mut findings = looked.flat_map(|looked| &looked.findings).chain(of_structs);
        let fit = findings.all(|finding| finding.severity != Severity::CannotAnswer);
        Self { format: "fieldline-doctor", version: 1, fit, here, recordings, structs }
    }

    pub(crate) fn of_machine(root: &Path) -> Result<Self> {
        let machine = Machine::read(root)?;
        let advice = Advice::of(&machine);
        let findings = doctor::setup(&machine, &advice);
        Ok(Self::new(Some(Looked { machine, advice, findings }), Vec::new(), Vec::new()))
    }

    pub(crate) fn of_recordings(perf: &[PathBuf], vmlinux: Option<&Path>, types: &[String]) -> Result<Self> {
        let program = vmlinux.map(program).transpose()?;
        let judged = perf.iter().map(|path| judge(path, program.as_ref())).collect::<Result<Vec<_>>>()?;
        let of_program = |program: &Path| {
            let of = Recordings {
                programs: vec![program.to_owned()],
                debug_dir: Vec::new(),
                perf: perf.to_vec(),
                force: false,
                no_addresses: false,
            };
            needs(&of, types, &judged)
        };
        let structs = vmlinux.map_or(Ok(Vec::new()), of_program)?;
        Ok(Self::new(None, judged, structs))
    }
}

/// A machine and what to type on it.
#[derive(Debug, Serialize)]
pub(crate) struct Looked {
    pub(crate) machine: Machine,
    pub(crate) advice: Advice,
    pub(crate) findings: Vec<DoctorFinding>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Judged {
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

fn program(path: &Path) -> Result<ExaminedProgram> {
    let bytes = FileBytes::open(path)?;
    let elf = Elf::parse(&bytes)?;
    let sections = elf.text_sections();
    let text =
        sections.iter().map(|(_, address, bytes)| (*address, address.saturating_add(bytes.len() as u64)));
    Ok(ExaminedProgram { is_kernel: is_kernel(&elf), text: text.collect() })
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

/// The samples of a struct, and how many advice needs.
#[derive(Debug, Serialize)]
pub(crate) struct StructNeed {
    pub(crate) name: String,
    pub(crate) samples: u64,
    /// At least, as far as those at hand tell.
    pub(crate) needed: u64,
    pub(crate) findings: Vec<DoctorFinding>,
}

/// Attributes the recordings and judges the structs named, or the busiest.
fn needs(of: &Recordings, types: &[String], judged: &[Judged]) -> Result<Vec<StructNeed>> {
    if judged.iter().any(|judged| judged.looked.findings.iter().any(|finding| finding.key == "architecture"))
    {
        return Ok(Vec::new());
    }
    let profile = recordings::attributed(of, |attributed| attributed.profile())?;
    let busiest =
        || planning::by_samples(&profile).into_iter().take(BUSIEST).map(|of| of.name.clone()).collect();
    let names: Vec<String> = if types.is_empty() { busiest() } else { types.to_vec() };
    let layouts = types::with_types(of.first_program(), None, None, |found| {
        let layouts = names.iter().map(|name| planning::layout_of(found, Some(&profile), types::bare(name)));
        layouts.collect::<Result<Vec<_>>>()
    })?;
    let severity = if types.is_empty() { Severity::Limits } else { Severity::CannotAnswer };
    let need = |layout: &Layout| {
        let enough = enough(&profile, layout);
        let name = layout.name.to_string();
        let findings = findings(&name, enough, severity, judged);
        StructNeed { name, samples: enough.have, needed: enough.need, findings }
    };
    Ok(layouts.iter().map(need).collect())
}

fn findings(name: &str, enough: Enough, severity: Severity, judged: &[Judged]) -> Vec<DoctorFinding> {
    if !enough.is_sufficient() {
        return vec![shortage(name, enough, severity, judged)];
    }
    let bias = enough.bias().map(|bias| DoctorFinding {
        key: "slow-loads-only".to_owned(),
        severity,
        what: format!("struct {name}: {bias}"),
        why: format!(
            "{} of its {} samples are loads, {} of them by the nearest cache",
            enough.loads, enough.have, enough.near
        ),
        remedy: "record all loads".to_owned(),
        command: command(judged, None),
    });
    bias.into_iter().collect()
}

fn shortage(name: &str, enough: Enough, severity: Severity, judged: &[Judged]) -> DoctorFinding {
    let Enough { have, need, .. } = enough;
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
        what: format!("struct {name}: {}", enough.shortage()),
        why: "the planner wants two samples of each function and place, rare places aside".to_owned(),
        remedy,
        command: command(judged, longer),
    }
}

/// What to type on the machine of the first recording.
fn command(judged: &[Judged], seconds: Option<u64>) -> Option<String> {
    let advice = &judged.first()?.looked.advice;
    match seconds {
        Some(seconds) => advice.command_for(seconds),
        None => advice.command().map(str::to_owned),
    }
}
