//! The rules with their levels.

use serde::{Deserialize, Serialize};

/// How much a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// It is not checked.
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

/// Defines the rules by rows: name, id, default level, what it finds.
macro_rules! rules {
    ($count:literal: $($name:ident, $id:literal, $level:ident, $summary:literal;)*) => {
        /// A rule; each has a page in docs/rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Rule {
            $(#[doc = $summary] #[serde(rename = $id)] $name,)*
        }

        impl Rule {
            /// All of them, in the order findings are shown.
            pub const ALL: [Self; $count] = [$(Self::$name),*];

            /// Its id.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id),* }
            }

            /// Its finding, in a sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary),* }
            }

            /// Its level unless the user sets another.
            pub fn default_level(self) -> FindingLevel {
                match self { $(Self::$name => FindingLevel::$level),* }
            }
        }
    };
}

rules! {
    17:
    SizeGrew, "size-grew", Warn, "The struct grew.";
    CachelinesGrew, "cachelines-grew", Error, "The struct covers more cachelines.";
    SlabClass, "slab-class", Warn, "kmalloc takes a larger size class for the struct.";
    OverBudget, "over-budget", Error, "The struct is larger than its budget.";
    NewHole, "new-hole", Warn, "More bytes lie unused between members.";
    NewPadding, "new-padding", Warn, "More bytes lie unused behind the last member.";
    AlignmentLost, "alignment-lost", Error, "The struct or a member lost alignment.";
    StraddlesLine, "straddles-line", Error, "A member came to lie on the boundary of two cachelines.";
    FirstMoved, "first-moved", Error, "Another member is first than the one pinned there.";
    LastMoved, "last-moved", Error, "Another member is last than the one pinned there.";
    GroupMarkers, "group-markers", Error, "A cacheline group's markers have no partner or nothing between them.";
    ContainerShifted, "container-shifted", Warn, "A struct held by value grew and pushed members to other cachelines.";
    HotMemberMovedLine, "hot-member-moved-line", Error, "A hot member left the cacheline of members it was hot with.";
    HotGroupSpread, "hot-group-spread", Error, "The hot members lie on more cachelines.";
    WrittenJoinedReadMostly, "written-joined-read-mostly", Error, "A written member came to a cacheline that is mostly read.";
    FalseSharingPair, "false-sharing-pair", Warn, "CPUs lose a member's cacheline to writes of other members.";
    TargetsDisagree, "targets-disagree", Warn, "A member straddles cachelines on some targets only.";
}

impl Rule {
    /// Whether it compares with an earlier layout.
    pub fn needs_before(self) -> bool {
        use Rule::{FalseSharingPair, FirstMoved, GroupMarkers, LastMoved, OverBudget, TargetsDisagree};
        !matches!(
            self,
            OverBudget | FirstMoved | LastMoved | GroupMarkers | FalseSharingPair | TargetsDisagree
        )
    }

    /// Whether it needs a profile.
    pub fn needs_profile(self) -> bool {
        use Rule::{FalseSharingPair, HotGroupSpread, HotMemberMovedLine, WrittenJoinedReadMostly};
        matches!(self, HotMemberMovedLine | HotGroupSpread | WrittenJoinedReadMostly | FalseSharingPair)
    }

    /// The unit of `allow`, for rules that have an allowance: bytes, cachelines or samples.
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
