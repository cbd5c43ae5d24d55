//! Which rules there are.

use serde::{Deserialize, Serialize};

/// How much a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// It is not looked for.
    Off,
    /// It is shown.
    Warn,
    /// It fails the check.
    Error,
}

impl FindingLevel {
    /// Its name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// A rule; each has a page in docs/rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The struct grew.
    SizeGrew,
    /// It covers more cachelines.
    CachelinesGrew,
    /// `kmalloc` takes more for it.
    SlabClass,
    /// It is larger than its budget.
    OverBudget,
    /// More lies unused between members.
    NewHole,
    /// More lies unused behind the last member.
    NewPadding,
    /// The struct or a member lost alignment.
    AlignmentLost,
    /// A member came to lie on the boundary of two lines.
    StraddlesLine,
    /// Another member is first than should.
    FirstMoved,
    /// Another member is last than should.
    LastMoved,
    /// Markers of a cacheline group without partner or with nothing between them.
    GroupMarkers,
    /// A struct held by value grew and pushed members to other lines.
    ContainerShifted,
    /// A hot member left the line of those it was hot with.
    HotMemberMovedLine,
    /// The hot members lie on more lines.
    HotGroupSpread,
    /// A written member came to a line that is mostly read.
    WrittenJoinedReadMostly,
    /// CPUs lose a member's line to writes of other members.
    FalseSharingPair,
    /// A member straddles a line on some machines only.
    TargetsDisagree,
}

impl Rule {
    /// All of them, in the order findings are shown.
    pub const ALL: [Self; 17] = [
        Self::SizeGrew,
        Self::CachelinesGrew,
        Self::SlabClass,
        Self::OverBudget,
        Self::NewHole,
        Self::NewPadding,
        Self::AlignmentLost,
        Self::StraddlesLine,
        Self::FirstMoved,
        Self::LastMoved,
        Self::GroupMarkers,
        Self::ContainerShifted,
        Self::HotMemberMovedLine,
        Self::HotGroupSpread,
        Self::WrittenJoinedReadMostly,
        Self::FalseSharingPair,
        Self::TargetsDisagree,
    ];

    /// Its id.
    pub fn id(self) -> &'static str {
        match self {
            Self::SizeGrew => "size-grew",
            Self::CachelinesGrew => "cachelines-grew",
            Self::SlabClass => "slab-class",
            Self::OverBudget => "over-budget",
            Self::NewHole => "new-hole",
            Self::NewPadding => "new-padding",
            Self::AlignmentLost => "alignment-lost",
            Self::StraddlesLine => "straddles-line",
            Self::FirstMoved => "first-moved",
            Self::LastMoved => "last-moved",
            Self::GroupMarkers => "group-markers",
            Self::ContainerShifted => "container-shifted",
            Self::HotMemberMovedLine => "hot-member-moved-line",
            Self::HotGroupSpread => "hot-group-spread",
            Self::WrittenJoinedReadMostly => "written-joined-read-mostly",
            Self::FalseSharingPair => "false-sharing-pair",
            Self::TargetsDisagree => "targets-disagree",
        }
    }

    /// What it finds, in a sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Self::SizeGrew => "The struct grew.",
            Self::CachelinesGrew => "The struct covers more cachelines.",
            Self::SlabClass => "kmalloc takes a larger size class for the struct.",
            Self::OverBudget => "The struct is larger than its budget.",
            Self::NewHole => "More bytes lie unused between members.",
            Self::NewPadding => "More bytes lie unused behind the last member.",
            Self::AlignmentLost => "The struct or a member lost alignment.",
            Self::StraddlesLine => "A member came to lie on the boundary of two cachelines.",
            Self::FirstMoved => "Another member is first than the one pinned there.",
            Self::LastMoved => "Another member is last than the one pinned there.",
            Self::GroupMarkers => "A cacheline group's markers have no partner or nothing between them.",
            Self::ContainerShifted => "A struct held by value grew and pushed members to other cachelines.",
            Self::HotMemberMovedLine => "A hot member left the cacheline of members it was hot with.",
            Self::HotGroupSpread => "The hot members lie on more cachelines.",
            Self::WrittenJoinedReadMostly => "A written member came to a cacheline that is mostly read.",
            Self::FalseSharingPair => "CPUs lose a member's cacheline to writes of other members.",
            Self::TargetsDisagree => "A member straddles cachelines on some targets only.",
        }
    }

    /// Its level unless the user sets another.
    pub fn default_level(self) -> FindingLevel {
        match self {
            Self::SizeGrew
            | Self::SlabClass
            | Self::NewHole
            | Self::NewPadding
            | Self::ContainerShifted
            | Self::FalseSharingPair
            | Self::TargetsDisagree => FindingLevel::Warn,
            _ => FindingLevel::Error,
        }
    }

    /// Whether it compares with an earlier layout.
    pub fn needs_before(self) -> bool {
        !matches!(
            self,
            Self::OverBudget
                | Self::FirstMoved
                | Self::LastMoved
                | Self::GroupMarkers
                | Self::FalseSharingPair
                | Self::TargetsDisagree
        )
    }

    /// Whether it needs to know what is hot.
    pub fn needs_profile(self) -> bool {
        matches!(
            self,
            Self::HotMemberMovedLine
                | Self::HotGroupSpread
                | Self::WrittenJoinedReadMostly
                | Self::FalseSharingPair
        )
    }

    /// What `allow` counts, for rules that have a budget: bytes, cachelines or samples.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::SizeGrew | Self::NewHole | Self::NewPadding => Some("bytes"),
            Self::CachelinesGrew | Self::HotGroupSpread => Some("cachelines"),
            Self::FalseSharingPair => Some("samples"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_files() {
        for rule in Rule::ALL {
            let text = serde_json::to_string(&rule).unwrap();
            assert_eq!(text, format!("\"{}\"", rule.id()));
        }
    }

    #[test]
    fn all_rules_are_listed_once_and_in_order() {
        assert!(Rule::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
