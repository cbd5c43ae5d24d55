//! The problems of one struct.

use crate::cost::{Model, Problem, Sharing};
use crate::judge::matrix::Matrix;
use crate::options::PlanOptions;
use crate::search::starts::search;
use crate::search::{Effort, LowerBound, Search};
use crate::visits::Visits;
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;

pub(crate) struct Planner<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) constraints: &'a Constraints,
    pub(crate) model: &'a Model,
    pub(crate) options: &'a PlanOptions,
    pub(crate) matrix: Matrix,
    pub(crate) lower: LowerBound,
}

/// What an order is judged by.
pub(crate) struct Problems<'a> {
    pub(crate) together: Problem<'a>,
    pub(crate) alone: Problem<'a>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        layout: &'a Layout,
        constraints: &'a Constraints,
        model: &'a Model,
        options: &'a PlanOptions,
    ) -> Self {
        Self {
            matrix: Matrix::new(layout, constraints, model, options),
            lower: LowerBound::default(),
            layout,
            constraints,
            model,
            options,
        }
    }

    pub(crate) fn problem(&self, visits: &'a Visits, sharing: &'a Sharing) -> Problem<'a> {
        let (builds, views) = (self.matrix.builds.clone(), self.matrix.views.clone());
        Problem::new(self.constraints, &self.model.cells, visits, sharing, builds, views)
    }

    pub(crate) fn problems(&self, none: &'a Sharing) -> Problems<'a> {
        Problems {
            together: self.problem(&self.model.together, &self.model.sharing),
            alone: self.problem(&self.model.alone, none),
        }
    }

    pub(crate) fn search(&self, problem: &Problem<'_>, effort: Effort) -> Search {
        search(problem, &self.constraints.initial_order(), effort, self.model.seed)
    }
}
