//! Options of a plan.

use crate::cost::AlternateBuild;
use crate::decision::Decision;
use crate::result::{Basis, ConstrainedMember, FORMAT, Plan, StructPlan, VERSION, constrained_members};
use fieldline_access::AccessProfile;
use fieldline_layout::Layout;
use fieldline_layout::constraint::{
    Constraints, PlacementRequests, ReorderRefusal, constraints, constraints_for_new_member,
};

/// A part of a fleet: hosts with one label.
#[derive(Clone, Debug, PartialEq)]
pub struct Cohort {
    /// The label's value.
    pub name: String,
    /// Their profile.
    pub profile: AccessProfile,
}

/// Options: under which line sizes and builds orders are judged, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// Line sizes in bytes, powers of two.
    pub lines: Vec<u64>,
    /// Line size in bytes of the machine that the layouts were compiled for.
    pub build_line: u64,
    /// Which candidate is proposed.
    pub choice: CandidateChoice,
    /// Most members that move.
    pub max_moves: Option<usize>,
    /// Number of block-bootstrap resamples on which the plan is repeated.
    pub resamples: usize,
    /// Whether the machine fetches lines in pairs (x86's spatial prefetcher): members on one pair then help
    /// each other and disturb each other, by less than on one line.
    pub adjacent_lines: bool,
    /// Other builds in which no order may be worse than the declared one.
    pub other_builds: Vec<AlternateBuild>,
    /// Parts of a fleet whose figures are wanted besides those of all.
    pub cohorts: Vec<Cohort>,
    /// Whether no order may be worse than the declared one in a cohort with enough samples.
    pub no_cohort_worse: bool,
    /// Size of a pointer in bytes on the recorded machine.
    pub pointer: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            lines: vec![64, 128],
            build_line: 64,
            choice: CandidateChoice::default(),
            max_moves: None,
            resamples: 0,
            adjacent_lines: false,
            other_builds: Vec::new(),
            cohorts: Vec::new(),
            no_cohort_worse: false,
            pointer: 8,
        }
    }
}

impl PlanOptions {
    /// A plan of structs.
    pub(crate) fn plan(&self, basis: Basis, structs: Vec<StructPlan>) -> Plan {
        Plan {
            format: FORMAT.to_owned(),
            version: VERSION,
            basis,
            lines: self.lines.clone(),
            build_line: self.build_line,
            structs,
            together: Vec::new(),
        }
    }
}

/// A struct to plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    /// Its declared layout, the one the profile was made with.
    pub layout: &'a Layout,
    /// Requests of the source and the user.
    pub requests: &'a PlacementRequests,
}

impl PlanRequest<'_> {
    /// A plan under the constraints; a refusal names each member's constraint if nothing may move.
    pub(crate) fn plan(&self, plan: impl FnOnce(&Constraints) -> StructPlan) -> StructPlan {
        match constraints(self.layout, self.requests) {
            Ok(limits) => StructPlan { constraints: self.constrained(&limits), ..plan(&limits) },
            Err(refusal) => {
                let (constraints, reason) = self.refuse(&refusal);
                StructPlan { constraints, ..Decision::Refuse(reason).plan(self.layout) }
            }
        }
    }

    /// The members with constraints, and the refusal as a sentence that names the first of these if nothing may move.
    pub(crate) fn refuse(&self, refusal: &ReorderRefusal) -> (Vec<ConstrainedMember>, String) {
        let limits = constraints_for_new_member(self.layout, self.requests).ok();
        let Some(limits) = limits.filter(|_| matches!(refusal, ReorderRefusal::Fixed)) else {
            return (Vec::new(), refusal.to_string());
        };
        let found = self.constrained(&limits);
        // That the compiler places something is said of others only by what holds them.
        let is_declared = |held: &&ConstrainedMember| {
            self.layout.members.get(held.index).is_some_and(|member| !member.is_inherited())
        };
        let reason = match found.iter().find(is_declared).or(found.first()) {
            Some(first) => {
                let label = self.layout.members.get(first.index).map_or("", |member| member.label());
                format!("{label}: {}", first.reason)
            }
            None if limits.units.len() > 1 => "each stands alone between what nothing may pass".to_owned(),
            None if self.layout.members.len() > 1 => "they are declared as one".to_owned(),
            None => "it has only one".to_owned(),
        };
        (found, format!("{refusal}: {reason}"))
    }

    /// Members that may not move freely, those that code keeps together among them.
    fn constrained(&self, limits: &Constraints) -> Vec<ConstrainedMember> {
        let mut found = constrained_members(limits);
        for run in &self.requests.runs {
            for index in run.first..=run.last {
                let reason = format!("stays with its neighbours: {}", run.reason);
                if !found.iter().any(|known| known.index == index) {
                    found.push(ConstrainedMember { index, reason });
                }
            }
        }
        found.sort_by_key(|member| member.index);
        found
    }
}

