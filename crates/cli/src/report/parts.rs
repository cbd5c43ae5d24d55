//! Parts of the texts of plans and of reports, which `--show` and `-v` add to the first screen.

/// A part of a plan's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanPart {
    /// The orders found, their figures in each build, and how the search went.
    Candidates,
    /// The terms of the cost.
    Cost,
    /// Why each member moves, what holds others, and comments to look at.
    Reasons,
    /// Groups of members that share lines, and structs that hold this one.
    Groups,
    /// Samples, visits, cross-validation, and the proof that nothing depends on the order.
    Evidence,
}

impl PlanPart {
    pub(crate) const ALL: [Self; 5] =
        [Self::Candidates, Self::Cost, Self::Reasons, Self::Groups, Self::Evidence];

    /// Its name as an argument.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Candidates => "candidates",
            Self::Cost => "cost",
            Self::Reasons => "reasons",
            Self::Groups => "groups",
            Self::Evidence => "evidence",
        }
    }
}

/// A part of a report on accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportPart {
    /// All members.
    Members,
    /// Functions.
    Functions,
    /// Pairs of members that the same functions touch.
    Pairs,
    /// Cachelines of each size.
    Lines,
    /// False and true sharing.
    Sharing,
}

impl ReportPart {
    pub(crate) const ALL: [Self; 5] =
        [Self::Members, Self::Functions, Self::Pairs, Self::Lines, Self::Sharing];

    /// Its name as an argument.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Members => "members",
            Self::Functions => "functions",
            Self::Pairs => "pairs",
            Self::Lines => "lines",
            Self::Sharing => "sharing",
        }
    }
}
