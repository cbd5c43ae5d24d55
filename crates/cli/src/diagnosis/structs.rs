//! Whether the structs asked about have enough samples, by the rule of the planner.

use super::judged::Judged;
use crate::args::Recordings;
use crate::input::recordings;
use crate::planning;
use anyhow::Result;
use fieldline_debuginfo::types;
use fieldline_doctor::{DoctorFinding, Severity};
use fieldline_layout::Layout;
use fieldline_plan::{Enough, enough};
use serde::Serialize;

/// How many structs are judged when none is named.
const BUSIEST: usize = 5;
/// Seconds to record for where nothing is known of how long was enough.
const USUAL_SECONDS: f64 = 10.0;

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
pub(super) fn needs(of: &Recordings, types: &[String], judged: &[Judged]) -> Result<Vec<StructNeed>> {
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
