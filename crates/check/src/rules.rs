//! The rules of a gate: what a layout must not become.
//!
//! * `rule`: their ids, default levels and what they need.
//! * `subject`: a struct to judge, with what it was before and what is hot in it.
//! * `shape`: sizes, holes, alignment.
//! * `place`: lines straddled, pins, markers, structs that grew inside others.
//! * `heat`: which members are hot, and `hot`: their lines.
//! * `sharing`: members whose line other CPUs take.
//! * `matrix`: one struct on several machines.

pub mod heat;
mod hot;
pub mod matrix;
pub mod place;
pub mod rule;
pub mod shape;
pub mod sharing;
pub mod subject;

pub use heat::Heat;
pub use matrix::disagreements;
pub use rule::{FindingLevel, Rule};
pub use subject::{Budget, Ends, Finding, Recorded, Settings, Subject};

/// Everything the rules find in a struct on one machine, rule after rule.
pub fn judge(subject: &Subject<'_>, settings: &Settings) -> Vec<Finding> {
    let mut found = shape::judge(subject, settings);
    found.extend(place::judge(subject));
    found.extend(hot::judge(subject, settings));
    found.extend(sharing::judge(subject, settings));
    found.retain(|finding| settings.level(finding.rule) != FindingLevel::Off);
    found.sort_by_key(|finding| finding.rule);
    found
}
