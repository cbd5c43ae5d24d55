//! Results of a trial: what the runs say, and what the plans had said.

use super::kernels::TriedKernels;
use super::subjects::Subject;
use crate::input::document::to_json;
use crate::input::runs;
use crate::output;
use crate::page::{ComparedStruct, compared};
use crate::report::color::Palette;
use crate::report::trial::{self, ForecastRow, KernelText, TrialText};
use crate::series::evidence::EvidenceDocument;
use anyhow::{Result, bail};
use fieldline_check::TypeChange;
use fieldline_compare::comparison::{CompareOptions, Comparison};
use fieldline_layout::Layout;
use fieldline_plan::{Plan, StructPlan};
use fieldline_trial::{FigureSet, RunFiles};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The name and version of the document.
const FORMAT: &str = "fieldline-trial";
const VERSION: u32 = 1;
/// The file that `--evidence` reads.
const EVIDENCE: &str = "comparison.json";

/// All results.
pub(super) struct TrialResults {
    text: TrialText,
    kernels: TriedKernels,
}

/// The document that `--format json` prints.
#[derive(Serialize)]
pub(super) struct TrialDocument<'r> {
    format: &'static str,
    version: u32,
    kernels: &'r [KernelText],
    structs: &'r Comparison,
    functions: &'r Comparison,
    half_caches: &'r Comparison,
    double_caches: &'r Comparison,
    forecasts: &'r [ForecastRow],
}

impl TrialResults {
    /// Reads all runs.
    pub(super) fn read(
        run_files: &RunFiles,
        subjects: &[Subject],
        kernels: TriedKernels,
        is_program: bool,
    ) -> Result<Self> {
        let names: Vec<String> = subjects.iter().map(|subject| subject.variant.name.clone()).collect();
        let compare = |set: FigureSet| -> Result<Comparison> {
            let folders = run_files.folders(set);
            let folders: Vec<&[PathBuf]> = folders.iter().map(std::slice::from_ref).collect();
            let read = runs::read_runs(&runs::find_files(&folders, &names, false)?)?;
            Ok(Comparison::new(&read.variants, CompareOptions::default())?)
        };
        let structs = compare(FigureSet::Structs)?;
        let forecasts = forecasts(subjects, &structs);
        let changed = kernels.changes.iter().zip(&kernels.mismatches);
        let texts = subjects.iter().skip(1).zip(changed).map(|(subject, (changes, mismatches))| KernelText {
            name: subject.variant.name.clone(),
            reordered: changes.reordered.clone(),
            holders: changes.holders.clone(),
            others: changes.others.clone(),
            is_planned: subject.plan.is_some(),
            mismatches: mismatches.clone(),
        });
        let text = TrialText {
            is_program,
            kernels: texts.collect(),
            structs,
            functions: compare(FigureSet::Functions)?,
            half_caches: compare(FigureSet::HalfCaches)?,
            double_caches: compare(FigureSet::DoubleCaches)?,
            forecasts,
        };
        Ok(Self { text, kernels })
    }

    /// Fails for a struct that no run has an access to.
    pub(super) fn check_counted(&self, structs: &[String]) -> Result<()> {
        let is_counted = |name: &String| self.text.structs.rows.iter().any(|row| row.metric.test == *name);
        match structs.iter().find(|name| !is_counted(name)) {
            Some(name) if self.text.is_program => bail!(
                "no run has an access to struct {name}: let the load run longer (--for), or step more of it (--gap)"
            ),
            Some(name) => bail!("no run has an access to struct {name}: choose another load, or more code"),
            None => Ok(()),
        }
    }

    /// Whether each kernel has the layouts of its plan.
    pub(super) fn is_as_predicted(&self) -> bool {
        self.text.kernels.iter().all(|kernel| kernel.mismatches.is_empty())
    }

