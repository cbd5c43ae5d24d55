//! The problems of one struct.

use crate::cost::sharing::NO_SHARING;
use crate::cost::{Model, Problem, Sharing};
use crate::judge::matrix::Matrix;
use crate::options::PlanOptions;
use crate::search::LowerBound;
use crate::visits::Visits;
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;

pub(crate) struct Planner<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) constraints: &'a Constraints,
    pub(crate) model: &'a Model,
    pub(crate) options: &'a PlanOptions,
    pub(crate) matrix: Matrix,
    /// Orders in visits by what runs in one go, and in visits as if each function ran alone.
    pub(crate) together: Problem<'a>,
    pub(crate) alone: Problem<'a>,
    pub(crate) lower: LowerBound,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        layout: &'a Layout,
        constraints: &'a Constraints,
        model: &'a Model,
        options: &'a PlanOptions,
    ) -> Self {
        let matrix = Matrix::new(layout, constraints, model, options);
        let problem = |visits: &'a Visits, sharing: &'a Sharing| {
            let (builds, views) = (matrix.builds.clone(), matrix.views.clone());
            Problem::new(constraints, &model.cells, visits, sharing, builds, views)
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
