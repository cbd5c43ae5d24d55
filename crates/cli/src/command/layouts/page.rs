//! The pages of `diff` and `check`.

use crate::gate::targets::LoadedTarget;
use crate::gate::verdict::{CheckReport, ReportedFinding};
use crate::input::layout_set::LayoutSet;
use crate::output;
use crate::page::{ComparedStruct, compared};
use crate::report::layout::diff_text::changed_figures;
use anyhow::Result;
use fieldline_access::access::AccessProfile;
use fieldline_check::set::pair_by_name;
use fieldline_check::{FindingLevel, TypeChange};
use fieldline_layout::Layout;
use std::path::Path;

/// Most structs on a page: it is there to be looked at.
const MAX_STRUCTS: usize = 50;

/// Writes the page of the structs that differ between two files.
pub(super) fn write_diff(path: &Path, (old, new): (&LayoutSet, &LayoutSet), lines: &[u64]) -> Result<()> {
    let pairs: Vec<(&Layout, &Layout, TypeChange)> = pair_by_name(&old.layouts, &new.layouts)
        .filter_map(|(before, now)| {
            let (before, now) = (before?, now?);
            Some((before, now, TypeChange::between(before, now, lines)?))
        })
        .collect();
    let structs = pairs.iter().take(MAX_STRUCTS).map(|(before, now, change)| ComparedStruct {
        before: Some(before),
        now,
        suffix: String::new(),
        line: new.line,
        accesses: None,
        verdict: format!("{}.", changed_figures(change).join(", ")),
        remarks: Vec::new(),
        change: Some(change),
    });
    let structs: Vec<ComparedStruct<'_>> = structs.collect();
    let subtitle = format!("{} and {}", old.file, new.file);
    write(path, &subtitle, &structs, (lines, left_out(pairs.len())))
}

/// Writes the page of the structs that were checked, those with findings first.
pub(super) fn write_check(
    path: &Path,
    verdict: &CheckReport,
    loaded: &[LoadedTarget<'_>],
    profile: Option<&AccessProfile>,
) -> Result<()> {
    let mut checked: Vec<CheckedPair<'_>> =
        loaded.iter().flat_map(|target| checked_pairs(verdict, target)).collect();
    checked.sort_by_key(|pair| pair.findings.is_empty());
    let structs: Vec<ComparedStruct<'_>> =
        checked.iter().take(MAX_STRUCTS).map(|pair| pair.compared(loaded.len() > 1, profile)).collect();
    let mut lines: Vec<u64> = loaded.iter().map(|target| target.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let notes = left_out(checked.len()).into_iter().chain(verdict.notes.iter().cloned()).collect();
    write(path, &format!("checked by {}", verdict.config), &structs, (&lines, notes))
}

/// A struct of a target, with what was found.
struct CheckedPair<'c> {
    target: &'c str,
    line: u64,
    now: &'c Layout,
    before: Option<&'c Layout>,
    change: Option<TypeChange>,
    findings: Vec<&'c ReportedFinding>,
}

fn checked_pairs<'c>(verdict: &'c CheckReport, target: &'c LoadedTarget<'_>) -> Vec<CheckedPair<'c>> {
    let name = target.config.name.as_str();
    let is_about = |found: &&ReportedFinding, layout: &Layout| {
        found.ty == layout.name && found.target.split(", ").any(|part| part == name)
    };
    let pair = |(now, before): (&'c Layout, Option<&'c Layout>)| CheckedPair {
        target: name,
        line: target.line,
        now,
        before,
        change: before.and_then(|before| TypeChange::between(before, now, &[target.line])),
        findings: verdict.findings.iter().filter(|found| is_about(found, now)).collect(),
    };
    target.pairs().into_iter().map(pair).collect()
}

impl<'c> CheckedPair<'c> {
    fn compared(&'c self, has_targets: bool, profile: Option<&'c AccessProfile>) -> ComparedStruct<'c> {
        let accesses = profile.and_then(|profile| Some((profile, profile.find_type(&self.now.name)?)));
        let figures = self.change.as_ref().map(|change| changed_figures(change).join(", "));
        let figures = figures.unwrap_or_else(|| match self.before {
            Some(_) => "unchanged".to_owned(),
            None => "nothing to compare with".to_owned(),
        });
        let counts = [FindingLevel::Error, FindingLevel::Warn]
            .map(|level| self.findings.iter().filter(|found| found.is_at(level)).count());
        ComparedStruct {
            before: self.before,
            now: self.now,
            suffix: if has_targets { format!(" ({})", self.target) } else { String::new() },
            line: self.line,
            accesses,
            verdict: format!("{} errors, {} warnings; {figures}.", counts[0], counts[1]),
            remarks: self.remarks(),
            change: self.change.as_ref(),
        }
    }

    fn remarks(&self) -> Vec<(&'static str, Vec<String>)> {
        let text = |found: &ReportedFinding| {
            let member =
                found.finding.member.as_ref().map(|member| format!("{member}: ")).unwrap_or_default();
            let level = if found.level == FindingLevel::Error { "error" } else { "warning" };
            let suppressed = found.suppressed.as_ref().map(|reason| format!("; suppressed: {reason}"));
            let suppressed = suppressed.unwrap_or_default();
            format!("{level}: {member}{} [{}]{suppressed}", found.finding.message, found.finding.rule.id())
        };
        let says: Vec<String> = self.findings.iter().map(|found| text(found)).collect();
        if says.is_empty() { Vec::new() } else { vec![("Findings", says)] }
    }
}

fn left_out(count: usize) -> Vec<String> {
    let more = count.saturating_sub(MAX_STRUCTS);
    if more == 0 { Vec::new() } else { vec![format!("{more} more structs are left out: name those to see")] }
}

fn write(
    path: &Path,
    subtitle: &str,
    structs: &[ComparedStruct<'_>],
    (lines, notes): (&[u64], Vec<String>),
) -> Result<()> {
    output::write_file(path, compared(subtitle, structs, (lines, notes)).html()?.as_bytes())
}
