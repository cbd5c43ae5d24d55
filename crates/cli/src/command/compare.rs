//! `fieldline compare`: runs of benchmarks of several variants, and recordings of them.

mod callers;
mod locks;
mod members;
mod symbols;
mod variants;

use crate::args::{CompareArgs, CompareFormat, FailOn};
use crate::input::document::to_json;
use crate::input::runs::{self, ReadRuns};
use crate::output::{self, CommandOutcome};
use crate::series::evidence::EvidenceDocument;
use anyhow::{Result, bail};
use fieldline_compare::comparison::{CompareOptions, Comparison, RowVerdict};
use fieldline_compare::environment::{self, EnvironmentDifference, EnvironmentFacts};
use fieldline_compare::measurement::{BetterDirection, MetricId};
use fieldline_compare::tables;
use variants::arguments;
use wildmatch::WildMatch;

pub(crate) fn run(args: &CompareArgs) -> Result<CommandOutcome> {
    match &args.callers {
        Some(function) => callers::run(args, function),
        None if args.locks => locks::run(args),
        None if args.symbols => symbols::run(args),
        None => compare_runs(args),
    }
}

fn compare_runs(args: &CompareArgs) -> Result<CommandOutcome> {
    let files = runs::find_files(&arguments(args), &args.names, args.machines)?;
    let mut read = runs::read_runs(&files)?;
    direct(&mut read, args)?;
    let differences = check_environments(&read, args.force)?;
    let options = CompareOptions { is_paired: args.paired, margin: args.margin };
    let comparison = Comparison::new(&read.variants, options)?;
    let environments = by_variant(&read);
    let document = EvidenceDocument::new(comparison, environments, differences);
    let comparison = &document.comparison;
    let text = match args.format {
        CompareFormat::Table => tables::draw_table(comparison),
        CompareFormat::Normalised => tables::draw_normalised(comparison),
        CompareFormat::Ci => tables::draw_intervals(comparison),
        CompareFormat::Mmtests => tables::draw_mmtests(comparison),
        CompareFormat::Markdown => tables::draw_markdown(comparison),
        CompareFormat::Cover => tables::draw_cover(comparison, &document.environments),
        CompareFormat::Json => String::from_utf8(to_json(&document)?)?,
    };
    output::print(&text)?;
    let is_worse = args.fail_on == Some(FailOn::Worse) && comparison.has(RowVerdict::Worse);
    Ok(if is_worse { CommandOutcome::Negative } else { CommandOutcome::Done })
}

/// Sets the better direction of metrics that the user names.
fn direct(read: &mut ReadRuns, args: &CompareArgs) -> Result<()> {
    let named = [(&args.lower, BetterDirection::Lower), (&args.higher, BetterDirection::Higher)];
    for (names, better) in named {
        for name in names {
            let pattern = WildMatch::new(name);
            let is_meant = |metric: &MetricId| {
                let full = metric.name();
                [&metric.test, &metric.case, &metric.measure, &full].iter().any(|part| pattern.matches(part))
            };
            let mut is_found = false;
            for series in read.variants.iter_mut().flat_map(|variant| &mut variant.series) {
                if is_meant(&series.metric) {
                    series.traits.better = better;
                    is_found = true;
                }
            }
            if !is_found {
                let all = read.variants.iter().flat_map(|variant| &variant.series);
                let mut known: Vec<String> = all.map(|series| series.metric.name()).collect();
                known.dedup();
                known.truncate(12);
                bail!("no metric is named '{name}'; there are: {}", known.join(", "));
            }
        }
    }
    Ok(())
}

/// The facts of each variant, of all its machines.
fn by_variant(read: &ReadRuns) -> Vec<EnvironmentFacts> {
    let mut all = vec![EnvironmentFacts::default(); read.variants.len()];
    for facts in read.environments.values() {
        all.iter_mut().zip(facts).for_each(|(all, facts)| all.merge(facts.clone()));
    }
    all
}

/// Names differences between the variants' machines; refuses those that void the comparison unless forced.
fn check_environments(read: &ReadRuns, is_forced: bool) -> Result<Vec<EnvironmentDifference>> {
    let mut all = Vec::new();
    for (machine, facts) in &read.environments {
        let place = if machine.is_empty() { String::new() } else { format!("{machine}: ") };
        for difference in environment::differences(facts) {
            let named = read.variants.iter().zip(&difference.values);
            let values: Vec<String> =
                named.map(|(variant, value)| format!("{} {value}", variant.name)).collect();
            let text = format!("{place}{} differs: {}", difference.key.name(), values.join("; "));
            if difference.is_void && !is_forced {
                bail!("{text}; the runs can't be compared (--force does)");
            }
            output::print_note(&text);
            all.push(difference);
        }
    }
    Ok(all)
}
