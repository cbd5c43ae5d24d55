//! Programs that some order of a struct's members breaks, and programs that none does (fixtures/safety).
//!
//! * `corpus`: the programs, and the table of them in their README.
//! * `permute`: a struct's members in another order, as text.
//! * `build`: compiles and runs a program.
//! * `prove`: shows by brute force that each program is what its folder says.
//! * `orders`: what fieldline's own orders do to them.
//! * `known`: the programs that are known to break.

mod build;
mod corpus;
mod known;
mod orders;
mod permute;
mod prove;

use anyhow::{Context, Result, bail};
use corpus::Program;
use known::KnownBreaks;
use orders::Proof;

/// Orders drawn for each program if the caller names no number.
const DEFAULT_ORDERS: u64 = 20;

/// `cargo xtask safety [prove|table] [--orders N] [--text|--build] [--known] [PROGRAM…]`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let (mut orders, mut proofs, mut names, mut known) = (None, Vec::new(), Vec::new(), None);
    let (verb, mut rest) = match args.first().map(String::as_str) {
        Some(verb @ ("prove" | "table")) => (verb, args[1..].iter()),
        _ => ("orders", args.iter()),
    };
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--orders" => orders = Some(rest.next().context("--orders needs a number")?.parse()?),
            "--text" => proofs.push(Proof::Text),
            "--build" => proofs.push(Proof::Build),
            "--known" => known = Some(KnownBreaks::read()?),
            option if option.starts_with('-') => bail!("{option}: not an option of safety"),
            name => names.push(name.to_owned()),
        }
    }
    if proofs.is_empty() {
        proofs = vec![Proof::Text, Proof::Build];
    }
    let programs = choose(corpus::read_all()?, &names)?;
    match verb {
        "prove" => prove::run(&programs, orders),
        "table" => corpus::write_table(&corpus::read_all()?),
        _ => orders::run(&programs, &proofs, orders.unwrap_or(DEFAULT_ORDERS), known.as_ref()),
    }
}

/// The programs of these names, or all if there are no names.
fn choose(mut programs: Vec<Program>, names: &[String]) -> Result<Vec<Program>> {
    if let Some(name) = names.iter().find(|name| programs.iter().all(|program| program.name != **name)) {
        bail!("{name}: fixtures/safety has no such program");
    }
    programs.retain(|program| names.is_empty() || names.contains(&program.name));
    Ok(programs)
}
