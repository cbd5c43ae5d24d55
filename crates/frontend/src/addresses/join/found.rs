//! Demands, as they are found.

use crate::demand::CodeUse;
use std::collections::{BTreeMap, BTreeSet};

/// Demands of addresses on the subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// By file and line, each once.
    pub uses: Vec<CodeUse>,
    /// Functions that subjects' addresses are handed to and that no unit has the body of.
    pub unread: BTreeSet<String>,
    /// Members that subjects' addresses are kept in: the record and the member, by name.
    pub members: BTreeSet<(String, String)>,
    /// Second names of variables of subjects, and names of the sections that they are in.
    pub symbols: BTreeSet<String>,
    /// Functions that are called through pointers with subjects' addresses: how many parameters, and which.
    pub callbacks: BTreeSet<(usize, usize)>,
    /// Functions without a body that are given a subject's address as what it is: the subject, and where.
    pub given: BTreeMap<String, Vec<CodeUse>>,
    /// The same of those that are given it as any pointer, and of which nothing is known.
    pub handed: BTreeMap<String, Vec<CodeUse>>,
    /// Variables of subjects that other files may name: the subject, and where.
    pub variables: BTreeMap<String, Vec<CodeUse>>,
    /// Those of `given` that a unit has the body of.
    pub defined: BTreeSet<String>,
}

impl Demands {
    /// Puts the uses in order, each once: those of one address are often many times the same.
    pub(super) fn settle(&mut self) {
        for uses in self
            .given
            .values_mut()
            .chain(self.handed.values_mut())
            .chain(self.variables.values_mut())
            .chain([&mut self.uses])
        {
            uses.sort_unstable();
            uses.dedup();
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        let Self { uses, unread, members, symbols, callbacks, given, handed, variables, defined } = other;
        self.uses.extend(uses);
        self.unread.extend(unread);
        self.members.extend(members);
        self.symbols.extend(symbols);
        self.callbacks.extend(callbacks);
        self.defined.extend(defined);
        for (own, other) in
            [(&mut self.given, given), (&mut self.handed, handed), (&mut self.variables, variables)]
        {
            for (function, uses) in other {
                own.entry(function).or_default().extend(uses);
            }
        }
    }
}
