//! Orders for some structs, and the checks a plan read back must pass.

use super::arrangement::Arrangement;
use super::confidence::{Confidence, VisitEvidence};
use super::embedding::Embedding;
use super::forecast::{BuildNote, Candidate, CohortForecast, Forecast, Group, SizeForecast, Term};
use super::proof::{Insistence, UseProof};
use super::together::{AlignedPart, Together};
use fieldline_layout::constraint::Constraints;
use fieldline_layout::{Layout, abi, line_number};
use serde::{Deserialize, Serialize};

/// Value of [`Plan::format`].
pub const FORMAT: &str = "fieldline-plan";
/// Value of [`Plan::version`] this crate writes and reads.
pub const VERSION: u32 = 1;

/// Orders for some structs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Always [`FORMAT`].
    pub format: String,
    /// Format version.
    pub version: u32,
    /// The basis of the orders.
    #[serde(default, skip_serializing_if = "Basis::is_profile")]
    pub basis: Basis,
    /// Line sizes in bytes that were judged.
    pub lines: Vec<u64>,
    /// Line size in bytes of the machine that the layouts were compiled for.
    pub build_line: u64,
    /// One for each struct asked for, in that order.
    pub structs: Vec<StructPlan>,
    /// Structs that hold several of these side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Together>,
}

/// The basis of the orders of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A profile: which members are touched, and which together.
    #[default]
    Profile,
    /// The layout alone: orders are smaller, hot members aren't known.
    Layout,
}

impl Basis {
    fn is_profile(&self) -> bool {
        *self == Self::Profile
    }
}

/// The kind of a [`Verdict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Members move.
    Moved,
    /// No order is worth a change.
    NoGain,
    /// The members can't be reordered.
    Refused,
    /// Advice needs more samples.
    TooFewSamples,
}

/// The outcome for a struct, with its reason: there is one unless members move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Verdict {
    /// Members move.
    Moved {
        /// The cost of keeping pins that the declared order breaks, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// No order is worth a change; `chosen` equals `declared`.
    NoGain {
        /// Why.
        reason: String,
    },
    /// The members can't be reordered, or the recording doesn't show how; `chosen` equals `declared`.
    Refused {
        /// Why.
        reason: String,
    },
    /// Advice needs more samples; `chosen` equals `declared`.
    TooFewSamples {
        /// How many there are and how many are needed.
        reason: String,
    },
}

impl Verdict {
    /// Its kind.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Moved { .. } => Outcome::Moved,
            Self::NoGain { .. } => Outcome::NoGain,
            Self::Refused { .. } => Outcome::Refused,
            Self::TooFewSamples { .. } => Outcome::TooFewSamples,
        }
    }

    /// Its reason.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Moved { reason } => reason.as_deref(),
            Self::NoGain { reason } | Self::Refused { reason } | Self::TooFewSamples { reason } => {
                Some(reason)
            }
        }
    }
}

impl Default for Verdict {
    fn default() -> Self {
        Self::NoGain { reason: "no order is worth a change".to_owned() }
    }
}

/// The order chosen for one struct, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StructPlan {
    /// Tag.
    pub name: String,
    /// [`Layout::fingerprint`] of the declared layout.
    pub fingerprint: u64,
    /// File that declares it, if debug info has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line that declares it.
    #[serde(default, with = "line_number")]
    pub line: Option<u32>,
    /// The outcome and why.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The layout as compiled.
    pub declared: Arrangement,
    /// The layout as proposed.
    pub chosen: Arrangement,
    /// Orders that touch the fewest lines for the number of members they move, by that number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// Lines that visits touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forecasts: Vec<Forecast>,
    /// Sizes of the struct.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeForecast>,
    /// Notes on the other builds that orders should be judged in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<BuildNote>,
    /// Lines that visits touch in parts of a fleet, if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cohorts: Vec<CohortForecast>,
    /// Members that share lines in the chosen order, by offset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// Structs whose size changes with this one's, because they hold it by value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub embedded_in: Vec<Embedding>,
    /// Members that move among the others, in declared order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedMember>,
    /// Members that the patch aligns, by declared index, and to how many bytes: of holders alone.
    #[serde(skip)]
    pub aligned: Vec<(usize, u64)>,
    /// Members that may not move freely, in declared order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "held")]
    pub constraints: Vec<ConstrainedMember>,
    /// Members under `#if`, in declared order; none without a source tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionalMember>,
    /// Whether the pins about cachelines, and others that the declared layout breaks, are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<PinReport>,
    /// The proof that no use of the struct depends on the order; none without a source tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<UseProof>,
    /// Uses that depend on the order, if the user insists that it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insistence: Option<Insistence>,
    /// Further notes, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Comments of the declaration that speak of places near members that move: a reader has to look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<CommentToCheck>,
    /// Configurations without some members in which the order takes more cachelines than the declared one, a
    /// sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grows: Vec<String>,
    /// Samples of the struct.
    pub samples: u64,
    /// Samples that advice needs at least.
    pub needed: u64,
    /// The evidence for the visits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<VisitEvidence>,
    /// How sure the search is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchReport>,
    /// Cross-validation and block bootstrap, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The terms of the cost of the declared and of the chosen order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
}

