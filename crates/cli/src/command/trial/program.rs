//! Trials of programs: built in copies of their tree, recorded by single steps.

use super::kernels::{self, TriedKernels};
use super::subjects::Subject;
use super::turns;
use crate::args::TrialArgs;
use crate::command::guest::score::machine;
use crate::input::recordings::{self, AttributedSamples, RecordingInputs};
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_layout::Layout;
use fieldline_perfdata::address::DataAddress;
use fieldline_record::{RecordLimits, RecordTarget, StepOptions};
use fieldline_trial::{
    ProgramBuild, ProgramTrial, RecordedAccess, RecordedAccesses, RecordedRun, RunFiles, TraceFigures,
    find_object, score_recorded,
};
use fieldline_typeflow::operands::target::Target;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Most samples of a recording.
const MOST_SAMPLES: u64 = 500_000;
/// Of the mean time between bursts, the pause that is taken for one: times between are drawn evenly from nothing to
/// twice the mean, and a step takes a hundredth of it at most.
const PAUSE: f64 = 0.1;
/// Enters a folder, sends what is printed to a file, and becomes another command.
const ENTER: &str = "cd \"$1\" || exit 1; exec >\"$2\" 2>&1 </dev/null; shift 2; exec \"$@\"";

/// Builds and records all programs: their layouts, the structs that are counted, and the figures of the runs.
pub(super) fn run(
    args: &TrialArgs,
    command: &str,
    subjects: &[Subject],
) -> Result<(RunFiles, TriedKernels, Vec<String>)> {
    let program = path_in_tree(args)?;
    let variants = subjects.iter().map(|subject| subject.variant.clone()).collect();
    let build = ProgramBuild { tree: args.tree.clone(), command: command.to_owned(), program };
    let trial = ProgramTrial::open(&args.output, build, variants)?;
    let programs = build_all(&trial)?;
    let recorded = args.vmlinux.as_deref().map(|path| in_tree(args, path)).filter(|path| path.is_file());
    let _stage = output::begin_stage("comparing layouts");
    let tried = kernels::compare(subjects, &programs, recorded.as_deref(), args)?;
    drop(_stage);
    let structs = tried.choose_structs(args, subjects)?;
    record_all(&trial, &tried, args, &structs)?;
    Ok((trial.run_files(), tried, structs))
}

/// A program's path, from the top of the tree or as it is.
fn in_tree(args: &TrialArgs, path: &Path) -> PathBuf {
    let inside = args.tree.join(path);
    if inside.is_file() { inside } else { path.to_owned() }
}

fn path_in_tree(args: &TrialArgs) -> Result<PathBuf> {
    let Some(path) = &args.vmlinux else { bail!("--compile needs the program's path (--program)") };
    let place = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
    let tree = place(&args.tree)?;
    if path.is_relative() && (args.tree.join(path).is_file() || !path.is_file()) {
        return Ok(path.clone());
    }
    let inside = place(path)?.strip_prefix(&tree).map(Path::to_owned);
    inside.with_context(|| format!("{}: is not in the tree {}", path.display(), args.tree.display()))
}

fn build_all(trial: &ProgramTrial) -> Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for (number, variant) in (1..).zip(&trial.variants) {
        let _stage =
            output::begin_stage(&format!("building {} ({number} of {})", variant.name, trial.variants.len()));
        let began = Instant::now();
        if trial.build(variant)? {
            output::print_note(&format!("{}: built in {} s", variant.name, began.elapsed().as_secs()));
        }
        programs.push(trial.program(variant));
    }
    Ok(programs)
}

fn record_all(
    trial: &ProgramTrial,
    tried: &TriedKernels,
    args: &TrialArgs,
    structs: &[String],
) -> Result<()> {
    let run = RecordedRun {
        command: args.command.clone(),
        burst: args.steps.burst,
        gap: args.steps.gap,
        time: args.steps.time,
        structs: structs.to_vec(),
        machine: machine(&args.score),
    };
    let pending = trial.pending(args.runs, &run)?;
    let names: Vec<&str> = trial.variants.iter().map(|variant| variant.name.as_str()).collect();
    let all = args.runs as usize * names.len();
    turns::run_pending("recording programs", (&pending, all), &names, |at| {
        let layouts = tried.layouts.get(at.1).map(Vec::as_slice).unwrap_or_default();
        let figures = record(trial, at, (&run, layouts), args.keep_traces)?;
        Ok(trial.write(at, &figures, &run)?)
    })
}

