//! Proof by brute force: some order breaks each program of `breaks`, none breaks one of `safe`.

use super::build::{self, Difference, Scratch};
use super::corpus::{Kind, Program};
use super::permute::{self, Definition};
use crate::tools::shell::print_line;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The effects of the orders of a program's struct.
#[derive(Default)]
struct Tally {
    built: usize,
    /// Orders that don't compile.
    errors: usize,
    /// The first that broke it, and how.
    broken: Option<(Vec<usize>, String)>,
}

/// Prints what the orders of each program did; `true` if all programs are what their folder says.
pub(super) fn run(programs: &[Program], limit: Option<u64>) -> Result<bool> {
    let scratch = Scratch::new()?;
    let work = |program| (program, try_orders(program, &scratch.folder(program), limit));
    let results = fieldline_parallel::map(programs, work);
    let mut wrong = 0;
    for (program, tally) in &results {
        let is_right = match tally {
            Ok(tally) => tally.broken.is_some() == (program.kind == Kind::Breaks),
            Err(_) => false,
        };
        wrong += usize::from(!is_right);
        let word = if is_right { "ok" } else { "WRONG" };
        let text = match tally {
            Ok(tally) => describe(tally),
            Err(error) => format!("{error:#}"),
        };
        print_line!("{:<6} {:<32} {word:<5} {text}", program.kind.name(), program.name);
    }
    print_line!("\nsafety: {} programs are what they say, {wrong} are not", programs.len() - wrong);
    Ok(wrong == 0)
}

fn describe(tally: &Tally) -> String {
    let Tally { built, errors, broken } = tally;
    let errors = if *errors > 0 { format!(", {errors} do not compile") } else { String::new() };
    match broken {
        Some((order, how)) => format!("{order:?} {how} ({built} built{errors})"),
        None => format!("none of {built} orders breaks it{errors}"),
    }
}

/// Compiles and runs a program in every order, up to the first that breaks it.
fn try_orders(program: &Program, folder: &Path, limit: Option<u64>) -> Result<Tally> {
    let definition = Definition::find(program).context("its struct is not found")?;
    let output = folder.join("program");
    build::write_files(program, folder)?;
    ensure!(build::compile(program, folder, &["-O1"], &output)?, "it does not compile as it is");
    let expected = build::run(&output, folder)?;
    ensure!(expected.code == 0 && !expected.printed.is_empty(), "it ends with {} as it is", expected.code);
    let mut tally = Tally::default();
    // What breaks stops at the first order that does; a limit would only leave rare ones out.
    let limit = limit.filter(|_| program.kind == Kind::Safe);
    for order in permute::orders(definition.members.len(), limit) {
        fs::write(folder.join(&definition.file), definition.reordered(&order))?;
        if !build::compile(program, folder, &["-O1"], &output)? {
            tally.errors += 1;
            continue;
        }
        tally.built += 1;
        let difference = build::run(&output, folder)?.difference(&expected);
        if !matches!(difference, Difference::None) {
            tally.broken = Some((order, difference.to_string()));
            break;
        }
    }
    Ok(tally)
}
