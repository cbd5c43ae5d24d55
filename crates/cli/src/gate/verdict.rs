//! Findings of all targets, with suppressions.

use super::acceptance::{self, Acceptance};
use super::config::{Config, Suppression};
use super::targets::LoadedTarget;
use crate::input::select::matches_type;
use crate::lock_lines::LockContext;
use anyhow::{Result, bail};
use fieldline_access::AccessProfile;
use fieldline_check::rules::{ContendedLock, HotMembers, RecordedStruct, find_disagreements, sharing};
use fieldline_check::{CheckedStruct, Finding, FindingLevel, Rule, check_struct};
use fieldline_compare::lock_stat::LockRow;
use fieldline_layout::Layout;
use serde::Serialize;
use std::collections::BTreeMap;

/// Value of `format` in the JSON.
const FORMAT: &str = "fieldline-check";

/// A finding with its target and type.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportedFinding {
    pub(crate) level: FindingLevel,
    /// The target, several if the finding is about how they differ.
    pub(crate) target: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    #[serde(flatten)]
    pub(crate) finding: Finding,
    /// How to accept it.
    pub(crate) accept: Acceptance,
    /// Reason of the suppression, if it is suppressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suppressed: Option<String>,
}

impl ReportedFinding {
    pub(crate) fn is_at(&self, level: FindingLevel) -> bool {
        self.suppressed.is_none() && self.level == level
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct CheckReport {
    format: &'static str,
    version: u32,
    /// The configuration's path.
    pub(crate) config: String,
    pub(crate) targets: Vec<CheckedTarget>,
    pub(crate) findings: Vec<ReportedFinding>,
    /// Things that were not checked, a sentence each.
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct CheckedTarget {
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

impl CheckReport {
    pub(crate) fn count(&self, level: FindingLevel) -> usize {
        self.findings.iter().filter(|found| found.is_at(level)).count()
    }

    /// Several checks by one configuration as one: targets by name, findings in order, each note once.
    pub(crate) fn join(config: &str, parts: &[&Self]) -> Self {
        let mut all = Self { format: FORMAT, version: 1, config: config.to_owned(), ..Self::default() };
        for part in parts {
            for target in &part.targets {
                match all.targets.iter_mut().find(|known| known.name == target.name) {
                    Some(known) => {
                        let new = target.types.iter().filter(|name| !known.types.contains(name));
                        let new: Vec<String> = new.cloned().collect();
                        known.types.extend(new);
                    }
                    None => all.targets.push(target.clone()),
                }
            }
            all.findings.extend(part.findings.iter().cloned());
            for note in &part.notes {
                if !all.notes.contains(note) {
                    all.notes.push(note.clone());
                }
            }
        }
        all
    }
}

pub(crate) fn check_targets(
    config: &Config,
    loaded: &[LoadedTarget<'_>],
    profile: Option<&AccessProfile>,
    locks: &[LockRow],
) -> Result<CheckReport> {
    if let Some(profile) = profile {
        check_profile_fits(config, loaded, profile)?;
    }
    let mut report = judge_targets(config, loaded, profile, locks)?;
    if !locks.is_empty() && profile.is_none() {
        report.notes.push("no profile, so lines of contended locks were not checked".to_owned());
    }
    report.notes.extend(note_unused_suppressions(config, &report.findings));
    Ok(report)
}

/// As much of a check as can be said of some of the types alone.
pub(crate) fn judge_targets(
    config: &Config,
    loaded: &[LoadedTarget<'_>],
    profile: Option<&AccessProfile>,
    locks: &[LockRow],
) -> Result<CheckReport> {
    let subjects: Vec<Vec<CheckedStruct<'_>>> =
        fieldline_parallel::map(loaded, |target| subjects(config, target, profile, locks))
            .into_iter()
            .collect::<Result<_>>()?;
    let mut findings = Vec::new();
    for (target, subjects) in loaded.iter().zip(&subjects) {
        for subject in subjects {
            let found = check_struct(subject, &config.settings).into_iter();
            findings.extend(found.map(|found| {
                let accept = acceptance::accept(config, target, subject, &found);
                report_finding(config, &target.config.name, &subject.now.name, found, accept)
            }));
        }
    }
    findings.extend(compare_targets(config, loaded, &subjects));
    let notes = note_skipped_rules(config, loaded, profile);
    let checked = |(target, subjects): (&LoadedTarget<'_>, &Vec<CheckedStruct<'_>>)| CheckedTarget {
        name: target.config.name.clone(),
        label: target.config.label.clone(),
        file: target.now.file.clone(),
        against: target.before.as_ref().map(|before| before.file.clone()),
        cacheline: target.line,
        types: subjects.iter().map(|subject| subject.now.name.clone()).collect(),
    };
    let targets = loaded.iter().zip(&subjects).map(checked).collect();
    let config = config.path.clone();
    Ok(CheckReport { format: FORMAT, version: 1, config, targets, findings, notes })
}

fn subjects<'s>(
    config: &Config,
    target: &'s LoadedTarget<'_>,
    profile: Option<&'s AccessProfile>,
    locks: &[LockRow],
) -> Result<Vec<CheckedStruct<'s>>> {
    let mut subjects = Vec::new();
    let locks = contended_locks(target, locks);
    for (now, before) in target.pairs() {
        let mut subject = CheckedStruct::new(now, before, target.line);
        subject.budget = config.budgets.get(&now.name).copied().unwrap_or_default();
        subject.ends = config.ends.get(&now.name).cloned().unwrap_or_default();
        subject.recorded = profile.and_then(|profile| find_recorded(profile, &subject));
        subject.heat = subject
            .recorded
            .map(|recorded| HotMembers::new(recorded.profile, recorded.layout, &subject.fields));
        let own = locks.iter().filter(|(name, _)| *name == now.name).map(|(_, lock)| lock.clone());
        subject.locks = own.collect();
        subjects.push(subject);
    }
    for name in config.ends.keys().chain(config.budgets.keys()) {
        let is_known = subjects.iter().any(|subject| subject.now.name == *name);
        if !is_known && !target.config.optional.iter().any(|optional| matches_type(optional, name)) {
            bail!("{}: a pin or budget is for '{name}', which is not among the types checked", config.path);
        }
    }
    Ok(subjects)
}

/// Contended locks by struct. Other structs than those to check aren't known, so that only classes count that name the
/// struct itself, as `&rq->__lock` does.
fn contended_locks(target: &LoadedTarget<'_>, classes: &[LockRow]) -> Vec<(String, ContendedLock)> {
    let context =
        LockContext { layouts: &target.now.layouts, line_size: target.line, profile: None, named: &[] };
    let (placed, _) = context.place(classes);
    let contended = placed.into_iter().filter(|lock| lock.is_named()).filter_map(|lock| {
        let percent = lock.contention()?;
        Some((
            lock.struct_name,
            ContendedLock { class: lock.class, member: lock.member, offset: lock.offset, percent },
        ))
    });
    contended.collect()
}

/// A struct's profile with the layout it was recorded with: one of the two at hand, or the one in the
/// profile.
fn find_recorded<'s>(profile: &'s AccessProfile, subject: &CheckedStruct<'s>) -> Option<RecordedStruct<'s>> {
    let profile = profile.find_type(&subject.now.name)?;
    let at_hand = [subject.before, Some(subject.now)].into_iter().flatten();
    let fits = |layout: &&Layout| layout.fingerprint() == profile.fingerprint;
    let layout = at_hand.into_iter().find(fits).or(profile.layout.as_ref())?;
    Some(RecordedStruct { profile, layout })
}

/// Refuses a profile that was made with other layouts than those of any target, now or before.
fn check_profile_fits(config: &Config, loaded: &[LoadedTarget<'_>], profile: &AccessProfile) -> Result<()> {
    let sets = || loaded.iter().flat_map(|target| target.before.iter().chain([&target.now]));
    let layouts = || sets().flat_map(|set| &set.layouts);
    let path = config.profile.as_ref().map_or_else(|| config.path.clone(), |path| path.display().to_string());
    let mut known = false;
    for type_profile in &profile.types {
        let mut named = layouts().filter(|layout| layout.name == type_profile.name).peekable();
        if named.peek().is_none() {
            continue;
        }
        known = true;
        if !named.any(|layout| layout.fingerprint() == type_profile.fingerprint) {
            let name = &type_profile.name;
            bail!("{path}: the profile was made with another layout of struct {name} than any target has");
        }
    }
    if !known {
        bail!("{path}: the profile knows none of the types checked");
    }
    Ok(())
}

fn report_finding(
    config: &Config,
    target: &str,
    ty: &str,
    finding: Finding,
    accept: Acceptance,
) -> ReportedFinding {
    let fits = |suppression: &&Suppression| {
        let Suppression { rule, ty: pattern, member, target: only, .. } = suppression;
        let target_fits = only.as_ref().is_none_or(|name| target.split(", ").any(|part| part == name));
        let member_fits = member.is_none() || *member == finding.member;
        *rule == finding.rule && matches_type(pattern, ty) && member_fits && target_fits
    };
    let suppressed = config.suppressions.iter().find(fits).map(|suppression| suppression.reason.clone());
    let level = config.settings.level(finding.rule);
    ReportedFinding { level, target: target.to_owned(), ty: ty.to_owned(), finding, accept, suppressed }
}

fn compare_targets(
    config: &Config,
    loaded: &[LoadedTarget<'_>],
    subjects: &[Vec<CheckedStruct<'_>>],
) -> Vec<ReportedFinding> {
    if config.settings.level(Rule::TargetsDisagree) == FindingLevel::Off || loaded.len() < 2 {
        return Vec::new();
    }
    let mut names: BTreeMap<&str, Vec<(&str, &CheckedStruct<'_>)>> = BTreeMap::new();
    for (target, subjects) in loaded.iter().zip(subjects) {
        for subject in subjects {
            names.entry(&subject.now.name).or_default().push((&target.config.name, subject));
        }
    }
    let mut findings = Vec::new();
    for (name, same_named) in names {
        let targets = same_named.iter().map(|(target, _)| *target).collect::<Vec<_>>().join(", ");
        let found = find_disagreements(&same_named).into_iter();
        findings.extend(found.map(|finding| {
            let accept = acceptance::suppress(name, &finding, None);
            report_finding(config, &targets, name, finding, accept)
        }));
    }
    findings
}

/// Notes on rules that could not be checked: no finding of theirs does not mean a pass.
fn note_skipped_rules(
    config: &Config,
    loaded: &[LoadedTarget<'_>],
    profile: Option<&AccessProfile>,
) -> Vec<String> {
    let mut notes = Vec::new();
    for target in loaded {
        let name = &target.config.name;
        match &target.before {
            None => notes.push(format!(
                "target {name}: nothing to compare with (against), so only {} were checked",
                rule_ids(config, |rule| !rule.needs_before() && (profile.is_some() || !rule.needs_profile()))
            )),
            Some(before) => {
                let is_new = |name: &&str| !before.layouts.iter().any(|was| was.name == *name);
                let names = target.now.layouts.iter().map(|layout| layout.name.as_str());
                let names: Vec<&str> = names.filter(is_new).collect();
                if !names.is_empty() {
                    notes.push(format!("target {name}: {} has no {}", before.file, names.join(", ")));
                }
            }
        }
    }
    let has_before = loaded.iter().any(|target| target.before.is_some());
    let unseen = rule_ids(config, |rule| rule.needs_profile() && (has_before || !rule.needs_before()));
    match profile {
        None if !unseen.is_empty() => notes.push(format!("no profile, so {unseen} were not checked")),
        Some(profile) if !profile.types.iter().any(sharing::has_loss_data) => notes.push(format!(
            "the profile's samples have no data source, so {} was not checked",
            Rule::FalseSharingPair.id()
        )),
        _ => {}
    }
    notes
}

fn rule_ids(config: &Config, wanted: impl Fn(Rule) -> bool) -> String {
    let is_on = |rule: &Rule| wanted(*rule) && config.settings.level(*rule) != FindingLevel::Off;
    Rule::ALL.into_iter().filter(is_on).map(Rule::id).collect::<Vec<_>>().join(", ")
}

fn note_unused_suppressions(config: &Config, findings: &[ReportedFinding]) -> Vec<String> {
    let is_used = |suppression: &&Suppression| {
        findings.iter().any(|found| {
            let finding = &found.finding;
            let same = finding.rule == suppression.rule && matches_type(&suppression.ty, &found.ty);
            same && found.suppressed.as_ref() == Some(&suppression.reason)
        })
    };
    let unused = config.suppressions.iter().filter(|suppression| !is_used(suppression));
    let text = |rule: Rule, ty: &str| format!("the suppression of {} in {ty} suppresses nothing", rule.id());
    unused.map(|suppression| text(suppression.rule, &suppression.ty)).collect()
}
