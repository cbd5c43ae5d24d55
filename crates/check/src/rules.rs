//! The rules of `fieldline check`.
//!
//! * `rule`: their ids, default levels and inputs.
//! * `subject`: a struct to check, with its earlier layout and its hot members.
//! * `shape`: sizes, holes, alignment.
//! * `location`: straddled lines, pins, markers, embedded structs that grew.
//! * `heat`: hot members, and `hot`: their lines.
//! * `sharing`: false sharing; `locks`: contended locks.
//! * `moves`: places for members that mend a finding.
//! * `targets`: one struct on several machines.

pub mod heat;
mod hot;
pub mod location;
mod locks;
mod moves;
pub mod rule;
pub mod shape;
pub mod sharing;
pub mod subject;
pub mod targets;

pub use heat::HotMembers;
pub use rule::{FindingLevel, Rule};
pub use subject::{CheckedStruct, ContendedLock, Finding, PinnedEnds, RecordedStruct, Settings, SizeBudget};
pub use targets::find_disagreements;

/// All findings of the rules about a struct on one machine, sorted by rule.
pub fn check_struct(subject: &CheckedStruct<'_>, settings: &Settings) -> Vec<Finding> {
    let mut found = shape::check(subject, settings);
    found.extend(location::check(subject));
    found.extend(hot::check(subject, settings));
    found.extend(sharing::check(subject, settings));
    found.extend(locks::check(subject, settings));
    found.retain(|finding| settings.level(finding.rule) != FindingLevel::Off);
    found.sort_by_key(|finding| finding.rule);
    found
}
