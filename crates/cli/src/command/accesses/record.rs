//! `fieldline record`: accesses of a running program, without a PMU.

mod objects;
mod watch;

use crate::args::RecordArgs;
use crate::output::{self, CommandOutcome};
use anyhow::{Context, Result};
use fieldline_record::{RecordLimits, RecordTarget, StepOptions, StepRecording, ThreadSteps};
use std::path::Path;
use std::time::Duration;

/// Duration of a step: 12 to 75 microseconds were measured on a virtual machine with busy CPUs; idle ones are
/// faster.
const STEP_COST: Duration = Duration::from_micros(20);
/// Instructions that a program runs in a second, in order of magnitude.
const INSTRUCTIONS_A_SECOND: f64 = 2e9;

pub(crate) fn run(args: &RecordArgs) -> Result<CommandOutcome> {
    if args.hold {
        let (program, rest) = args.command.split_first().context("no program was given")?;
        let error = fieldline_record::stop_and_exec(program, rest);
        // The parent process reads the number.
        let number = error.raw_os_error().and_then(|number| u8::try_from(number).ok());
        return Ok(CommandOutcome::ExecFailed(number.unwrap_or(1)));
    }
    output::check_writable(&args.output)?;
    if !args.objects.is_empty() {
        return watch::run(args);
    }
    let options = StepOptions {
        burst: args.steps.burst,
        gap: args.steps.gap,
        every: args.every,
        branches: args.branch_stacks,
        limits: RecordLimits { time: args.steps.time, samples: args.max_samples },
    };
    output::print_note(&forecast(&options));
    let mut taken = fieldline_record::record_steps(&target(args)?, &options)?;
    if args.kill {
        taken.kill();
    }
    output::write_file(&args.output, &taken.recording.to_file())?;
    output::print_note(&summary(&args.output, &taken));
    Ok(CommandOutcome::Done)
}

fn target(args: &RecordArgs) -> Result<RecordTarget> {
    if let Some(pid) = args.pid {
        return Ok(RecordTarget::Process(pid));
    }
    let (program, rest) = args.command.split_first().context("no program was given")?;
    let executable = std::env::current_exe().context("cannot find the path of fieldline itself")?;
    let holder = vec![executable.into_os_string(), "record".into(), "--hold".into(), "--".into()];
    Ok(RecordTarget::Program { holder, program: program.clone(), args: rest.to_vec() })
}

/// A forecast of the slowdown.
fn forecast(options: &StepOptions) -> String {
    let limits = options.limits;
    let stop = format!("stops after {} s or {} samples", limits.time.as_secs_f64(), limits.samples);
    let slowdown = STEP_COST.as_secs_f64() * INSTRUCTIONS_A_SECOND;
    if options.gap.is_zero() {
        return format!(
            "every instruction is stepped: the program runs about {slowdown:.0} times slower; {stop}"
        );
    }
    let burst = STEP_COST.as_secs_f64() * options.burst as f64;
    let gap = options.gap.as_secs_f64();
    format!(
        "bursts of {} steps take about {:.1} ms, and {:.1} ms of free running follow: the program runs about {:.1} times \
         slower; {stop}",
        options.burst,
        burst * 1e3,
        gap * 1e3,
        (burst + gap) / gap,
    )
}

/// Most threads that are named.
const MAX_NAMED_THREADS: usize = 8;

/// How often each thread was stepped, if there are several: those with most steps first, and those with none.
fn steps_by_thread(threads: &[ThreadSteps]) -> String {
    if threads.len() < 2 {
        return String::new();
    }
    let name = |thread: &ThreadSteps| format!("{}/{}", thread.name, thread.tid);
    let (mut stepped, idle): (Vec<&ThreadSteps>, Vec<&ThreadSteps>) =
        threads.iter().partition(|thread| thread.steps > 0);
    stepped.sort_by_key(|thread| (std::cmp::Reverse(thread.steps), thread.tid));
    let with_steps = |thread: &&ThreadSteps| format!("{} {}", name(thread), thread.steps);
    let mut text = format!("; steps by thread: {}", join_some(stepped.iter().map(with_steps).collect()));
    if !idle.is_empty() {
        let names = join_some(idle.into_iter().map(name).collect());
        text += &format!("; without steps, as they slept or were too short: {names}");
    }
    text
}

/// The first of some texts, and how many more there are.
fn join_some(mut texts: Vec<String>) -> String {
    let more = texts.len().saturating_sub(MAX_NAMED_THREADS);
    texts.truncate(MAX_NAMED_THREADS);
    let text = texts.join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

fn summary(path: &Path, taken: &StepRecording) -> String {
    let lasted = taken.lasted.as_secs_f64();
    let share = 100.0 * taken.burst_duration.as_secs_f64() / lasted.max(1e-9);
    let mut text = format!(
        "{}: {} samples of {} accesses; {} instructions stepped in {} bursts, of {} threads; {lasted:.2} s, {share:.0} % of \
         them in bursts; {}",
        path.display(),
        taken.samples,
        taken.accesses,
        taken.steps,
        taken.bursts,
        taken.threads.len(),
        taken.end,
    );
    text += &steps_by_thread(&taken.threads);
    if taken.allocations > 0 {
        text += &format!("; {} allocations noted", taken.allocations);
    }
    if let Some(pid) = taken.left_running {
        text += &format!("; process {pid} goes on without being traced");
    }
    text
}
