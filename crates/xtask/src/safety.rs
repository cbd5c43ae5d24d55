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

use anyhow::{Context, Result, bail, ensure};
use corpus::Program;
use known::KnownBreaks;
use orders::Proof;

/// Orders drawn for each program if the caller names no number.
const DEFAULT_ORDERS: u64 = 20;

/// `cargo xtask safety [prove|table] [--orders N] [--text|--build] [--known] [--part K/N] [PROGRAM…]`. `--part` takes every
/// N-th program, from the K-th on, counted from 0.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let (mut orders, mut proofs, mut names, mut known) = (None, Vec::new(), Vec::new(), None);
    let mut part = (0, 1);
    let (verb, mut rest) = match args.first().map(String::as_str) {
        Some(verb @ ("prove" | "table")) => (verb, args[1..].iter()),
        _ => ("orders", args.iter()),
    };
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--orders" => orders = Some(rest.next().context("--orders needs a number")?.parse()?),
            "--text" => proofs.push(Proof::Text),
            "--build" => proofs.push(Proof::Build),
            "--part" => part = parse_part(rest.next().context("--part needs K/N")?)?,
            "--known" => known = Some(KnownBreaks::read()?),
            option if option.starts_with('-') => bail!("{option}: not an option of safety"),
            name => names.push(name.to_owned()),
        }
    }
    if proofs.is_empty() {
        proofs = vec![Proof::Text, Proof::Build];
    }
    let chosen = choose(corpus::read_all()?, &names)?;
    let programs: Vec<Program> = chosen.into_iter().skip(part.0).step_by(part.1).collect();
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

/// The numbers of `K/N`: which of N parts.
fn parse_part(text: &str) -> Result<(usize, usize)> {
    let numbers =
        text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    let (part, parts) = numbers.with_context(|| format!("--part {text}: not K/N"))?;
    ensure!(part < parts, "--part {text}: parts are counted from 0");
    Ok((part, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_0() {
        assert_eq!(parse_part("1/2").unwrap(), (1, 2));
        for wrong in ["2/2", "0/0", "1", "a/2", "1/", "-1/2"] {
            assert!(parse_part(wrong).is_err(), "{wrong}");
        }
    }
}
