//! What attribution, visits and false sharing reach on recordings whose truth is known.
//!
//! A recording `NAME.mem.perf.data` comes with the objects of the machine, what each instruction really touched, what
//! caches really lost, and the beginning of the full trace. The tool is given the recording alone.

mod heat;
mod objects;
mod score;
mod sharing;
mod table;
mod trace;

use crate::tools::cost::run_measured;
use crate::tools::inputs::{self, KnownTruthRecording, TARGETS};
use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result};
use fieldline_access::AccessProfile;
use fieldline_layout::constraint::{PlacementRequests, constraints};
use fieldline_plan::cost::VisitModel;
use objects::RecordedObjects;
use score::AttributionScore;
use sharing::busiest;
use std::path::Path;
use std::process::Command;
use table::{FigureBound, FigureTable};

/// Cacheline size in bytes that visits are judged at.
const LINE: u64 = 64;
const RUNS: usize = 3;
/// Least recall by code alone, in percent, of types whose instructions often touch others too: an oracle with one answer
/// for each instruction stays below 100.
const RECALL_BY_CODE: [(&str, f64); 5] =
    [("cfs_rq", 98.0), ("sched_entity", 96.0), ("rq", 86.0), ("task_struct", 95.0), ("task_group", 40.0)];

/// `cargo xtask truth [STRUCT…]`: a table for each recording with a known truth; `true` if all bounds hold.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let (fieldline, vmlinux) = (shell::fieldline()?, inputs::vmlinux()?);
    let given: Vec<&str> = args.iter().map(String::as_str).collect();
    let structs = if given.is_empty() { &TARGETS } else { &given[..] };
    let mut holds = true;
    for truth in inputs::known_truth_recordings()? {
        let judge = TruthComparison { fieldline: &fieldline, vmlinux: &vmlinux, truth: &truth, structs };
        let table = judge.table()?;
        print_line(&format!("\n{}\n{}", truth.name, table.text()));
        holds &= table.holds();
    }
    Ok(holds)
}

/// One recording and the tool to judge on it.
struct TruthComparison<'j> {
    fieldline: &'j Path,
    vmlinux: &'j Path,
    truth: &'j KnownTruthRecording,
    structs: &'j [&'j str],
}

impl TruthComparison<'_> {
    fn table(&self) -> Result<FigureTable> {
        let objects = RecordedObjects::read(&self.truth.objects)?;
        let mut table = FigureTable::default();
        self.add_scores(&mut table, &objects)?;
        let profile = self.profile()?;
        for name in self.structs {
            let busy = busiest(&profile, name).with_context(|| format!("no samples of struct {name}"))?;
            let correlation = heat::correlation(busy, name, &self.truth.instructions)?;
            table.add(
                format!("member heat, rank correlation: {name}"),
                correlation,
                FigureBound::AtLeast(0.99),
            );
        }
        for name in self.structs {
            self.add_visits(&mut table, &profile, &objects, name)?;
        }
        sharing::add(&mut table, &profile, &self.truth.coherence)?;
        self.add_time(&mut table)?;
        Ok(table)
    }

    fn command(&self, verb: &str, options: &[&str]) -> Command {
        let mut command = Command::new(self.fieldline);
        command.arg(verb).args(options).arg("--vmlinux").arg(self.vmlinux);
        command.arg("--perf").arg(&self.truth.recording);
        command
    }

    fn add_scores(&self, table: &mut FigureTable, objects: &RecordedObjects) -> Result<()> {
        let score = |options: &[&str]| -> Result<AttributionScore> {
            AttributionScore::from_rows(&shell::output(&mut self.command("samples", options))?, objects)
        };
        let (full, by_code) = (score(&[])?, score(&["--no-addresses"])?);
        for name in objects.types() {
            table.add(
                format!("recall % with addresses: {name}"),
                full.recall(name),
                FigureBound::AtLeast(99.0),
            );
        }
        for name in objects.types() {
            let bound = RECALL_BY_CODE.iter().find(|(bounded, _)| *bounded == name);
            let bound = bound.map_or(FigureBound::None, |(_, least)| FigureBound::AtLeast(*least));
            table.add(format!("recall % by code alone: {name}"), by_code.recall(name), bound);
        }
        for (score, mode) in [(&full, "with addresses"), (&by_code, "by code alone")] {
            table.add(format!("precision % {mode}"), score.precision(), FigureBound::AtLeast(99.8));
            table.add(
                format!("claims % at no listed object, {mode}"),
                score.unlisted(),
                FigureBound::AtMost(1.0),
            );
        }
        table.add(
            "samples % off the stack with some type".to_owned(),
            full.typed(),
            FigureBound::AtLeast(97.0),
        );
        Ok(())
    }

    fn profile(&self) -> Result<AccessProfile> {
        let place = std::env::temp_dir().join(format!("fieldline-truth-{}.json", std::process::id()));
        shell::output(self.command("profile", &[]).arg("--output").arg(&place))?;
        let text = std::fs::read_to_string(&place)?;
        std::fs::remove_file(&place)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Expected lines per visit of the declared layout against those of the trace.
    fn add_visits(
        &self,
        table: &mut FigureTable,
        profile: &AccessProfile,
        objects: &RecordedObjects,
        name: &str,
    ) -> Result<()> {
        let layout = busiest(profile, name).and_then(|busy| busy.layout.as_ref()).context("no layout")?;
        let constraints = constraints(layout, &PlacementRequests::default())?;
        let model = VisitModel::new(profile, layout, &constraints, LINE);
        let expected = model.lines_per_visit(LINE);
        let traced = trace::lines_per_visit(&self.truth.trace, objects.spans(name), LINE)?;
        table.add(
            format!("lines per visit: {name}"),
            expected,
            FigureBound::Near { wanted: traced, share: 0.15 },
        );
        Ok(())
    }

    fn add_time(&self, table: &mut FigureTable) -> Result<()> {
        // No caches of ours: an empty home.
        let home = std::env::temp_dir().join("fieldline-truth-home");
        std::fs::create_dir_all(&home)?;
        let (mut seconds, mut memory) = (Vec::new(), 0.0_f64);
        for _ in 0..RUNS {
            let mut command = self.command("profile", &[]);
            let cost = run_measured(command.env("HOME", &home).env("XDG_CACHE_HOME", &home))?;
            seconds.push(cost.time.as_secs_f64());
            memory = memory.max(cost.resident as f64 / 1024.0);
        }
        seconds.sort_by(f64::total_cmp);
        table.add("profile, seconds".to_owned(), seconds[RUNS / 2], FigureBound::AtMost(1.0));
        table.add("profile, MB resident".to_owned(), memory, FigureBound::AtMost(600.0));
        Ok(())
    }
}
