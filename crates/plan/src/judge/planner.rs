//! The problems of one struct.

use crate::cost::sharing::NO_SHARING;
use crate::cost::{LineSharing, Problem, VisitModel};
use crate::judge::evaluation::OrderEvaluation;
use crate::judge::matrix::ConfigurationMatrix;
use crate::options::PlanOptions;
use crate::progress::StructSteps;
use crate::search::LowerBound;
use crate::visits::Visits;
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;

pub(crate) struct Planner<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) constraints: &'a Constraints,
    pub(crate) model: &'a VisitModel,
    pub(crate) options: &'a PlanOptions,
    pub(crate) matrix: ConfigurationMatrix,
    /// Orders in visits by what runs together, and in visits as if each function ran alone.
    pub(crate) together: Problem<'a>,
    pub(crate) alone: Problem<'a>,
    /// Orders in visits as often as they miss, where these were drawn.
    pub(crate) missing: Option<Problem<'a>>,
    pub(crate) lower: LowerBound,
    /// Parts of a fleet in whose visits orders are judged, too.
    pub(crate) cohorts: Vec<CohortJudge<'a>>,
    /// Counts what is done, for whoever shows it.
    pub(crate) steps: &'a StructSteps<'a>,
}

/// Judges orders in the visits of one cohort.
pub(crate) struct CohortJudge<'a> {
    pub(crate) name: String,
    pub(crate) planner: Planner<'a>,
    pub(crate) before: OrderEvaluation,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        layout: &'a Layout,
        constraints: &'a Constraints,
        model: &'a VisitModel,
        options: &'a PlanOptions,
        steps: &'a StructSteps<'a>,
    ) -> Self {
        let matrix = ConfigurationMatrix::new(layout, constraints, model, options);
        let problem = |visits: &'a Visits, sharing: &'a LineSharing| {
            let (builds, configs) = (matrix.all_builds(), matrix.configs.clone());
            Problem::new(constraints, &model.ranges, visits, sharing, builds, configs)
        };
        Self {
            together: problem(&model.together, &model.sharing),
            alone: problem(&model.alone, &NO_SHARING),
            missing: (!model.missing.is_empty()).then(|| problem(&model.missing, &NO_SHARING)),
            lower: LowerBound::default(),
            cohorts: Vec::new(),
            matrix,
            layout,
            constraints,
            model,
            options,
            steps,
        }
    }

    /// Orders in visits of which half are as often as they run, and half as often as they miss.
    pub(crate) fn balanced(&self) -> Problem<'a> {
        let (builds, configs) = (self.matrix.all_builds(), self.matrix.configs.clone());
        let (model, constraints) = (self.model, self.constraints);
        Problem::new(constraints, &model.ranges, &model.balanced, &model.sharing, builds, configs)
    }
}
