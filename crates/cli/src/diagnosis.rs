//! What `fieldline doctor` finds, as it is written: a machine, or recordings and the structs asked about.

mod judged;
mod structs;

use crate::args::Recordings;
use anyhow::Result;
use fieldline_doctor::machine::Machine;
use fieldline_doctor::{self as doctor, Advice, Severity};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) here: Option<Looked>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recordings: Vec<Judged>,
    /// The structs asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) structs: Vec<StructNeed>,
}

impl Diagnosis {
    fn new(here: Option<Looked>, recordings: Vec<Judged>, structs: Vec<StructNeed>) -> Self {
        let looked = here.iter().chain(recordings.iter().map(|judged| &judged.looked));
        let of_structs = structs.iter().flat_map(|of| &of.findings);
        let mut findings = looked.flat_map(|looked| &looked.findings).chain(of_structs);
        let fit = findings.all(|finding| finding.severity != Severity::CannotAnswer);
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
        let judged = perf.iter().map(|path| judge(path, program.as_ref())).collect::<Result<Vec<_>>>()?;
        let needs = |program: &Path| {
            let of = Recordings {
                programs: vec![program.to_owned()],
                debug_dir: Vec::new(),
                perf: perf.to_vec(),
                force: false,
                no_addresses: false,
            };
            structs::needs(&of, types, &judged)
        };
        let structs = vmlinux.map_or(Ok(Vec::new()), needs)?;
        Ok(Self::new(None, judged, structs))
    }
}
