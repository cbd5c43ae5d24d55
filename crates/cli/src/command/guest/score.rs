//! `fieldline guest score`: traces through modelled caches at their real addresses.

use crate::args::{GuestScoreArgs, ScoreArgs};
use crate::output::{self, CommandOutcome, OutputFormat};
use crate::report::trial;
use crate::series::evidence::EvidenceDocument;
use anyhow::{Context, Result, bail};
use fieldline_compare::comparison::{CompareOptions, Comparison};
use fieldline_compare::readers;
use fieldline_compare::runs::VariantRuns;
use fieldline_trial::{FigureSet, ScoredMachine, TraceFigures, TraceInput};
use std::path::{Path, PathBuf};

/// The traces of a kernel.
struct KernelTraces {
    name: String,
    traces: Vec<PathBuf>,
}

pub(super) fn run(args: &GuestScoreArgs) -> Result<CommandOutcome> {
    let kernels = kernels(args)?;
    let count = kernels.iter().map(|kernel| kernel.traces.len()).sum::<usize>();
    if !args.objects.is_empty() && args.objects.len() != count {
        bail!("--objects names {} files, but there are {count} traces", args.objects.len());
    }
    if !args.vmlinux.is_empty() && args.vmlinux.len() != kernels.len() {
        bail!("--vmlinux names {} files, but there are {} kernels", args.vmlinux.len(), kernels.len());
    }
    let mut objects = args.objects.iter();
    let mut sets = [Vec::new(), Vec::new()];
    let machine = machine(&args.score);
    for (index, kernel) in kernels.iter().enumerate() {
        let mut variants = [VariantRuns::new(&kernel.name), VariantRuns::new(&kernel.name)];
        for trace in &kernel.traces {
            let _stage = output::begin_stage(&format!("scoring {}", trace.display()));
            let beside = trace.with_extension("tsv");
            let objects = objects.next().unwrap_or(&beside);
            let input = TraceInput { trace, objects, vmlinux: args.vmlinux.get(index).map(PathBuf::as_path) };
            let figures = fieldline_trial::score(input, &args.score.structs, &machine)?;
            add(&mut variants, &figures)?;
        }
        sets.iter_mut().zip(variants).for_each(|(set, variant)| set.push(variant));
    }
    let [structs, functions] = sets;
    let structs = Comparison::new(&structs, CompareOptions::default())?;
    if args.format == OutputFormat::Json {
        return output::print_json(&EvidenceDocument::new(structs, Vec::new(), Vec::new()));
    }
    let functions = Comparison::new(&functions, CompareOptions::default()).ok();
    output::print_drawn(|out, paint| {
        trial::draw_scores(out, paint, &structs);
        if let Some(functions) = functions.filter(|_| !args.vmlinux.is_empty()) {
            trial::draw_functions(out, paint, &functions);
        }
    })
}

/// The machine that is modelled.
pub(crate) fn machine(args: &ScoreArgs) -> ScoredMachine {
    ScoredMachine { lines: args.lines.clone(), caches: args.caches.0, visit_gap: args.visit_gap }
}

/// Adds a run to the figures by struct and to those by function.
fn add(variants: &mut [VariantRuns; 2], figures: &TraceFigures) -> Result<()> {
    for (variant, set) in variants.iter_mut().zip([FigureSet::Structs, FigureSet::Functions]) {
        if !figures.values(set).is_empty() {
            variant.add(readers::read(&figures.csv(set, ""))?, "", "");
        }
    }
    Ok(())
}

fn kernels(args: &GuestScoreArgs) -> Result<Vec<KernelTraces>> {
    let mut kernels = vec![traces_of(&args.traces)?];
    for path in &args.vs {
        kernels.push(traces_of(std::slice::from_ref(path))?);
    }
    if !args.names.is_empty() && args.names.len() != kernels.len() {
        bail!("--names has {} names, but there are {} kernels", args.names.len(), kernels.len());
    }
    for (kernel, name) in kernels.iter_mut().zip(&args.names) {
        kernel.name.clone_from(name);
    }
    Ok(kernels)
}

fn traces_of(paths: &[PathBuf]) -> Result<KernelTraces> {
    let mut traces = Vec::new();
    for path in paths {
        if path.is_dir() {
            traces.extend(traces_in(path)?);
        } else {
            traces.push(path.clone());
        }
    }
    let name = paths.first().and_then(|path| path.file_stem()).unwrap_or_default();
    Ok(KernelTraces { name: name.to_string_lossy().into_owned(), traces })
}

fn traces_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let place = || folder.display().to_string();
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(place)? {
        let path = entry.with_context(place)?.path();
        if path.extension().is_some_and(|ending| ending == "trace") {
            traces.push(path);
        }
    }
    if traces.is_empty() {
        bail!("{}: no *.trace is in it", folder.display());
    }
    traces.sort();
    Ok(traces)
}