    /// Writes what `--evidence` and `compare` read.
    pub(super) fn write_evidence(&self, folder: &Path) -> Result<()> {
        let document = EvidenceDocument::new(self.text.structs.clone(), Vec::new(), Vec::new());
        output::write_file(&folder.join(EVIDENCE), &to_json(&document)?)
    }

    /// Writes a page with the structs as declared and in the first patched kernel.
    pub(super) fn write_page(&self, path: &Path, structs: &[String], lines: &[u64]) -> Result<()> {
        let mut text = String::new();
        trial::draw(&mut text, Palette::new(false), &self.text);
        let find = |kernel: usize, name: &str| -> Option<&Layout> {
            self.kernels.layouts.get(kernel)?.iter().find(|layout| layout.name == name)
        };
        let pairs: Vec<(&Layout, &Layout, Option<TypeChange>)> = structs
            .iter()
            .filter_map(|name| find(0, name).zip(find(1, name)))
            .map(|(before, now)| (before, now, TypeChange::between(before, now, lines)))
            .collect();
        let shown = pairs.iter().map(|(before, now, change)| ComparedStruct {
            before: Some(before),
            now,
            suffix: String::new(),
            line: lines.first().copied().unwrap_or(64),
            accesses: None,
            verdict: format!("{} bytes, {} in {}.", before.size, now.size, self.first_name()),
            remarks: Vec::new(),
            change: change.as_ref(),
        });
        let shown: Vec<ComparedStruct<'_>> = shown.collect();
        let subtitle = format!("base and {}, built and run", self.first_name());
        let page = compared(&subtitle, &shown, (lines, Vec::new())).with_measured(text);
        output::write_file(path, page.html()?.as_bytes())
    }

    fn first_name(&self) -> &str {
        self.text.kernels.first().map_or("", |kernel| kernel.name.as_str())
    }

    pub(super) fn draw(&self, out: &mut String, paint: Palette) {
        trial::draw(out, paint, &self.text);
    }

    pub(super) fn document(&self) -> TrialDocument<'_> {
        let TrialText { kernels, structs, functions, half_caches, double_caches, forecasts, .. } = &self.text;
        TrialDocument {
            format: FORMAT,
            version: VERSION,
            kernels,
            structs,
            functions,
            half_caches,
            double_caches,
            forecasts,
        }
    }
}

/// Lines per visit as the plans forecast them, beside what was found.
fn forecasts(subjects: &[Subject], found: &Comparison) -> Vec<ForecastRow> {
    let mut rows = Vec::new();
    for (index, subject) in subjects.iter().enumerate().skip(1) {
        let Some(plan) = &subject.plan else { continue };
        for planned in plan.structs.iter().filter(|planned| planned.changes()) {
            rows.extend(forecasts_of(plan, planned, (index, &subject.variant.name), found));
        }
    }
    rows
}

fn forecasts_of(
    plan: &Plan,
    planned: &StructPlan,
    (variant, name): (usize, &str),
    found: &Comparison,
) -> Vec<ForecastRow> {
    let is_lines = |measure: &str| measure == "lines per visit";
    let rows =
        found.rows.iter().filter(|row| row.metric.test == planned.name && is_lines(&row.metric.measure));
    let with_forecast = rows.filter_map(|row| {
        let line: u64 = row.metric.case.strip_suffix(" B")?.parse().ok()?;
        let change = row.changes.get(variant.checked_sub(1)?)?.as_ref()?;
        let validated =
            planned.confidence.as_ref().map(|known| known.cross_validation.as_slice()).unwrap_or_default();
        // The kernel was built for the plan's line size, whatever size is counted by.
        let by_line = validated.iter().filter(|row| row.line == line);
        let forecast = by_line.min_by_key(|row| row.build_line != plan.build_line)?;
        Some(ForecastRow {
            kernel: name.to_owned(),
            name: planned.name.clone(),
            line,
            forecast: forecast.interval.into(),
            found: change.percent?,
            found_interval: change.interval,
        })
    });
    with_forecast.collect()
}