/// Records a run, and scores it.
fn record(
    trial: &ProgramTrial,
    at: (u32, usize),
    (run, layouts): (&RecordedRun, &[Layout]),
    is_kept: bool,
) -> Result<TraceFigures> {
    let variant = trial.variants.get(at.1).context("no such program")?;
    let (perf, log) = trial.recording(at)?;
    let options = StepOptions {
        burst: run.burst,
        gap: run.gap,
        every: 1,
        branches: None,
        limits: RecordLimits { time: run.time, samples: MOST_SAMPLES },
    };
    let mut taken =
        fieldline_record::record_steps(&target(&trial.copy(variant), &log, &run.command)?, &options)?;
    taken.kill();
    output::write_file(&perf, &taken.recording.to_file())?;
    let program = trial.program(variant);
    let inputs = RecordingInputs {
        programs: vec![program.clone()],
        perf: vec![perf.clone()],
        ..RecordingInputs::default()
    };
    let accesses = recordings::attribute(&inputs, |attributed| accesses(attributed, layouts, &run.structs))
        .with_context(|| format!("{} has what the load printed", log.display()))?;
    let counts = accesses.count(run.structs.len());
    for (name, _) in run.structs.iter().zip(counts).filter(|(_, count)| *count == 0) {
        let place = format!("{}, run {}", variant.name, at.0);
        output::print_note(&format!("{place}: no access to struct {name} was recorded"));
    }
    let figures = score_recorded(&accesses, &program, longest_pause(run.gap), &run.structs, &run.machine)?;
    if !is_kept {
        std::fs::remove_file(&perf).with_context(|| perf.display().to_string())?;
    }
    Ok(figures)
}

/// Nanoseconds after which a burst is over; without gaps there is one burst.
fn longest_pause(gap: Duration) -> u64 {
    if gap.is_zero() { u64::MAX } else { gap.mul_f64(PAUSE).as_nanos().try_into().unwrap_or(u64::MAX) }
}

fn target(copy: &Path, log: &Path, command: &[String]) -> Result<RecordTarget> {
    let (program, rest) = command.split_first().context("no load was given")?;
    let executable = std::env::current_exe().context("cannot find the path of fieldline itself")?;
    let mut holder: Vec<OsString> = ["sh", "-c", ENTER, "sh"].map(Into::into).to_vec();
    holder.extend([copy.into(), log.into(), executable.into_os_string()]);
    holder.extend(["record", "--hold", "--"].map(Into::into));
    let args = rest.iter().map(OsString::from).collect();
    Ok(RecordTarget::Program { holder, program: program.into(), args })
}

/// All accesses of a recording, with the objects of some structs.
fn accesses(
    attributed: &AttributedSamples<'_>,
    layouts: &[Layout],
    structs: &[String],
) -> Result<RecordedAccesses> {
    let mut by_name: HashMap<&str, &Layout> = HashMap::new();
    layouts.iter().for_each(|layout| {
        by_name.entry(layout.name.as_str()).or_insert(layout);
    });
    let mut found = RecordedAccesses::default();
    attributed.joint().for_each_sample(0, |sample, program, access| -> Result<()> {
        let address = DataAddress::to_word(sample.addr);
        let name = |ty| {
            let entry = attributed.attributions.get(program)?.answers.type_entry(ty)?;
            by_name.get(&*entry.name.name).copied()
        };
        let object = match access.target {
            Target::Exact { ty, offset } => name(ty).and_then(|layout| {
                let (begin, index) = find_object(layout, offset, structs)?;
                Some((address.wrapping_sub(offset - begin), index))
            }),
            _ => None,
        };
        found.add(&RecordedAccess {
            thread: sample.tid.unwrap_or_default(),
            time: sample.time.unwrap_or_default(),
            code: access.ip.map_or(0, |ip| ip.0),
            address,
            size: access.size,
            // Of code outside the program only the recording says what it did.
            is_store: access.is_store
                || sample.data_source.is_some_and(|source| source.operation().is_store()),
            object,
        });
        Ok(())
    })?;
    Ok(found)
}
