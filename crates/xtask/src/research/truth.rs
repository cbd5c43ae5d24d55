//! Accuracy of attribution, visits and false sharing on recordings with a known truth.
//!
//! A recording `NAME.mem.perf.data` comes with the objects of the machine, the accesses of each instruction, the losses
//! of caches, and the beginning of the full trace. The tool reads the recording alone.

mod heat;
mod objects;
mod score;
mod sharing;
mod table;
mod trace;

use crate::tools::chosen::{self, Purpose};
use crate::tools::cost::run_uncached;
use crate::tools::inputs::{self, KnownTruthRecording};
use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result};
use fieldline_access::AccessProfile;
use fieldline_layout::constraint::{PlacementRequests, constraints};
use fieldline_plan::cost::VisitModel;
use objects::{Objects, Span};
use score::Score;
use sharing::busiest;
use std::path::Path;
use std::process::Command;
use table::Bound::{self, AtLeast, AtMost, Near};
use table::Table;

/// Cacheline size in bytes that visits are judged at.
const LINE: u64 = 64;
const RUNS: usize = 3;

/// `cargo xtask truth [STRUCT…]`: a table for each recording with a known truth; `true` if all bounds hold.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let (fieldline, vmlinux) = (shell::fieldline()?, inputs::vmlinux()?);
    let planned = chosen::structs(Purpose::Planned)?;
    let given = if args.is_empty() { &planned } else { args };
    let structs: Vec<&str> = given.iter().map(String::as_str).collect();
    let mut holds = true;
    for truth in inputs::known_truth_recordings()? {
        let comparison =
            Comparison { fieldline: &fieldline, vmlinux: &vmlinux, truth: &truth, structs: &structs };
        let table = comparison.table()?;
        print_line!("\n{}\n{}", truth.name, table.text());
        holds &= table.holds();
    }
    Ok(holds)
}

/// A recording with its truth, and the tool that is scored.
struct Comparison<'c> {
    fieldline: &'c Path,
    vmlinux: &'c Path,
    truth: &'c KnownTruthRecording,
    structs: &'c [&'c str],
}

impl Comparison<'_> {
    fn table(&self) -> Result<Table> {
        let objects = Objects::read(&self.truth.objects)?;
        let mut table = Table::default();
        self.add_scores(&mut table, &objects)?;
        let profile = self.profile()?;
        for name in self.structs {
            let busy = busiest(&profile, name).with_context(|| format!("no samples of struct {name}"))?;
            let correlation = heat::correlation(busy, name, &self.truth.instructions)?;
            table.add(format!("member heat, rank correlation: {name}"), correlation, AtLeast(0.99));
        }
        for name in self.structs {
            let (expected, traced) = self.lines_per_visit(&profile, objects.spans(name), name)?;
            table.add(format!("lines per visit: {name}"), expected, Near(traced, 0.15));
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

    fn add_scores(&self, table: &mut Table, objects: &Objects) -> Result<()> {
        let score = |options: &[&str]| -> Result<Score> {
            Score::from_rows(&shell::output(&mut self.command("samples", options))?, objects)
        };
        let (full, by_code) = (score(&[])?, score(&["--no-addresses"])?);
        for name in objects.types() {
            table.add(format!("recall % with addresses: {name}"), full.recall(name), AtLeast(99.0));
        }
        for name in objects.types() {
            let bound = chosen::recall_by_code(name)?.map_or(Bound::None, AtLeast);
            table.add(format!("recall % by code alone: {name}"), by_code.recall(name), bound);
        }
        for (score, mode) in [(&full, "with addresses"), (&by_code, "by code alone")] {
            table.add(format!("precision % {mode}"), score.precision(), AtLeast(99.8));
            table.add(format!("claims % at no listed object, {mode}"), score.unlisted(), AtMost(1.0));
        }
        table.add("samples % off the stack with some type", full.typed(), AtLeast(97.0));
        Ok(())
    }

    fn profile(&self) -> Result<AccessProfile> {
        let file = shell::temporary("truth.json");
        shell::output(self.command("profile", &[]).arg("--output").arg(&file))?;
        let text = std::fs::read_to_string(&file)?;
        std::fs::remove_file(&file)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Cachelines per visit of the declared layout, by the model and by the trace.
    fn lines_per_visit(&self, profile: &AccessProfile, spans: &[Span], name: &str) -> Result<(f64, f64)> {
        let layout = busiest(profile, name).and_then(|busy| busy.layout.as_ref()).context("no layout")?;
        let constraints = constraints(layout, &PlacementRequests::default())?;
        let model = VisitModel::new(profile, layout, &constraints, LINE);
        Ok((model.lines_per_visit(LINE), trace::lines_per_visit(&self.truth.trace, spans, LINE)?))
    }

    fn add_time(&self, table: &mut Table) -> Result<()> {
        let (mut seconds, mut memory) = (Vec::new(), 0.0_f64);
        for _ in 0..RUNS {
            let cost = run_uncached(&mut self.command("profile", &[]))?;
            seconds.push(cost.time.as_secs_f64());
            memory = memory.max(cost.resident as f64 / 1024.0);
        }
        seconds.sort_by(f64::total_cmp);
        table.add("profile, seconds", seconds[RUNS / 2], AtMost(1.0));
        table.add("profile, MB resident", memory, AtMost(600.0));
        Ok(())
    }
}
