//! The plan as a value that can be a file (`docs/formats.md`), and the checks a plan read back must pass.
//!
//! * `plan`: orders for some structs.
//! * `forecast`: what orders cost.
//! * `groups`: members that share a line.
//! * `builds`: other builds that orders were judged in.
//! * `evidence` and `confidence`: what the visits rest on, and how sure the plan is.

mod builds;
mod confidence;
mod evidence;
mod forecast;
mod groups;
mod plan;

pub use builds::{BuildJudged, BuildNote};
pub use confidence::{Confidence, Grouping, Interval, OutOfFold, Stability};
pub use evidence::{ClassEvidence, VisitEvidence};
pub use fieldline_layout::slab_class;
pub(crate) use forecast::rounded;
pub use forecast::{BeforeAfter, Candidate, Forecast, Mark, SizeForecast, Term, TermKind};
pub use groups::{Group, GroupAlignment, GroupKind, Padding};
pub use plan::{
    Arrangement, Basis, Embedding, FORMAT, HeldMember, MovedMember, Outcome, PinReport, PlacedMember, Plan,
    PlanError, SearchReport, StructPlan, VERSION,
};
pub(crate) use plan::{held, unchanged};

#[cfg(test)]
mod tests {
    use super::slab_class;

    #[test]
    fn allocations_are_rounded_up_to_their_class() {
        let sizes = [1, 64, 65, 97, 130, 193, 448, 640, 8192, 8193];
        assert_eq!(sizes.map(slab_class), [8, 64, 96, 128, 192, 256, 512, 1024, 8192, 12288]);
    }
}
