//! `fieldline record --object`: hardware breakpoints on members of objects.

use super::objects::{self, NotMapped, WatchedBytes, WatchedSpace};
use crate::args::{CpuList, RecordArgs, cpus};
use crate::output::{self, CommandOutcome};
use anyhow::{Context, Result, bail};
use fieldline_record::{
    RecordLimits, RunningKernel, WatchOptions, WatchRecording, WatchRotation, WatchTarget,
};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest time to wait for a program and its libraries to be mapped.
const MAP_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn run(args: &RecordArgs) -> Result<CommandOutcome> {
    objects::check(&args.objects)?;
    let mut child = start(args)?;
    let caught = watch(args, child.as_ref());
    let left_running = match &mut child {
        Some(child) if caught.is_ok() && !args.kill => child.try_wait()?.is_none().then(|| child.id()),
        // After an error, or with --kill, the program is ended.
        Some(child) => child.kill().and_then(|()| child.wait()).ok().and(None),
        None => None,
    };
    let caught = caught?;
    output::write_file(&args.output, &caught.recording.to_file())?;
    output::print_note(&summary(&args.output, &caught, left_running));
    Ok(CommandOutcome::Done)
}

fn start(args: &RecordArgs) -> Result<Option<Child>> {
    let Some((program, rest)) = args.command.split_first() else { return Ok(None) };
    let child = Command::new(program).args(rest).spawn();
    Ok(Some(child.with_context(|| format!("cannot run {}", program.to_string_lossy()))?))
}

fn watch(args: &RecordArgs, child: Option<&Child>) -> Result<WatchRecording> {
    let limits = RecordLimits { time: args.steps.time, samples: args.max_samples };
    let (watched, bytes) = match &args.vmlinux {
        Some(vmlinux) if args.kernel => in_kernel(args, vmlinux)?,
        _ => in_process(args, child)?,
    };
    let rotation = WatchRotation::new(&bytes.watches, limits)?;
    output::print_note(&forecast(&bytes, &rotation));
    let options = WatchOptions { every: args.every, stores_only: args.stores, limits };
    Ok(fieldline_record::record_watches(&watched, &rotation, &options)?)
}

fn in_process(args: &RecordArgs, child: Option<&Child>) -> Result<(WatchTarget, WatchedBytes)> {
    let Some(pid) = args.pid.or_else(|| child.map(Child::id)) else { bail!("no program was given") };
    let file = args.vmlinux.clone().map_or_else(|| std::fs::read_link(format!("/proc/{pid}/exe")), Ok);
    let file = file.with_context(|| format!("there is no process {pid}, or it is another user's"))?;
    let began = Instant::now();
    loop {
        let found = objects::find(&file, &args.objects, &args.members, WatchedSpace::Process(pid));
        let is_early = found.as_ref().is_err_and(|error| error.downcast_ref::<NotMapped>().is_some());
        if !is_early || began.elapsed() > MAP_TIMEOUT {
            return Ok((WatchTarget::Process(pid), found?));
        }
        sleep(Duration::from_millis(10));
    }
}

fn in_kernel(args: &RecordArgs, vmlinux: &Path) -> Result<(WatchTarget, WatchedBytes)> {
    let cpus = args.cpu.clone().map_or_else(online, Ok)?.0;
    let running = RunningKernel::running().ok();
    let space = WatchedSpace::Kernel { running, cpus: &cpus };
    let bytes = objects::find(vmlinux, &args.objects, &args.members, space)?;
    Ok((WatchTarget::Kernel { cpus, text: running.map(|kernel| kernel.text) }, bytes))
}

fn online() -> Result<CpuList> {
    let path = "/sys/devices/system/cpu/online";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    cpus(&text).map_err(anyhow::Error::msg)
}

/// A forecast of the cost.
fn forecast(bytes: &WatchedBytes, rotation: &WatchRotation) -> String {
    let schedule = match rotation.weight() {
        1 => "all at once".to_owned(),
        groups => format!("in {groups} groups, each for {} ms in turn", rotation.slice.as_millis()),
    };
    let time = rotation.slice.as_secs_f64() * (rotation.rounds * rotation.weight()) as f64;
    format!(
        "{}: {} watches, {schedule}; each access to a watched byte costs a debug exception of about 2 us, other accesses nothing; stops \
         after {time:.1} s",
        bytes.objects.join(", "),
        rotation.watches(),
    )
}

fn summary(path: &Path, caught: &WatchRecording, left_running: Option<u32>) -> String {
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
            "; breakpoints were paused {} times, so hot members are undercounted: keep fewer with --every \
             (/proc/sys/kernel/perf_event_max_sample_rate)",
            caught.paused
        );
    }
    if let Some(pid) = left_running {
        text += &format!("; process {pid} goes on");
    }
    text
}
