//! Checks of the architecture that docs/ARCHITECTURE.md describes.
//!
//! * `arguments`: where the command's arguments may be named.
//! * `checkout`: the crates, their files, and the names in each file.
//! * `crates`: imports between crates, libraries where they belong, and one meaning for each public type's name.
//! * `files`: no import cycles, no crowded folders, one style of modules, sizes.
//! * `forbidden`: input and output, files embedded from outside, unsafe code, names of the test recordings.
//! * `terms`: banned names, options that are gone, doc comments, documents, the glossary.

mod arguments;
mod checkout;
mod crates;
mod files;
mod forbidden;
mod terms;

use crate::tools::shell::{print_line, root};
use anyhow::Result;
use checkout::Checkout;

/// A rule: its name, and the function that finds violations.
type Rule = (&'static str, fn(&Checkout) -> Result<Vec<String>>);

const RULES: &[Rule] = &[
    ("crates import each other as docs/ARCHITECTURE.md says", crates::undocumented_imports),
    ("a library is named where it belongs", crates::misplaced_libraries),
    ("clap's structs end at the commands", arguments::misplaced_arguments),
    ("dependencies are explained", crates::unexplained_dependencies),
    ("files of a crate import in one direction", files::import_cycles),
    ("folders hold at most 15 sources", files::crowded_folders),
    ("modules stand in name.rs beside name/", files::misnamed_modules),
    ("functions and files are small", files::long_code),
    ("fixtures are small and listed", files::unlisted_fixtures),
    ("a public type's name has one meaning", crates::ambiguous_type_names),
    ("pure crates do no input or output", forbidden::find_input_and_output),
    ("embedded files stand within their crate", forbidden::find_outside_files),
    ("unsafe code stands in one place", forbidden::find_unsafe_code),
    ("no code knows the structs of the recordings", forbidden::find_recording_names),
    ("names are the field's", terms::banned_identifiers),
    ("options that are gone are named nowhere", terms::old_options),
    ("doc comments say what a thing is", terms::doc_questions),
    ("documents are narrow enough to read", terms::wide_documents),
    ("the glossary is short and cites its sources", terms::unsourced_terms),
];

/// `cargo xtask tidy`: prints each rule with its violations; `true` if there are none.
pub(crate) fn run(_args: &[String]) -> Result<bool> {
    let checkout = Checkout::read(&root())?;
    let mut holds = true;
    for (name, rule) in RULES {
        let violations = rule(&checkout)?;
        print_line!("test {name} ... {}", if violations.is_empty() { "ok" } else { "FAILED" });
        violations.iter().for_each(|violation| print_line!("  {violation}"));
        holds &= violations.is_empty();
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
