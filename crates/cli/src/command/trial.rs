//! `fieldline trial`: kernels or programs without and with patches, built, run and compared.

mod kernels;
mod program;
mod results;
mod subjects;
mod turns;

use crate::args::TrialArgs;
use crate::command::guest::{guest_options, score};
use crate::output::{self, CommandOutcome, OutputFormat};
use anyhow::{Result, bail};
use fieldline_trial::{BuildOptions, KernelConfig, RunFiles, RunOptions, Trial};
use kernels::TriedKernels;
use results::TrialResults;
use std::time::Instant;
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
    let build_options = build_options(args)?;
    Trial::check(&args.tree, &guest_options(&args.guest)?)?;
    let trial = Trial::open(&args.output, build_options, args.guest.arch, variants)?;
    let kernels = build(&trial, subjects, args)?;
    let structs = kernels.choose_structs(args, subjects)?;
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
    let names: Vec<&str> = trial.variants.iter().map(|variant| variant.name.as_str()).collect();
    let all = runs as usize * names.len();
    turns::run_pending("booting kernels", (&pending, all), &names, |(number, index)| {
        Ok(trial.run(number, index, options)?)
    })
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
