//! `fieldline bench cgroup-tree`: runs until all files are there.

use crate::args::CgroupTreeArgs;
use crate::input::code::cache_folder;
use crate::output::{self, CommandOutcome};
use anyhow::{Context, Result, bail};
use fieldline_bench::{
    Bench, BenchOptions, GroupFolder, Interrupt, RunFigures, TreeShape, machine_facts, remove_stale,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The load if none is named.
const USUAL_LOAD: &str = "messages";
/// The file with facts on the machine.
const ENVIRONMENT: &str = "environment.txt";

pub(super) fn run(args: &CgroupTreeArgs) -> Result<CommandOutcome> {
    let folder = GroupFolder::find(args.parent.as_deref())?;
    let interrupt = Interrupt::new().context("signals")?;
    remove_stale(&folder)?.iter().for_each(|note| output::print_note(note));
    let Some(out) = &args.output else { return Ok(CommandOutcome::Done) };
    let bench = Bench::prepare(options(args)?, folder)?;
    let files = RunFiles { out, lock_stat: args.lock_stat.as_deref(), setup: setup(args, &bench) };
    files.make_folders()?;
    let missing = files.missing(args.runs)?;
    bench.notes().iter().for_each(|note| output::print_note(note));
    for number in missing {
        let figures = bench.run(&interrupt)?;
        files.write(number, &figures)?;
        print_run(number, args.runs, &figures)?;
    }
    output::print_done(&format!("{}: {} runs; fieldline compare {0} --vs OTHER\n", out.display(), args.runs))
}

fn options(args: &CgroupTreeArgs) -> Result<BenchOptions> {
    let cache = cache_folder("guest")
        .context("neither XDG_CACHE_HOME nor HOME says where to keep compiled programs")?;
    let load = match &args.load {
        Some(words) => words.0.clone(),
        None if !args.command.is_empty() => {
            ["run".to_owned()].into_iter().chain(args.command.clone()).collect()
        }
        None => vec![USUAL_LOAD.to_owned()],
    };
    Ok(BenchOptions {
        shape: TreeShape { depth: args.depth, width: args.width },
        quota: Some(args.quota).filter(|percent| *percent > 0),
        period: args.quota_period * 1000,
        settle: Duration::from_secs(args.settle),
        time: Duration::from_secs(args.seconds),
        load,
        program: fieldline_guest::bench_program(&cache)?,
        parent: args.parent.clone(),
        reads_lock_stat: args.lock_stat.is_some(),
    })
}

/// The lines at the head of each file: runs with other ones don't belong together.
fn setup(args: &CgroupTreeArgs, bench: &Bench) -> String {
    let quota = match bench.bandwidth() {
        Some(leaf) => format!(
            "{} % of {} CPUs, {} us of each {} us for a leaf",
            args.quota,
            bench.cpus(),
            leaf.quota,
            leaf.period
        ),
        None => "none".to_owned(),
    };
    let (case, seconds, settle) = (bench.case(), args.seconds, args.settle);
    format!("fieldline bench cgroup-tree: {case}; quota {quota}; {seconds} s measured after {settle} s")
}

/// The files of all runs.
struct RunFiles<'a> {
    out: &'a Path,
    lock_stat: Option<&'a Path>,
    setup: String,
}

impl RunFiles<'_> {
    fn make_folders(&self) -> Result<()> {
        output::make_folder(self.out)?;
        self.lock_stat.map_or(Ok(()), output::make_folder)?;
        output::check_writable(&self.path(1))
    }

    fn path(&self, number: u32) -> PathBuf {
        self.out.join(format!("run-{number:03}.csv"))
    }

    /// Runs that are not there yet. Refuses those of another setup, or of another kernel.
    fn missing(&self, runs: u32) -> Result<Vec<u32>> {
        let mut missing = Vec::new();
        for number in 1..=runs {
            let path = self.path(number);
            match fs::read_to_string(&path) {
                Ok(text) => self.check(&path, &text)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing.push(number),
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        }
        if missing.len() < runs as usize {
            self.check_machine()?;
            output::print_note(&format!(
                "{} of {runs} runs are there already",
                runs as usize - missing.len()
            ));
        }
        Ok(missing)
    }

    fn check(&self, path: &Path, text: &str) -> Result<()> {
        let found = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        if found != self.setup {
            let place = path.display();
            bail!("{place}: a run of another benchmark\nthere: {found}\nnow:   {}", self.setup);
        }
        Ok(())
    }

    fn check_machine(&self) -> Result<()> {
        let path = self.out.join(ENVIRONMENT);
        let (found, now) =
            (fs::read_to_string(&path).with_context(|| path.display().to_string())?, machine_facts());
        let differs = found.lines().find(|line| !now.lines().any(|other| other == *line));
        if let Some(line) = differs {
            bail!(
                "{}: its runs were made where '{line}' held, which doesn't here: name another folder",
                path.display()
            );
        }
        Ok(())
    }

    fn write(&self, number: u32, figures: &RunFigures) -> Result<()> {
        let mut files = vec![
            (self.out.join(ENVIRONMENT), machine_facts()),
            (self.path(number), figures.csv(&self.setup)),
        ];
        if let Some((folder, text)) = self.lock_stat.zip(figures.lock_stat.clone()) {
            files.push((folder.join(format!("run-{number:03}.txt")), text));
        }
        output::write_files(&files)
    }
}

/// Values that a line about a run has, with their digits behind the point.
const SHOWN: [(&str, usize); 5] =
    [("LLC-load-misses:k", 0), ("usage", 1), ("throttled periods", 0), ("wakeup p99", 0), ("request p99", 0)];

fn print_run(number: u32, runs: u32, figures: &RunFigures) -> Result<()> {
    let shown = SHOWN.iter().filter_map(|(name, digits)| {
        let figure = figures.figures.iter().find(|figure| figure.measure == *name)?;
        Some(format!("{name} {:.digits$} {}", figure.value, figure.unit).trim_end().to_owned())
    });
    let shown: Vec<String> = shown.collect();
    output::print_done(&format!("run {number} of {runs}: {}\n", shown.join(", ")))?;
    figures.notes.iter().for_each(|note| output::print_note(note));
    Ok(())
}
