//! The `fieldline` command: arguments, commands, reports, exit codes.
//!
//! Exit codes: 0 done (also when there is nothing to gain), 1 the inputs were understood and the answer is
//! no, 2 an input is missing, broken or belongs to something else.

mod args;
mod calendar;
mod command;
mod diagnosis;
mod gate;
mod input;
mod lock_lines;
mod output;
mod page;
mod planning;
mod report;
mod series;

use args::{Arguments, Command, GlobalArgs};
use command::{accesses, bench, compare, completions, demo, guest, layouts, manual, orders, trial};
use fieldline_debuginfo::separate_debug::search_folders;
use output::{CommandOutcome, PrintOptions};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_command_line();
    let GlobalArgs { color, quiet, verbose, no_pager, .. } = arguments.global;
    output::configure(PrintOptions { color, quiet, verbose, no_pager });
    match run(&arguments) {
        Ok(CommandOutcome::Done) => ExitCode::SUCCESS,
        Ok(CommandOutcome::Negative) => ExitCode::from(1),
        Ok(CommandOutcome::ExecFailed(number)) => ExitCode::from(number),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error);
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    if let Some(threads) = arguments.global.threads {
        rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global()?;
    }
    search_folders(arguments.global.debug_dir.clone());
    match &arguments.command {
        Command::Layout(args) => layouts::layout::run(args),
        Command::Profile(args) => accesses::profile(args),
        Command::Import(args) => accesses::import(args),
        Command::Merge(args) => accesses::merge(args),
        Command::Samples(args) => accesses::samples(args),
        Command::Explain(args) => accesses::explain::run(args),
        Command::Report(args) => accesses::report(args),
        Command::Plan(args) => orders::plan(args),
        Command::Place(args) => orders::place::run(args),
        Command::Split(args) => orders::split::run(args),
        Command::Simulate(args) => orders::simulate::run(args),
        Command::Patch(args) => orders::patch(args),
        Command::Verify(args) => orders::verify::run(args),
        Command::Propose(args) => orders::propose::run(args),
        Command::Diff(args) => layouts::diff(args),
        Command::Baseline(args) => layouts::baseline(args),
        Command::Check(args) => layouts::check::run(args),
        Command::Init(args) => layouts::init(args),
        Command::Doctor(args) => accesses::doctor(args),
        Command::Record(args) => accesses::record::run(args),
        Command::Guest(args) => guest::run(args),
        Command::Trial(args) => trial::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => manual::run(args),
    }
}
