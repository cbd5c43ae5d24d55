//! `fieldline compare --locks`: texts of /proc/lock_stat of several variants, and the lines that the locks lie on.

use super::variants::{arguments, require_plain_format};
use crate::args::{CompareArgs, CompareFormat};
use crate::input::document::{read_profile, to_json};
use crate::input::{layout_set, recordings, runs};
use crate::lock_lines::{self, LockContext, LockLine, UnplacedLock};
use crate::output::{self, CommandOutcome};
use anyhow::{Context, Result, bail};
use fieldline_compare::lock_stat::{self, LockTable};
use serde::Serialize;
use std::fmt::Write;

/// The file of `--format json`.
#[derive(Serialize)]
struct LocksDocument<'t> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    table: &'t LockTable,
    /// Lines by program, in the order given.
    programs: &'t [PlacedLocks],
}

/// The locks of a table on the lines of one program.
#[derive(Serialize)]
struct PlacedLocks {
    program: String,
    locks: Vec<LockLine>,
    unplaced: Vec<UnplacedLock>,
}

pub(super) fn run(args: &CompareArgs) -> Result<CommandOutcome> {
    require_plain_format(args, "--locks")?;
    let variants = runs::find_files(&arguments(args), &args.names, args.machines)?;
    let mut read = Vec::new();
    for variant in &variants {
        let mut texts = Vec::new();
        for file in &variant.files {
            let place = || file.path.display().to_string();
            // A copy of the text: the file itself is made up by the kernel when it is read.
            let bytes = fieldline_files::read(&file.path).with_context(place)?;
            texts.push(lock_stat::read_lock_stat(&String::from_utf8_lossy(&bytes)).with_context(place)?);
        }
        read.push((variant.name.clone(), texts));
    }
    let table = LockTable::new(&read);
    let placed = place(args, &table)?;
    let text = match args.format {
        CompareFormat::Json => {
            let document =
                LocksDocument { format: "fieldline-locks", version: 1, table: &table, programs: &placed };
            String::from_utf8(to_json(&document)?)?
        }
        CompareFormat::Markdown => format!("```\n{}```\n", draw(args, &table, &placed)),
        _ => draw(args, &table, &placed),
    };
    output::print(&text)
}

fn draw(args: &CompareArgs, table: &LockTable, placed: &[PlacedLocks]) -> String {
    let mut out = table.draw(args.top);
    for PlacedLocks { program, locks, unplaced } in placed {
        let _ = writeln!(out, "\nlocks in {program}; objects are taken to begin on a line\n");
        locks.iter().take(args.top).for_each(|lock| lock_lines::draw(&mut out, lock, &table.variants));
        lock_lines::draw_unplaced(&mut out, unplaced);
    }
    out
}

/// Places the classes in each program named; the first profile belongs to the first program, and so on.
fn place(args: &CompareArgs, table: &LockTable) -> Result<Vec<PlacedLocks>> {
    if args.profiles.len() > args.programs.len() {
        bail!("--profile needs --vmlinux, the program that it was made with");
    }
    let named = lock_lines::parse_named(&args.lock_structs)?;
    let mut all = Vec::new();
    for (index, program) in args.programs.iter().enumerate() {
        let profile = args.profiles.get(index).map(|path| {
            let profile = read_profile(path)?;
            recordings::check_profile(&profile, path, program)?;
            anyhow::Ok(profile)
        });
        let profile = profile.transpose()?;
        let layouts = layout_set::read(program, &[], None)?;
        let context = LockContext {
            layouts: &layouts.layouts,
            line_size: layouts.line,
            profile: profile.as_ref(),
            named: &named,
        };
        let (locks, unplaced) = context.place(&table.classes);
        all.push(PlacedLocks { program: recordings::base_name(program), locks, unplaced });
    }
    Ok(all)
}
