//! `fieldline trial`: kernels or programs without and with patches, built, run and compared.

mod kernels;
mod program;
mod results;
mod subjects;

use crate::args::TrialArgs;
use crate::command::guest::{guest_options, score};
use crate::output::{self, CommandOutcome, OutputFormat};
use anyhow::{Context, Result, bail};
use fieldline_trial::{BuildOptions, KernelConfig, RunFiles, RunOptions, Trial};
use kernels::TriedKernels;
use results::TrialResults;
use std::time::{Duration, Instant};
use subjects::Subject;

pub(crate) fn run(args: &TrialArgs) -> Result<CommandOutcome> {
    let subjects = subjects::read(args)?;
    let (runs, tried, structs) = match &args.compile {
        Some(command) => program::run(args, command, &subjects)?,
        None => run_kernels(args, &subjects)?,
    };
    let results = TrialResults::read(&runs, &subjects, tried, args.compile.is_some())?;
    results.check_counted(&structs)?;
    results.write_evidence(&args.output)?;
    if let Some(path) = &args.html {
        results.write_page(path, &structs, &args.score.lines)?;
    }
    match args.format {
        OutputFormat::Json => output::print_json(&results.document())?,
        OutputFormat::Text => output::print_drawn(|out, paint| results.draw(out, paint))?,
    };
    Ok(if results.is_as_predicted() { CommandOutcome::Done } else { CommandOutcome::Negative })
}

/// Builds and boots all kernels: their layouts, the structs that are counted, and the figures of the runs.
fn run_kernels(args: &TrialArgs, subjects: &[Subject]) -> Result<(RunFiles, TriedKernels, Vec<String>)> {
    let variants = subjects.iter().map(|subject| subject.variant.clone()).collect();
    let trial = Trial::open(&args.output, build_options(args)?, args.guest.arch, variants)?;
    let kernels = build(&trial, subjects, args)?;
    let structs = structs(args, subjects, &kernels)?;
    boot(&trial, &run_options(args, &structs)?, args.runs)?;
    if args.prove_build {
        prove_build(&trial)?;
    }
    Ok((trial.run_files(), kernels, structs))
}

fn build_options(args: &TrialArgs) -> Result<BuildOptions> {
    let config = match (&args.build, &args.kconfig) {
        (Some(folder), _) => KernelConfig::of_build(folder)?,
        (None, Some(path)) => KernelConfig::File(path.clone()),
        (None, None) if args.guest.arch != fieldline_guest::GuestArchitecture::X86_64 => {
            bail!("the small kernel is for x86_64: name a configuration (--kconfig) or a build (--build)")
        }
        (None, None) => KernelConfig::Small(args.option.iter().map(|line| format!("{line}\n")).collect()),
    };
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(BuildOptions { tree: args.tree.clone(), config, arguments: args.make_arguments.clone(), jobs })
}

/// Builds all kernels, and compares their layouts with the first one's and with the plans.
fn build(trial: &Trial, subjects: &[Subject], args: &TrialArgs) -> Result<TriedKernels> {
    let mut built = Vec::new();
    for (number, variant) in (1..).zip(&trial.variants) {
        let _stage =
            output::begin_stage(&format!("building {} ({number} of {})", variant.name, trial.variants.len()));
        let began = Instant::now();
        let outcome = trial.build(variant)?;
        if let Some(compiled) = outcome.compiled {
            let seconds = began.elapsed().as_secs();
            output::print_note(&format!(
                "{}: built in {seconds} s, {compiled} objects compiled",
                variant.name
            ));
        }
        built.push(outcome.kernel.vmlinux);
    }
    let _stage = output::begin_stage("comparing layouts");
    kernels::compare(subjects, &built, args.vmlinux.as_deref(), args)
}

/// The structs that are counted one by one: those named, else those of the plans, else those that patches reorder.
fn structs(args: &TrialArgs, subjects: &[Subject], kernels: &TriedKernels) -> Result<Vec<String>> {
    let named = args.score.structs.iter().cloned();
    let planned = subjects.iter().filter_map(|subject| subject.plan.as_ref()).flat_map(|plan| {
        plan.structs.iter().filter(|planned| planned.changes()).map(|planned| planned.name.clone())
    });
    let reordered = || kernels.changes.iter().flat_map(|changes| changes.reordered.iter().cloned());
    let mut structs: Vec<String> = named.collect();
    if structs.is_empty() {
        structs.extend(planned);
    }
    if structs.is_empty() {
        structs.extend(reordered());
    }
    structs.sort();
    structs.dedup();
    if structs.is_empty() {
        bail!("no struct is in another order than in the first: name the structs to count (--structs)");
    }
    kernels.check_structs(&structs)?;
    Ok(structs)
}

fn run_options(args: &TrialArgs, structs: &[String]) -> Result<RunOptions> {
    let mut guest = guest_options(&args.guest)?;
    let chosen = &mut guest.selection;
    if chosen.types.is_empty() && chosen.units.is_empty() && chosen.symbols.is_empty() {
        chosen.types = structs.to_vec();
    }
    Ok(RunOptions {
        guest,
        structs: structs.to_vec(),
        machine: score::machine(&args.score),
        keeps_traces: args.keep_traces,
    })
}

/// Boots the kernels in turns, as often as is left to do.
fn boot(trial: &Trial, options: &RunOptions, runs: u32) -> Result<()> {
    let pending = trial.pending(runs, options)?;
    let all = runs as usize * trial.variants.len();
    if pending.len() < all {
        output::print_note(&format!("{} of {all} runs are there already", all - pending.len()));
    }
    let stage = output::begin_stage("booting kernels");
    let began = Instant::now();
    for (done, (number, index)) in pending.iter().enumerate() {
        stage.set(done as u64, pending.len() as u64);
        let name = trial.variants.get(*index).map_or("", |variant| variant.name.as_str());
        trial.run(*number, *index, options).with_context(|| format!("{name}, run {number}"))?;
        let left = left(began.elapsed(), done + 1, pending.len());
        output::print_progress(&format!(
            "{name}, run {number}: {} of {} runs, {left} left",
            done + 1,
            pending.len()
        ));
    }
    Ok(())
}

/// The time that the rest takes, if it goes on as before.
fn left(spent: Duration, done: usize, all: usize) -> String {
    let seconds = spent.as_secs_f64() / done.max(1) as f64 * all.saturating_sub(done) as f64;
    format!("{} min", (seconds / 60.0).ceil())
}

fn prove_build(trial: &Trial) -> Result<()> {
    let Some(last) = trial.variants.last() else { return Ok(()) };
    let _stage = output::begin_stage(&format!("building {} from nothing", last.name));
    match trial.prove_build(last)? {
        None => output::print_note(&format!("{}: built from nothing, code and data are the same", last.name)),
        Some(section) => bail!(
            "{}: built from nothing, {section} differs: its build misses what depends on a changed file",
            last.name
        ),
    }
    Ok(())
}