impl StructPlan {
    /// A holder as a struct of the plan whose members keep their order, if it gets alignments.
    pub fn of_holder(found: &Together) -> Option<Self> {
        let own = found.declaration.as_ref()?;
        let index = |aligned: &AlignedPart| {
            let is_named = |name: &Option<String>| name.as_deref() == Some(&aligned.member);
            let placed = own.declared.members.iter().find(|placed| is_named(&placed.name))?;
            Some((placed.index, aligned.to))
        };
        Some(Self {
            name: found.holder.clone(),
            fingerprint: own.fingerprint,
            file: own.file.clone(),
            line: own.line,
            verdict: Verdict::Moved { reason: None },
            declared: own.declared.clone(),
            chosen: own.chosen.clone(),
            aligned: found.aligned.iter().filter_map(index).collect(),
            ..Self::default()
        })
    }
}

/// A member that moves, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MovedMember {
    /// Index in declared order.
    pub index: usize,
    /// Name; absent for an anonymous struct or union.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Byte offset before.
    pub from: u64,
    /// Byte offset after.
    pub to: u64,
    /// Loads sampled.
    pub loads: u64,
    /// Stores sampled.
    pub stores: u64,
    /// CPUs that touched it.
    #[serde(default)]
    pub cpus: usize,
    /// Share of the struct's accesses.
    pub share: f64,
    /// Functions that touch it most, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// Members it now shares a cacheline with that are touched in the same visits, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// All of it in a sentence.
    pub reason: String,
}

/// A member that may not move freely, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstrainedMember {
    /// Index in declared order.
    pub index: usize,
    /// Why.
    pub reason: String,
}

/// A member that stands under `#if` in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionalMember {
    /// Index in declared order.
    pub index: usize,
    /// The conditions around it, outermost first; one that has to fail begins with `not`.
    pub conditions: Vec<String>,
}

/// A comment that speaks of places where members move, such as `/* protects the fields below */`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentToCheck {
    /// Its file, from the top of the tree.
    pub file: String,
    /// 1-based line it begins on.
    pub line: u32,
    /// Its text on one line, cut if long.
    pub text: String,
    /// Declared indices of the members it is about; none if it stands alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<usize>,
}

/// A pin and which layout keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinReport {
    /// The pin and where it comes from.
    pub pin: String,
    /// Whether the declared layout keeps it.
    pub declared: bool,
    /// Whether the chosen one does.
    pub chosen: bool,
}

/// How a search went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchReport {
    /// Whether no order is cheaper than the best one found: all were tried, or the bound is met.
    pub optimal: bool,
    /// Independent searches.
    pub chains: usize,
    /// By how much the worst search's result costs more than the best one's, as a share.
    pub spread: f64,
    /// Cost of the order that the plan chose.
    #[serde(default)]
    pub cost: u64,
    /// No order costs less than this.
    #[serde(default)]
    pub lower_bound: u64,
    /// Share of `cost` above `lower_bound`, rounded up: 0 only if no order is cheaper.
    #[serde(default)]
    pub gap: f64,
}

impl Plan {
    /// Checks format and version of a plan that was read back.
    ///
    /// # Errors
    /// If either is another one.
    pub fn check_format(&self) -> Result<(), PlanError> {
        if self.format != FORMAT {
            return Err(PlanError::Format(self.format.clone()));
        }
        if self.version != VERSION {
            return Err(PlanError::Version(self.version));
        }
        Ok(())
    }

    /// The plan of a struct.
    pub fn find_struct(&self, name: &str) -> Option<&StructPlan> {
        self.structs.iter().find(|plan| plan.name == name)
    }

