//! The JSON of patches by mail (docs/formats.md).

use crate::gate::mailed::{JudgedPatch, MailedReport, ShownChange, TargetChanges};
use crate::gate::verdict::ReportedFinding;
use fieldline_check::change::TypeChange;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct MailDocument<'r> {
    format: &'static str,
    version: u32,
    config: &'r str,
    patches: Vec<PatchEntry<'r>>,
    notes: &'r [String],
}

#[derive(Serialize)]
struct PatchEntry<'r> {
    subject: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'r str>,
    refused: bool,
    targets: Vec<TargetEntry<'r>>,
    findings: &'r [ReportedFinding],
    notes: &'r [String],
}

#[derive(Serialize)]
struct TargetEntry<'r> {
    name: &'r str,
    structs: Vec<StructEntry<'r>>,
    missing: Vec<MissingEntry<'r>>,
    broken: Vec<BrokenEntry<'r>>,
    notes: &'r [String],
}

#[derive(Serialize)]
struct StructEntry<'r> {
    name: &'r str,
    unit: &'r str,
    /// Whether its declaration changes.
    touched: bool,
    /// Whether the configuration names it.
    judged: bool,
    /// Bytes; `null` where there is no such struct.
    size_before: Option<u64>,
    size_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'r TypeChange>,
}

#[derive(Serialize)]
struct MissingEntry<'r> {
    name: &'r str,
    file: &'r str,
    why: &'r str,
}

#[derive(Serialize)]
struct BrokenEntry<'r> {
    unit: &'r str,
    why: &'r str,
}

pub(super) fn document<'r>(report: &'r MailedReport<'_>, config: &'r str) -> MailDocument<'r> {
    let patches = report.patches.iter().map(patch_entry).collect();
    MailDocument { format: "fieldline-mail", version: 1, config, patches, notes: &report.notes }
}

fn patch_entry<'r>(patch: &'r JudgedPatch<'_>) -> PatchEntry<'r> {
    PatchEntry {
        subject: &patch.mail.subject,
        message_id: patch.mail.message_id.as_deref(),
        refused: patch.is_refused(),
        targets: patch.targets.iter().map(target_entry).collect(),
        findings: &patch.check.findings,
        notes: &patch.check.notes,
    }
}

fn target_entry(target: &TargetChanges) -> TargetEntry<'_> {
    TargetEntry {
        name: &target.target,
        structs: target.structs.iter().map(struct_entry).collect(),
        missing: target.missing.iter().map(|(name, file, why)| MissingEntry { name, file, why }).collect(),
        broken: target.broken.iter().map(|(unit, why)| BrokenEntry { unit, why }).collect(),
        notes: &target.notes,
    }
}

fn struct_entry(change: &ShownChange) -> StructEntry<'_> {
    StructEntry {
        name: &change.name,
        unit: &change.unit,
        touched: change.is_touched,
        judged: change.is_judged,
        size_before: change.size_before,
        size_after: change.size_after,
        change: change.change.as_ref(),
    }
}
