//! What is asked for.

use crate::cost::Elsewhere;
use crate::result::{Basis, FORMAT, Outcome, Plan, StructPlan, VERSION, held, unchanged};
use fieldline_layout::Layout;
use fieldline_layout::constraint::{Constraints, ReorderRefusal, Wishes, constraints, limits};

/// What is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Line sizes in bytes, powers of two.
    pub lines: Vec<u64>,
    /// Line size in bytes of the machine that the layouts were compiled for.
    pub build_line: u64,
    /// Which candidate is proposed.
    pub choice: Choice,
    /// Most members that move.
    pub max_moves: Option<usize>,
    /// How often the whole is done again on resamples of the time, to see what of the advice is chance; 0: not at all.
    pub resamples: usize,
    /// Whether the machine fetches lines in pairs (x86's spatial prefetcher): members on one pair then help each other
    /// and disturb each other, by less than on one line.
    pub adjacent_lines: bool,
    /// Other builds in which no order may be worse than the declared one.
    pub elsewhere: Vec<Elsewhere>,
    /// Size of a pointer in bytes on the recorded machine.
    pub pointer: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            lines: vec![64, 128],
            build_line: 64,
            choice: Choice::Best,
            max_moves: None,
            resamples: 0,
            adjacent_lines: false,
            elsewhere: Vec::new(),
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
        }
    }
}

/// A struct to plan.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its declared layout, the one the profile was made with.
    pub layout: &'a Layout,
    /// What the source and the user say.
    pub wishes: &'a Wishes,
}

impl Request<'_> {
    /// A plan under the constraints; a refusal says what holds each member if nothing may move.
    pub(crate) fn plan(&self, plan: impl FnOnce(&Constraints) -> StructPlan) -> StructPlan {
        match constraints(self.layout, self.wishes) {
            Ok(constraints) => StructPlan { held: held(&constraints), ..plan(&constraints) },
            Err(refusal) => {
                let mut result = unchanged(self.layout, Outcome::Refused, &refusal.to_string());
                if let (ReorderRefusal::Fixed, Ok(limits)) = (&refusal, limits(self.layout, self.wishes)) {
                    result.held = held(&limits);
                }
                result
            }
        }
    }
}

/// Which candidate is proposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The one that costs least.
    #[default]
    Best,
    /// The one from which on each further moved member brings less than the mean (the knee of the front).
    Smallest,
    /// By its number, from 1 on.
    Number(usize),
}

impl Choice {
    /// The index of the candidate among some, if there is one.
    pub(crate) fn index(self, candidates: usize, smallest: Option<usize>) -> Option<usize> {
        match self {
            Self::Best => candidates.checked_sub(1),
            Self::Smallest => smallest,
            Self::Number(number) => number.checked_sub(1).filter(|index| *index < candidates),
        }
    }

    /// What to say if there are candidates, but not the one of that number.
    pub(crate) fn missing(self, candidates: usize) -> Option<String> {
        match self {
            Self::Number(number) if candidates > 0 => {
                Some(format!("there is no candidate {number}; there are {candidates}"))
            }
            _ => None,
        }
    }
}
