//! What the rules find in all targets, and what is suppressed.

use super::config::{Config, Suppression};
use super::targets::Loaded;
use crate::input::select;
use anyhow::{Result, bail};
use fieldline_access::AccessProfile;
use fieldline_check::rules::{Heat, Recorded, disagreements, sharing};
use fieldline_check::{Finding, FindingLevel, Rule, Subject, judge};
use fieldline_layout::Layout;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// A finding with where it was found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Found {
    pub(crate) level: FindingLevel,
    /// The target, several if the finding is about how they differ.
    pub(crate) target: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    #[serde(flatten)]
    pub(crate) finding: Finding,
    /// Why it doesn't count, if it doesn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suppressed: Option<String>,
}

impl Found {
    pub(crate) fn is_at(&self, level: FindingLevel) -> bool {
        self.suppressed.is_none() && self.level == level
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdict {
    format: &'static str,
    version: u32,
    pub(crate) targets: Vec<Checked>,
    pub(crate) findings: Vec<Found>,
    /// What was not looked at, a sentence each.
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Checked {
    pub(crate) name: String,
    /// Machine and configuration as the user calls them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) label: String,
    pub(crate) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<String>,
    pub(crate) cacheline: u64,
    pub(crate) types: Vec<String>,
}

impl Verdict {
    pub(crate) fn count(&self, level: FindingLevel) -> usize {
        self.findings.iter().filter(|found| found.is_at(level)).count()
    }
}

pub(crate) fn judge_all(
    config: &Config,
    loaded: &[Loaded<'_>],
    profile: Option<&AccessProfile>,
) -> Result<Verdict> {
    let subjects: Vec<Vec<Subject<'_>>> =
        loaded.par_iter().map(|of| subjects(config, of, profile)).collect::<Result<_>>()?;
    if let Some(profile) = profile {
        expect_fit(config, loaded, profile)?;
    }
    let mut findings = Vec::new();
    for (of, subjects) in loaded.iter().zip(&subjects) {
        for subject in subjects {
            let found = judge(subject, &config.settings).into_iter();
            findings.extend(found.map(|found| place(config, &of.target.name, &subject.now.name, found)));
        }
    }
    findings.extend(compare_targets(config, loaded, &subjects));
    let mut notes = blind(config, loaded, profile);
    notes.extend(unused(config, &findings));
    let checked = |(of, subjects): (&Loaded<'_>, &Vec<Subject<'_>>)| Checked {
        name: of.target.name.clone(),
        label: of.target.label.clone(),
        file: of.now.file.clone(),
        against: of.before.as_ref().map(|before| before.file.clone()),
        cacheline: of.line,
        types: subjects.iter().map(|subject| subject.now.name.clone()).collect(),
    };
    let targets = loaded.iter().zip(&subjects).map(checked).collect();
    Ok(Verdict { format: "fieldline-check", version: 1, targets, findings, notes })
}

fn subjects<'s>(
    config: &Config,
    of: &'s Loaded<'_>,
    profile: Option<&'s AccessProfile>,
) -> Result<Vec<Subject<'s>>> {
    let mut subjects = Vec::new();
    for (now, before) in of.pairs() {
        let mut subject = Subject::new(now, before, of.line);
        subject.budget = config.budgets.get(&now.name).copied().unwrap_or_default();
        subject.ends = config.ends.get(&now.name).cloned().unwrap_or_default();
        subject.recorded = profile.and_then(|profile| recorded(profile, &subject));
        subject.heat = subject.recorded.map(|of| Heat::new(of.profile, of.layout, &subject.fields));
        subjects.push(subject);
    }
    for name in config.ends.keys().chain(config.budgets.keys()) {
        let is_known = subjects.iter().any(|subject| subject.now.name == *name);
        if !is_known && !of.target.optional.iter().any(|optional| select::names(optional, name)) {
            bail!("{}: a pin or budget is for '{name}', which is not among the types checked", config.path);
        }
    }
    Ok(subjects)
}

/// What the profile says of a struct: it carries the layout it was made with, or that is one of the two at hand.
fn recorded<'s>(profile: &'s AccessProfile, subject: &Subject<'s>) -> Option<Recorded<'s>> {
    let profile = profile.type_named(&subject.now.name)?;
    let at_hand = [subject.before, Some(subject.now)].into_iter().flatten();
    let fits = |layout: &&Layout| layout.fingerprint() == profile.fingerprint;
    let layout = at_hand.into_iter().find(fits).or(profile.layout.as_ref())?;
    Some(Recorded { profile, layout })
}

/// Refuses a profile that was made with other layouts than those of any target, now or before.
fn expect_fit(config: &Config, loaded: &[Loaded<'_>], profile: &AccessProfile) -> Result<()> {
    let layouts = || {
        loaded.iter().flat_map(|of| of.now.layouts.iter().chain(of.before.iter().flat_map(|of| &of.layouts)))
    };
    let path = config.profile.as_ref().map_or_else(|| config.path.clone(), |path| path.display().to_string());
    let mut known = false;
    for of in &profile.types {
        let mut named = layouts().filter(|layout| layout.name == of.name).peekable();
        if named.peek().is_none() {
            continue;
        }
        known = true;
        if !named.any(|layout| layout.fingerprint() == of.fingerprint) {
            let name = &of.name;
            bail!("{path}: the profile was made with another layout of struct {name} than any target has");
        }
    }
    if !known {
        bail!("{path}: the profile knows none of the types checked");
    }
    Ok(())
}

fn place(config: &Config, target: &str, ty: &str, finding: Finding) -> Found {
    let fits = |of: &&Suppression| {
        let target_fits = of.target.as_ref().is_none_or(|name| target.split(", ").any(|one| one == name));
        let member_fits = of.member.is_none() || of.member == finding.member;
        of.rule == finding.rule && select::names(&of.ty, ty) && member_fits && target_fits
    };
    let suppressed = config.suppressions.iter().find(fits).map(|of| of.reason.clone());
    let level = config.settings.level(finding.rule);
    Found { level, target: target.to_owned(), ty: ty.to_owned(), finding, suppressed }
}

fn compare_targets(config: &Config, loaded: &[Loaded<'_>], subjects: &[Vec<Subject<'_>>]) -> Vec<Found> {
    if config.settings.level(Rule::TargetsDisagree) == FindingLevel::Off || loaded.len() < 2 {
        return Vec::new();
    }
    let mut names: BTreeMap<&str, Vec<(&str, &Subject<'_>)>> = BTreeMap::new();
    for (of, subjects) in loaded.iter().zip(subjects) {
        for subject in subjects {
            names.entry(&subject.now.name).or_default().push((&of.target.name, subject));
        }
    }
    let mut found = Vec::new();
    for (name, of) in names {
        let targets = of.iter().map(|(target, _)| *target).collect::<Vec<_>>().join(", ");
        found.extend(disagreements(&of).into_iter().map(|finding| place(config, &targets, name, finding)));
    }
    found
}

/// Rules that could not look, so that nobody takes their silence for consent.
fn blind(config: &Config, loaded: &[Loaded<'_>], profile: Option<&AccessProfile>) -> Vec<String> {
    let mut notes = Vec::new();
    for of in loaded {
        let name = &of.target.name;
        match &of.before {
            None => notes.push(format!(
                "target {name}: nothing to compare with (against), so only {} were looked for",
                ids(config, |rule| !rule.needs_before() && (profile.is_some() || !rule.needs_profile()))
            )),
            Some(before) => {
                let is_new = |name: &&str| !before.layouts.iter().any(|was| was.name == *name);
                let names = of.now.layouts.iter().map(|of| of.name.as_str());
                let names: Vec<&str> = names.filter(is_new).collect();
                if !names.is_empty() {
                    notes.push(format!("target {name}: {} has no {}", before.file, names.join(", ")));
                }
            }
        }
    }
    let has_before = loaded.iter().any(|of| of.before.is_some());
    let unseen = ids(config, |rule| rule.needs_profile() && (has_before || !rule.needs_before()));
    match profile {
        None if !unseen.is_empty() => notes.push(format!("no profile, so {unseen} were not looked for")),
        Some(profile) if !profile.types.iter().any(sharing::tells_losses) => notes.push(format!(
            "the profile's samples tell no data source, so {} was not looked for",
            Rule::FalseSharingPair.id()
        )),
        _ => {}
    }
    notes
}

fn ids(config: &Config, wanted: impl Fn(Rule) -> bool) -> String {
    let is_on = |rule: &Rule| wanted(*rule) && config.settings.level(*rule) != FindingLevel::Off;
    Rule::ALL.into_iter().filter(is_on).map(Rule::id).collect::<Vec<_>>().join(", ")
}

fn unused(config: &Config, findings: &[Found]) -> Vec<String> {
    let is_used = |of: &&Suppression| {
        findings.iter().any(|found| {
            let finding = &found.finding;
            let same = finding.rule == of.rule && select::names(&of.ty, &found.ty);
            same && found.suppressed.as_ref() == Some(&of.reason)
        })
    };
    let idle = config.suppressions.iter().filter(|of| !is_used(of));
    idle.map(|of| format!("the suppression of {} in {} suppresses nothing", of.rule.id(), of.ty)).collect()
}