/// Which candidate is proposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CandidateChoice {
    /// The least to read among those that keep most of what the best one gains.
    #[default]
    Recommended,
    /// The one that costs least.
    Best,
    /// The one from which on each further moved member brings less than the mean (the knee of the front).
    Smallest,
    /// By its number, from 1 on.
    Number(usize),
}

impl CandidateChoice {
    /// The index of the candidate among some, if there is one.
    pub(crate) fn index(
        self,
        candidates: usize,
        smallest: Option<usize>,
        recommended: Option<usize>,
    ) -> Option<usize> {
        match self {
            Self::Recommended => recommended.or(candidates.checked_sub(1)),
            Self::Best => candidates.checked_sub(1),
            Self::Smallest => smallest,
            Self::Number(number) => number.checked_sub(1).filter(|index| *index < candidates),
        }
    }

    /// The message if there are candidates, but not the one of that number.
    pub(crate) fn describe_missing(self, candidates: usize) -> Option<String> {
        match self {
            Self::Number(number) if candidates > 0 && !(1..=candidates).contains(&number) => {
                Some(format!("there is no candidate {number}; there are {candidates}"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::constraint::MemberRun;
    use fieldline_layout::testing::numbered;

    /// Born from a bug: a candidate that exists but is doubted was said not to exist.
    #[test]
    fn only_numbers_of_no_candidate_are_missing() {
        let missing = |number, candidates| CandidateChoice::Number(number).describe_missing(candidates);
        assert_eq!(missing(3, 5), None);
        assert_eq!(missing(5, 5), None);
        assert_eq!(missing(1, 0), None);
        assert_eq!(missing(6, 5).as_deref(), Some("there is no candidate 6; there are 5"));
        assert_eq!(CandidateChoice::Best.describe_missing(5), None);
    }

    fn reason(members: usize, requests: &PlacementRequests) -> String {
        let layout = numbered("s", &vec![(8, 8); members]);
        let request = PlanRequest { layout: &layout, requests };
        let plan = request.plan(|_| StructPlan::default());
        plan.reason().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_refusal_always_has_a_reason() {
        let run = MemberRun { first: 0, last: 1, reason: "walked (a.c:1)".to_owned() };
        let runs = PlacementRequests { runs: vec![run], ..PlacementRequests::default() };
        let reason_of_run = reason(2, &runs);
        assert!(reason_of_run.ends_with(": stays with its neighbours: walked (a.c:1)"), "{reason_of_run}");
        assert_eq!(reason(1, &PlacementRequests::default()), "none of its members may move: it has only one");
    }

    #[test]
    fn members_that_stay_together_are_listed() {
        let run = MemberRun { first: 1, last: 2, reason: "walked (a.c:1)".to_owned() };
        let requests = PlacementRequests { runs: vec![run], ..PlacementRequests::default() };
        let layout = numbered("s", &[(8, 8); 4]);
        let plan = PlanRequest { layout: &layout, requests: &requests }.plan(|_| StructPlan::default());
        let listed: Vec<usize> = plan.constraints.iter().map(|member| member.index).collect();
        assert_eq!(listed, [1, 2]);
    }
}