    /// The planned structs, then the holders whose declarations the plan changes.
    pub fn structs_and_holders(&self) -> Vec<StructPlan> {
        let holders = self.together.iter().filter_map(StructPlan::of_holder);
        self.structs.iter().cloned().chain(holders).collect()
    }
}

impl StructPlan {
    /// Declared indices in chosen order.
    pub fn order(&self) -> Vec<usize> {
        self.chosen.members.iter().map(|member| member.index).collect()
    }

    /// The plan of a struct that can't be read: nothing is known of its members.
    pub fn refused(name: &str, reason: String) -> Self {
        Self { name: name.to_owned(), verdict: Verdict::Refused { reason }, ..Self::default() }
    }

    /// The kind of outcome.
    pub fn outcome(&self) -> Outcome {
        self.verdict.outcome()
    }

    /// The reason of the outcome: of any but that members move.
    pub fn reason(&self) -> Option<&str> {
        self.verdict.reason()
    }

    /// The proof as a sentence without its full stop.
    pub fn proof_sentence(&self) -> Option<String> {
        let use_of_it = if self.insistence.is_some() { "other use" } else { "use" };
        self.proof.map(|proof| format!("no {use_of_it} depends on this order: {}", proof.describe()))
    }

    /// Whether anything moves.
    pub fn changes(&self) -> bool {
        self.outcome() == Outcome::Moved
    }

    /// The layout the plan predicts for a struct, computed anew from its order.
    ///
    /// # Errors
    /// If the plan was made for another layout, or doesn't hold what its order gives.
    pub fn predicted(&self, layout: &Layout) -> Result<Layout, PlanError> {
        let (name, actual) = (self.name.clone(), layout.fingerprint());
        if self.name != layout.name || self.fingerprint != actual {
            return Err(PlanError::OtherLayout { name, planned: self.fingerprint, actual });
        }
        let order = self.order();
        let Some(placed) = abi::reorder(layout, &order) else { return Err(PlanError::NotAnOrder(name)) };
        for (planned, member) in self.chosen.members.iter().zip(&placed.members) {
            let bit_offset = planned.bit_offset.unwrap_or_else(|| planned.offset.saturating_mul(8));
            if bit_offset != member.bit_offset {
                let (index, placed) = (planned.index, member.bit_offset);
                return Err(PlanError::OtherOffset { name, index, planned: bit_offset, placed });
            }
        }
        match self.chosen.size {
            size if size == placed.size => Ok(placed),
            planned => Err(PlanError::OtherSize { name, planned, placed: placed.size }),
        }
    }
}

pub(crate) fn constrained_members(constraints: &Constraints) -> Vec<ConstrainedMember> {
    let units = constraints.units.iter();
    let held = units.filter_map(|unit| Some((unit, &unit.constraint.as_ref()?.reason)));
    let member = |index: &usize, reason: &String| ConstrainedMember { index: *index, reason: reason.clone() };
    held.flat_map(|(unit, reason)| unit.members.iter().map(move |index| member(index, reason))).collect()
}

/// Why a plan can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Something else than a plan.
    #[error("format is {0:?}, not {FORMAT:?}")]
    Format(String),
    /// A plan of another version.
    #[error("plan version is {0}; this program reads version {VERSION}")]
    Version(u32),
    /// The struct has changed since, or is another one.
    #[error(
        "plan for another layout of struct {name}: it has fingerprint {planned:#018x}, the layout {actual:#018x}"
    )]
    OtherLayout {
        /// Tag.
        name: String,
        /// The plan's fingerprint.
        planned: u64,
        /// The layout's.
        actual: u64,
    },
    /// Members are missing or doubled.
    #[error("struct {0}: the chosen members are no order of the declared ones")]
    NotAnOrder(String),
    /// An offset isn't what the C ABI gives the order.
    #[error(
        "struct {name}: member {index} is planned at bit {planned}, but its order puts it at bit {placed}"
    )]
    OtherOffset {
        /// Tag.
        name: String,
        /// Declared index of the member.
        index: usize,
        /// Planned offset in bits.
        planned: u64,
        /// Offset in bits by the order.
        placed: u64,
    },
    /// The size isn't what the C ABI gives the order.
    #[error("struct {name}: {planned} bytes are planned, but its order takes {placed}")]
    OtherSize {
        /// Tag.
        name: String,
        /// Planned size in bytes.
        planned: u64,
        /// Size in bytes by the order.
        placed: u64,
    },
}
