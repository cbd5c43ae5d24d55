//! `fieldline record --object`: hardware breakpoints on members of objects.

use super::objects::{self, Bytes, Home, NotMapped};
use crate::args::{Cpus, RecordArgs, cpus};
use crate::output::{self, Outcome};
use anyhow::{Context, Result, bail};
use fieldline_record::{Caught, Kernel, RecordLimits, Rotation, WatchOptions, Watched};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a program and its libraries may take to be mapped after it began: it counts as begun before they are.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn run(args: &RecordArgs) -> Result<Outcome> {
    objects::check(&args.objects)?;
    let mut child = start(args)?;
    let caught = watch(args, child.as_ref());
    let left_running = match &mut child {
        Some(child) if caught.is_ok() && !args.kill => child.try_wait()?.is_none().then(|| child.id()),
        // A program that was started for nothing, or is to end, does.
        Some(child) => child.kill().and_then(|()| child.wait()).ok().and(None),
        None => None,
    };
    let caught = caught?;
    output::write_file(&args.output, &caught.recording.to_file())?;
    output::note(&summary(&args.output, &caught, left_running));
    Ok(Outcome::Done)
}

fn start(args: &RecordArgs) -> Result<Option<Child>> {
    let Some((program, rest)) = args.command.split_first() else { return Ok(None) };
    let child = Command::new(program).args(rest).spawn();
    Ok(Some(child.with_context(|| format!("cannot run {}", program.to_string_lossy()))?))
}

fn watch(args: &RecordArgs, child: Option<&Child>) -> Result<Caught> {
    let limits = RecordLimits { time: args.time, samples: args.max_samples };
    let (watched, bytes) = match &args.vmlinux {
        Some(vmlinux) => in_kernel(args, vmlinux)?,
        None => in_process(args, child)?,
    };
    let rotation = Rotation::new(&bytes.watches, limits)?;
    output::note(&forecast(&bytes, &rotation));
    let options = WatchOptions { every: args.every, stores_only: args.stores, limits };
    Ok(fieldline_record::record_watches(&watched, &rotation, &options)?)
}

fn in_process(args: &RecordArgs, child: Option<&Child>) -> Result<(Watched, Bytes)> {
    let Some(pid) = args.pid.or_else(|| child.map(Child::id)) else { bail!("no program was given") };
    let file = args.program.clone().map_or_else(|| std::fs::read_link(format!("/proc/{pid}/exe")), Ok);
    let file = file.with_context(|| format!("there is no process {pid}, or it is another user's"))?;
    let began = Instant::now();
    loop {
        let found = objects::find(&file, &args.objects, &args.member, Home::Process(pid));
        let is_early = found.as_ref().is_err_and(|error| error.downcast_ref::<NotMapped>().is_some());
        if !is_early || began.elapsed() > PATIENCE {
            return Ok((Watched::Process(pid), found?));
        }
        sleep(Duration::from_millis(10));
    }
}

fn in_kernel(args: &RecordArgs, vmlinux: &Path) -> Result<(Watched, Bytes)> {
    let cpus = args.cpu.clone().map_or_else(online, Ok)?.0;
    let running = Kernel::running().ok();
    let home = Home::Kernel { running, cpus: &cpus };
    let bytes = objects::find(vmlinux, &args.objects, &args.member, home)?;
    Ok((Watched::Kernel { cpus, text: running.map(|kernel| kernel.text) }, bytes))
}

fn online() -> Result<Cpus> {
    let path = "/sys/devices/system/cpu/online";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    cpus(&text).map_err(anyhow::Error::msg)
}

/// What it will cost.
fn forecast(bytes: &Bytes, rotation: &Rotation) -> String {
    let turns = match rotation.weight() {
        1 => "all at once".to_owned(),
        groups => format!("in {groups} groups that take turns of {} ms", rotation.slice.as_millis()),
    };
    let time = rotation.slice.as_secs_f64() * (rotation.rounds * rotation.weight()) as f64;
    format!(
        "{}: {} watches, {turns}; each access to a watched byte costs a trap of about 2 us, other accesses nothing; stops \
         after {time:.1} s",
        bytes.objects.join(", "),
        rotation.watches(),
    )
}

fn summary(path: &Path, caught: &Caught, left_running: Option<u32>) -> String {
    let mut text = format!(
        "{}: {} samples in {} rounds, {:.2} s; {}",
        path.display(),
        caught.samples,
        caught.rounds,
        caught.lasted.as_secs_f64(),
        caught.end,
    );
    if caught.lost > 0 {
        text += &format!("; {} samples were lost, keep fewer with --every", caught.lost);
    }
    if caught.paused > 0 {
        text += &format!(
            "; breakpoints were paused {} times, so what is touched most counts too little: keep fewer with --every \
             (/proc/sys/kernel/perf_event_max_sample_rate)",
            caught.paused
        );
    }
    if let Some(pid) = left_running {
        text += &format!("; process {pid} goes on");
    }
    text
}
