//! Programs that are known to break, and harmless ones that are known to be held, listed with a reason each: the list can
//! only become shorter unnoticed.

use crate::tools::shell;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;

/// The list, from the top of the checkout.
const FILE: &str = "fixtures/safety/still-broken.txt";

/// Programs that break or are held, by proof and name.
#[derive(Debug, Default)]
pub(super) struct KnownBreaks {
    reasons: BTreeMap<(String, String), String>,
}

impl KnownBreaks {
    /// Reads the list.
    pub(super) fn read() -> Result<Self> {
        let text = fs::read_to_string(shell::root().join(FILE)).context(FILE)?;
        Self::parse(&text).context(FILE)
    }

    /// Lines `PROOF PROGRAM: reason`; those that begin with `#` say something to readers.
    fn parse(text: &str) -> Result<Self> {
        let mut reasons = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let wrong = || format!("{line}: not `text PROGRAM: reason` or `build PROGRAM: reason`");
            let (name, reason) = line.split_once(": ").with_context(wrong)?;
            let (proof, program) = name.split_once(' ').with_context(wrong)?;
            ensure!(matches!(proof, "text" | "build") && !reason.trim().is_empty(), wrong());
            let place = (proof.to_owned(), program.to_owned());
            ensure!(reasons.insert(place, reason.to_owned()).is_none(), "{name}: listed twice");
        }
        Ok(Self { reasons })
    }

    /// Why a program is known to break or to be held under a proof.
    pub(super) fn reason(&self, proof: &str, program: &str) -> Option<&str> {
        self.reasons.get(&(proof.to_owned(), program.to_owned())).map(String::as_str)
    }

    /// Listed programs of a proof that aren't among those that break or are held.
    pub(super) fn mended(&self, proof: &str, open: &[&str]) -> Vec<&str> {
        let of_proof = self.reasons.keys().filter(|(listed, _)| listed == proof);
        of_proof.map(|(_, name)| name.as_str()).filter(|name| !open.contains(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_programs_that_hold_are_found() {
        let known = KnownBreaks::parse("# why\n\ntext a: x\nbuild b: y\ntext c: z\n").unwrap();
        assert_eq!((known.reason("text", "a"), known.reason("build", "a")), (Some("x"), None));
        assert_eq!(known.mended("text", &["a", "b"]), ["c"]);
        assert!(known.mended("build", &["b"]).is_empty());
    }

    #[test]
    fn every_line_has_a_proof_a_program_and_a_reason() {
        for wrong in ["a: x", "text a", "text a: ", "guess a: x", "text a: x\ntext a: y"] {
            assert!(KnownBreaks::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_list_names_programs_of_the_corpus() {
        let known = KnownBreaks::read().unwrap();
        let programs = super::super::corpus::read_all().unwrap();
        let is_program = |name: &str| programs.iter().any(|program| program.name == name);
        let strangers: Vec<_> = known.reasons.keys().filter(|(_, name)| !is_program(name)).collect();
        assert!(strangers.is_empty(), "{strangers:?}");
    }
}
