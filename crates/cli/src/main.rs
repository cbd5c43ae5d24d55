//! The fieldline command: arguments, commands, reports, exit codes.
//!
//! Exit codes: 0 done (also when there is nothing to gain), 1 the inputs were understood and the answer is no,
//! 2 an input is missing, broken or belongs to something else.

mod args;
mod command;
mod diagnosis;
mod document;
mod embedding;
mod foresight;
mod gate;
mod matrix;
mod new_member;
mod origin;
mod output;
mod pins;
mod profiled;
mod recordings;
mod report;
mod select;
mod series;
mod shelf;
mod stages;
mod trace;

use args::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// How a command that could do its work ended.
pub(crate) enum Outcome {
    /// Done, also when there was nothing to gain.
    Done,
    /// The inputs were understood and the answer is no.
    No,
    /// What was to become another program could not, with the number of the error.
    Held(u8),
}

#[expect(clippy::print_stderr, reason = "errors are printed here and nowhere else")]
fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::No) => ExitCode::from(1),
        Ok(Outcome::Held(number)) => ExitCode::from(number),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fieldline: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    match &arguments.command {
        Command::Layout(args) => command::layout::run(args),
        Command::Profile(args) => command::profile::run(args),
        Command::Import(args) => command::import::run(args),
        Command::Merge(args) => command::merge::run(args),
        Command::Samples(args) => command::samples::run(args),
        Command::Explain(args) => command::explain::run(args),
        Command::Report(args) => command::report::run(args),
        Command::Plan(args) => command::plan::run(args),
        Command::Place(args) => command::place::run(args),
        Command::Simulate(args) => command::simulate::run(args),
        Command::Patch(args) => command::patch::run(args),
        Command::Verify(args) => command::verify::run(args),
        Command::Propose(args) => command::propose::run(args),
        Command::Diff(args) => command::diff::run(args),
        Command::Baseline(args) => command::baseline::run(args),
        Command::Check(args) => command::check::run(args),
        Command::Init(args) => command::init::run(args),
        Command::Doctor(args) => command::doctor::run(args),
        Command::Record(args) => command::record::run(args),
        Command::Demo(args) => command::demo::run(args),
    }
}
