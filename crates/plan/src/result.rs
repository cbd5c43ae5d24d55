//! The plan as a serialisable value (`docs/formats.md`), and the checks a plan read back must pass.
//!
//! * `plan`: orders for some structs; `arrangement`: members with their places.
//! * `forecast`: the cost of orders, members that share a line, and other builds that orders were judged in.
//! * `embedding`: structs that hold planned ones.
//! * `together`: planned structs side by side in another one.
//! * `proof`: the proof that nothing depends on an order.
//! * `confidence`: the evidence for the visits, and how sure the plan is.

mod arrangement;
mod confidence;
mod embedding;
mod forecast;
mod plan;
mod proof;
mod together;

pub use arrangement::{Arrangement, PlacedMember};
pub use confidence::{
    Confidence, CrossValidation, Grouping, Interval, PatternEvidence, Stability, VisitEvidence,
};
pub use embedding::Embedding;
pub use fieldline_layout::slab_class;
pub(crate) use forecast::rounded;
pub use forecast::{
    BeforeAfter, BuildJudged, BuildNote, Candidate, CohortForecast, Forecast, Group, GroupAlignment,
    GroupKind, KeptGain, Mark, Padding, SizeForecast, Term, TermKind,
};
pub(crate) use plan::constrained_members;
pub use plan::{
    Basis, CommentToCheck, ConditionalMember, ConstrainedMember, FORMAT, MovedMember, Outcome, PinReport,
    Plan, PlanError, SearchReport, StructPlan, VERSION, Verdict,
};
pub use proof::{Insistence, UseProof};
pub use together::{
    AlignedLines, AlignedPart, HolderDeclaration, Together, TogetherChoice, TogetherLines, TogetherPart,
};

#[cfg(test)]
mod tests {
    use super::slab_class;

    #[test]
    fn allocations_are_rounded_up_to_their_class() {
        let sizes = [1, 64, 65, 97, 130, 193, 448, 640, 8192, 8193];
        assert_eq!(sizes.map(slab_class), [8, 64, 96, 128, 192, 256, 512, 1024, 8192, 12288]);
    }
}
