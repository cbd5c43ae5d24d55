//! Whether predictions hold: plans made from recordings, replayed on traces of other runs of the same load.

mod ranks;
mod summary;
mod trial;

use crate::tools::chosen;
use crate::tools::inputs;
use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use summary::Summary;
use trial::Truth;

/// Bootstrap replicates of a plan.
const RESAMPLES: &str = "20";
/// A trial counts only if the bounds of the change are known; fewer say little of how often they hold.
const ENOUGH_TRIALS: usize = 200;

/// A recording of a load, with its program.
struct Recording {
    /// Load and run.
    name: String,
    vmlinux: PathBuf,
    samples: PathBuf,
    /// Traces it is judged on: of the other runs of the load, or its own if there is no other.
    truths: Vec<Truth>,
}

/// `cargo xtask calibrate [--ranks] [FOLDER] [STRUCT…]`: the folder has a folder for each load, with `vmlinux` and, for
/// each run, `NAME.perf.data`, `NAME.trace` and `NAME.tsv` as `fieldline guest record` writes them. Recordings with a
/// known truth of FIELDLINE_DATA are added. `true` if intervals hold as often as they claim to.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let with_ranks = args.iter().any(|arg| arg == "--ranks");
    let mut words = args.iter().filter(|arg| *arg != "--ranks");
    let mut recordings = known_truth()?;
    if let Some(folder) = words.next() {
        recordings.extend(recordings_in(Path::new(folder))?);
    }
    ensure!(!recordings.is_empty(), "no recordings: give a folder with one for each load");
    let given: Vec<String> = words.cloned().collect();
    let structs = if given.is_empty() { chosen::attributed()? } else { given };
    let folder = shell::temporary("calibrate");
    fs::create_dir_all(&folder)?;
    let (mut summary, mut ranks) = (Summary::default(), Vec::new());
    for recording in &recordings {
        let profile = profile(recording, &folder)?;
        for name in &structs {
            let plan = folder.join("plan.json");
            let options = ["--confidence", RESAMPLES];
            if !make_plan(recording, &profile, name, &options, &plan)? {
                continue;
            }
            for truth in &recording.truths {
                for trial in trial::trials(&recording.name, name, &plan, truth)? {
                    print_line!("{trial}");
                    summary.add(trial);
                }
            }
            if with_ranks {
                ranks.extend(rank_candidates(recording, &profile, name, &plan)?);
            }
        }
    }
    fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    print_line!("\n{}", summary.text());
    if !ranks.is_empty() {
        print_line!("{}", ranks::text(&mut ranks));
    }
    Ok(summary.holds(ENOUGH_TRIALS))
}

/// The data folder's recordings. Each is judged on the beginning of its own accesses, of which one in some hundred was
/// sampled.
fn known_truth() -> Result<Vec<Recording>> {
    if inputs::data_folder().is_none() {
        return Ok(Vec::new());
    }
    let vmlinux = inputs::vmlinux()?;
    let known = inputs::known_truth_recordings()?.into_iter().map(|known| Recording {
        name: known.name,
        vmlinux: vmlinux.clone(),
        samples: known.recording,
        truths: vec![Truth { trace: known.trace, objects: known.objects }],
    });
    Ok(known.collect())
}

fn recordings_in(folder: &Path) -> Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    for load in sorted_entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        let vmlinux = load.join("vmlinux");
        if !vmlinux.exists() {
            bail!("{}: no vmlinux", load.display());
        }
        let traces = with_ending(&load, ".trace")?;
        for samples in with_ending(&load, ".perf.data")? {
            let run = stem(&samples, ".perf.data");
            let is_other = |trace: &&PathBuf| traces.len() == 1 || stem(trace, ".trace") != run;
            let truth = |trace: &PathBuf| Truth {
                trace: trace.clone(),
                objects: load.join(format!("{}.tsv", stem(trace, ".trace"))),
            };
            recordings.push(Recording {
                name: format!("{} {run}", load.file_name().unwrap_or_default().to_string_lossy()),
                vmlinux: vmlinux.clone(),
                truths: traces.iter().filter(is_other).map(truth).collect(),
                samples,
            });
        }
    }
    Ok(recordings)
}

fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn with_ending(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let is_one = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
    Ok(sorted_entries(folder)?.into_iter().filter(is_one).collect())
}

fn stem(path: &Path, ending: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(ending).unwrap_or(&name).to_owned()
}

fn profile(recording: &Recording, folder: &Path) -> Result<PathBuf> {
    let out = folder.join("profile.json");
    let mut command = Command::new(shell::fieldline()?);
    command.args(["profile", "-q", "--vmlinux"]).arg(&recording.vmlinux);
    shell::output(command.arg("--perf").arg(&recording.samples).arg("-o").arg(&out))?;
    Ok(out)
}

/// Plans a struct; `false` if no order is proposed.
fn make_plan(
    recording: &Recording,
    profile: &Path,
    name: &str,
    options: &[&str],
    plan: &Path,
) -> Result<bool> {
    let mut command = Command::new(shell::fieldline()?);
    command.args(["plan", "-q", name, "--vmlinux"]).arg(&recording.vmlinux).arg("--profile").arg(profile);
    let status = command.args(options).arg("-o").arg(plan).output()?.status;
    match status.code() {
        Some(0) => Ok(trial::proposes_an_order(plan)?),
        Some(1) => Ok(false),
        _ => bail!("{}: plan {name} failed: {status}", recording.name),
    }
}

/// The rank agreement of a struct's candidates, on each trace and for each size of lines.
fn rank_candidates(
    recording: &Recording,
    profile: &Path,
    name: &str,
    plan: &Path,
) -> Result<Vec<ranks::Agreement>> {
    let predicted = ranks::predictions(plan)?;
    let mut found = Vec::new();
    for truth in &recording.truths {
        let mut replayed = Vec::new();
        for number in 1..=predicted.len() {
            let other = plan.with_extension("candidate");
            make_plan(recording, profile, name, &["--candidate", &number.to_string()], &other)?;
            replayed.push(trial::replay(&other, truth)?);
        }
        found.extend(ranks::agreements(&predicted, &replayed));
    }
    Ok(found)
}
