//! A struct to check.

use super::heat::HotMembers;
use super::rule::{FindingLevel, Rule};
use crate::change::TypeChange;
use crate::field::{Field, fields};
use fieldline_access::access::TypeProfile;
use fieldline_layout::Layout;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most names in a message.
const MAX_NAMES: usize = 6;

/// Levels and allowances of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Levels that are not the default ones.
    pub levels: BTreeMap<Rule, FindingLevel>,
    /// How much of what it counts a rule lets pass.
    pub allowed: BTreeMap<Rule, u64>,
    /// Whether pairs of lines count as one where lines are shared: x86 fetches 128 bytes together.
    pub adjacent_lines: bool,
}

impl Settings {
    /// The level of a rule.
    pub fn level(&self, rule: Rule) -> FindingLevel {
        self.levels.get(&rule).copied().unwrap_or(rule.default_level())
    }

    /// How much of what it counts a rule lets pass.
    pub fn allowed(&self, rule: Rule) -> u64 {
        self.allowed.get(&rule).copied().unwrap_or(0)
    }
}

/// Most that a struct may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeBudget {
    /// Bytes.
    pub size: Option<u64>,
    /// Cachelines.
    pub cachelines: Option<u64>,
}

/// Members pinned to the ends of a struct.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedEnds {
    /// The member at offset 0.
    pub first: Option<String>,
    /// The member that ends last.
    pub last: Option<String>,
}

/// The profile of a struct with its layout.
#[derive(Clone, Copy, Debug)]
pub struct RecordedStruct<'s> {
    /// Its accesses.
    pub profile: &'s TypeProfile,
    /// Its layout when it was recorded.
    pub layout: &'s Layout,
}

/// A lock in a struct for which CPUs wait.
#[derive(Clone, Debug, PartialEq)]
pub struct ContendedLock {
    /// The class, as the kernel names it.
    pub class: String,
    /// The path of the member.
    pub member: String,
    /// Its offset in the layout that is checked, in bytes.
    pub offset: u64,
    /// Percent of its acquisitions that waited.
    pub percent: f64,
}

/// A struct on one machine.
#[derive(Clone, Debug)]
pub struct CheckedStruct<'s> {
    /// Its layout.
    pub now: &'s Layout,
    /// Its earlier layout, if there is one.
    pub before: Option<&'s Layout>,
    /// The change since, if there is one.
    pub change: Option<TypeChange>,
    /// Members now.
    pub fields: Vec<Field<'s>>,
    /// Bytes of a cacheline.
    pub line: u64,
    /// Hot members, by index of `fields`.
    pub heat: Option<HotMembers>,
    /// Its profile, if there is one.
    pub recorded: Option<RecordedStruct<'s>>,
    /// Its budget.
    pub budget: SizeBudget,
    /// Its pinned ends.
    pub ends: PinnedEnds,
    /// Its locks for which CPUs wait.
    pub locks: Vec<ContendedLock>,
}

impl<'s> CheckedStruct<'s> {
    /// A struct without profile, budget and pins.
    pub fn new(now: &'s Layout, before: Option<&'s Layout>, line: u64) -> Self {
        let change = before.and_then(|before| TypeChange::between(before, now, &[line]));
        let (budget, ends) = (SizeBudget::default(), PinnedEnds::default());
        let (fields, locks) = (fields(now), Vec::new());
        Self { now, before, change, fields, line, heat: None, recorded: None, budget, ends, locks }
    }

    /// Whether a member, by its path, is hot, or there is no profile.
    pub(super) fn may_be_hot(&self, path: &str) -> bool {
        let index = || self.fields.iter().position(|field| field.path == path);
        self.heat.as_ref().is_none_or(|heat| index().is_some_and(|index| heat.is_hot(index)))
    }

    /// The first member of a path.
    pub(super) fn find_field(&self, path: &str) -> Option<&Field<'s>> {
        self.fields.iter().find(|field| field.path == path)
    }

    /// A finding about the whole struct.
    pub(super) fn struct_finding(&self, rule: Rule, message: String) -> Finding {
        let (file, line) = (self.now.file.clone(), self.now.line);
        Finding { rule, member: None, message, file, line, fix: None }
    }

    /// A finding about a member.
    pub(super) fn member_finding(&self, rule: Rule, member: &str, message: String) -> Finding {
        let found = self.struct_finding(rule, message);
        Finding { member: Some(member.to_owned()), ..found.declared_at(self, self.find_field(member)) }
    }
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The member it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The message.
    pub message: String,
    /// File that declares the member, or the struct where debug info has no lines of members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The change of the source that mends it, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    /// The finding at the declaration of a member, or of the one that it is in, if debug info has either's line.
    pub(super) fn declared_at(self, subject: &CheckedStruct<'_>, field: Option<&Field<'_>>) -> Self {
        let outer = field.and_then(|field| subject.now.members.get(field.top));
        let declared = field.map(|field| field.member).into_iter().chain(outer);
        match declared.into_iter().find(|member| member.line.is_some()) {
            Some(member) => Self { file: member.file.clone().or(self.file), line: member.line, ..self },
            None => self,
        }
    }

    /// The finding with what mends it, if that is known.
    pub(super) fn with_fix(self, fix: Option<String>) -> Self {
        Self { fix, ..self }
    }
}

/// Some names, and how many more there are.
pub(super) fn join_names(names: &[&str]) -> String {
    let shown = names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
