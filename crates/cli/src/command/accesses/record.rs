//! `fieldline record`: accesses of a running program, without a PMU.

mod objects;
mod watch;

use crate::args::RecordArgs;
use crate::output::{self, Outcome};
use anyhow::{Context, Result};
use fieldline_record::{RecordLimits, RecordTarget, StepOptions, Taken};
use std::path::Path;
use std::time::Duration;

/// What a step costs: 12 to 75 microseconds were measured on a virtual machine whose CPUs were busy with other things, and
/// idle ones are faster.
const STEP: Duration = Duration::from_micros(20);
/// Instructions that a program runs in a second, in order of magnitude.
const INSTRUCTIONS_A_SECOND: f64 = 2e9;

pub(crate) fn run(args: &RecordArgs) -> Result<Outcome> {
    if args.hold {
        let (program, rest) = args
            .command
            .split_first()
            .map_or(("".as_ref(), &[][..]), |(first, rest)| (first.as_os_str(), rest));
        let error = fieldline_record::hold(program, rest);
        // Who started this reads the number.
        let number = error.raw_os_error().and_then(|number| u8::try_from(number).ok());
        return Ok(Outcome::Held(number.unwrap_or(1)));
    }
    output::check_place(&args.output)?;
    if !args.objects.is_empty() {
        return watch::run(args);
    }
    let options = StepOptions {
        burst: args.burst,
        gap: args.gap,
        every: args.every,
        branches: args.branch_stacks,
        limits: RecordLimits { time: args.time, samples: args.max_samples },
    };
    output::note(&forecast(&options));
    let mut taken = fieldline_record::record_steps(&target(args)?, &options)?;
    if args.kill {
        taken.kill();
    }
    output::write_file(&args.output, &taken.recording.to_file())?;
    output::note(&summary(&args.output, &taken));
    Ok(Outcome::Done)
}

fn target(args: &RecordArgs) -> Result<RecordTarget> {
    if let Some(pid) = args.pid {
        return Ok(RecordTarget::Process(pid));
    }
    let (program, rest) = args.command.split_first().context("no program was given")?;
    let ourselves = std::env::current_exe().context("cannot find the path of fieldline itself")?;
    let holder = vec![ourselves.into_os_string(), "record".into(), "--hold".into(), "--".into()];
    Ok(RecordTarget::Program { holder, program: program.clone(), args: rest.to_vec() })
}

/// What it will cost.
fn forecast(options: &StepOptions) -> String {
    let limits = options.limits;
    let stop = format!("stops after {} s or {} samples", limits.time.as_secs_f64(), limits.samples);
    let slower = STEP.as_secs_f64() * INSTRUCTIONS_A_SECOND;
    if options.gap.is_zero() {
        return format!(
            "every instruction is stepped: the program runs about {slower:.0} times slower; {stop}"
        );
    }
    let burst = STEP.as_secs_f64() * options.burst as f64;
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

fn summary(path: &Path, taken: &Taken) -> String {
    let lasted = taken.lasted.as_secs_f64();
    let share = 100.0 * taken.in_bursts.as_secs_f64() / lasted.max(1e-9);
    let mut text = format!(
        "{}: {} samples of {} accesses; {} instructions stepped in {} bursts, of {} threads; {lasted:.2} s, {share:.0} % of \
         them in bursts; {}",
        path.display(),
        taken.samples,
        taken.accesses,
        taken.steps,
        taken.bursts,
        taken.threads,
        taken.end,
    );
    if let Some(pid) = taken.left_running {
        text += &format!("; process {pid} goes on without being traced");
    }
    text
}
