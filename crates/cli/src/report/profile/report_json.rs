//! A report as JSON (docs/formats.md).

use crate::report::profile::heat::TypeHeat;
use crate::report::profile::sharing_text::label;
use crate::report::profile::turns_text::{false_turns, touched_in_turns};
use fieldline_access::access::TypeProfile;
use fieldline_layout::layout::Layout;
use fieldline_plan::cost::false_sharing::find_contended;
use serde::Serialize;

/// The document.
#[derive(Debug, Serialize)]
pub(crate) struct ReportDocument {
    format: &'static str,
    version: u32,
    types: Vec<ReportedType>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReportedType {
    name: String,
    /// Bytes.
    size: u64,
    samples: u64,
    members: Vec<ReportedMember>,
    /// Empty if there is none, or if the recording can't show any: `sharing_evidence` tells them apart.
    false_sharing: Vec<FalselyShared>,
    sharing_evidence: Evidence,
}

#[derive(Debug, Serialize)]
struct ReportedMember {
    offset: u64,
    size: u64,
    name: String,
    loads: u64,
    stores: u64,
}

/// The evidence that CPUs take lines from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Evidence {
    /// Samples that found a line lost to another CPU.
    LostLines,
    /// Turns of CPUs on lines, by the times of samples: what they cost isn't known.
    Turns,
    /// Nothing: no addresses, or one CPU only.
    None,
}

/// A member that loses its line to writes of other members.
#[derive(Debug, Serialize)]
struct FalselyShared {
    /// Bytes.
    line_size: u64,
    /// Number of the line in an object that begins on one.
    line: u64,
    offset: u64,
    name: String,
    evidence: Evidence,
    /// Samples that found it lost for that reason, or turns.
    count: u64,
    /// The other members, those written most first.
    written: Vec<WrittenMember>,
}

#[derive(Debug, Serialize)]
struct WrittenMember {
    offset: u64,
    name: String,
    /// Stores sampled, or turns.
    count: u64,
}

impl ReportDocument {
    pub(crate) fn new(types: Vec<ReportedType>) -> Self {
        Self { format: "fieldline-report", version: 1, types }
    }
}

impl ReportedType {
    /// A struct, for some line sizes.
    pub(crate) fn new(
        heat: &TypeHeat,
        profile: &TypeProfile,
        layout: Option<&Layout>,
        lines: &[u64],
    ) -> Self {
        let member = |member: &super::heat::MemberHeat| {
            let (offset, size, name) = (member.offset, member.size, member.label.clone());
            ReportedMember { offset, size, name, loads: member.loads, stores: member.stores }
        };
        let sharing_evidence = match (profile.shows_lost_lines(), profile.turns.is_empty()) {
            (true, _) => Evidence::LostLines,
            (false, false) => Evidence::Turns,
            (false, true) => Evidence::None,
        };
        let falsely = lines.iter().flat_map(|line| match sharing_evidence {
            Evidence::LostLines => by_lost_lines(profile, *line, layout),
            Evidence::Turns => by_turns(profile, *line, layout),
            Evidence::None => Vec::new(),
        });
        Self {
            name: heat.name.clone(),
            size: heat.size,
            samples: heat.samples(),
            members: heat.members.iter().map(member).collect(),
            false_sharing: falsely.collect(),
            sharing_evidence,
        }
    }
}

fn by_lost_lines(profile: &TypeProfile, line: u64, layout: Option<&Layout>) -> Vec<FalselyShared> {
    let found = find_contended(profile, line).into_iter().filter(|place| place.is_false());
    let shared = found.map(|place| FalselyShared {
        line_size: line,
        line: place.offset / line.max(1),
        offset: place.offset,
        name: label(layout, place.offset),
        evidence: Evidence::LostLines,
        count: place.false_losses.round() as u64,
        written: place
            .writers
            .iter()
            .map(|writer| WrittenMember {
                offset: writer.offset,
                name: label(layout, writer.offset),
                count: writer.at_home.saturating_add(writer.away),
            })
            .collect(),
    });
    shared.collect()
}

fn by_turns(profile: &TypeProfile, line: u64, layout: Option<&Layout>) -> Vec<FalselyShared> {
    let members = false_turns(profile, line).map(touched_in_turns).unwrap_or_default();
    let shared = members.into_iter().map(|member| {
        let written = member.written.iter().map(|pair| WrittenMember {
            offset: pair.written,
            name: label(layout, pair.written),
            count: pair.turns,
        });
        FalselyShared {
            line_size: line,
            line: member.offset / line.max(1),
            offset: member.offset,
            name: label(layout, member.offset),
            evidence: Evidence::Turns,
            count: member.turns,
            written: written.collect(),
        }
    });
    shared.collect()
}
