//! The problems of one struct.

use crate::cost::sharing::NO_SHARING;
use crate::cost::{LineSharing, Problem, VisitModel};
use crate::judge::matrix::ConfigurationMatrix;
use crate::options::PlanOptions;
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
    pub(crate) lower: LowerBound,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        layout: &'a Layout,
        constraints: &'a Constraints,
        model: &'a VisitModel,
        options: &'a PlanOptions,
    ) -> Self {
        let matrix = ConfigurationMatrix::new(layout, constraints, model, options);
        let problem = |visits: &'a Visits, sharing: &'a LineSharing| {
            let (builds, configs) = (matrix.builds.clone(), matrix.configs.clone());
            Problem::new(constraints, &model.ranges, visits, sharing, builds, configs)
        };
        Self {
            together: problem(&model.together, &model.sharing),
            alone: problem(&model.alone, &NO_SHARING),
            lower: LowerBound::default(),
            matrix,
            layout,
            constraints,
            model,
            options,
        }
    }
}
