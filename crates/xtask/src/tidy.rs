//! The architecture as a check: what may be named where, and how the house is laid. docs/ARCHITECTURE.md says why.
//!
//! * `house`: the crates, their files, and what each file declares and names.
//! * `crates`: arrows between crates as docs/ARCHITECTURE.md draws them, libraries where they belong, and one meaning for each
//!   public type's name.
//! * `files`: no circles of imports, no crowded folders, one style of modules, sizes.
//! * `words`: what must not stand in code.

mod crates;
mod files;
mod house;
mod words;

use crate::tools::shell::{root, say};
use anyhow::Result;
use house::House;

/// A rule: its name, and what breaks it.
type Rule = (&'static str, fn(&House) -> Result<Vec<String>>);

const RULES: &[Rule] = &[
    ("crates import each other as docs/ARCHITECTURE.md says", crates::arrows),
    ("a library is named where it belongs", crates::libraries),
    ("dependencies are explained", crates::explained),
    ("files of a crate import in one direction", files::circles),
    ("folders hold at most 15 sources", files::crowds),
    ("modules stand in name.rs beside name/", files::module_style),
    ("functions and files are small", files::sizes),
    ("fixtures are small and listed", files::fixtures),
    ("a public type's name has one meaning", crates::shared_names),
    ("pure crates do no input or output", words::input_and_output),
    ("unsafe code stands in one place", words::unsafe_code),
    ("no code knows the structs of the recordings", words::recordings),
];

/// `cargo xtask tidy`: each rule with what breaks it; `true` if all hold.
pub(crate) fn run(_args: &[String]) -> Result<bool> {
    let house = House::read(&root())?;
    let mut holds = true;
    for (name, rule) in RULES {
        let broken = rule(&house)?;
        say(&format!("test {name} ... {}", if broken.is_empty() { "ok" } else { "FAILED" }));
        broken.iter().for_each(|place| say(&format!("  {place}")));
        holds &= broken.is_empty();
    }
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_holds() {
        assert!(run(&[]).unwrap(), "cargo xtask tidy prints what breaks a rule");
    }
}
