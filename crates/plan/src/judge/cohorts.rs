//! Orders in the visits of cohorts: parts of a fleet that are judged each for itself.

use crate::cost::VisitModel;
use crate::judge::evaluation::OrderEvaluation;
use crate::judge::planner::{CohortJudge, Planner};
use crate::options::PlanOptions;
use crate::progress::StructSteps;
use crate::result::{BeforeAfter, CohortForecast};
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;

/// The visits of each cohort, in the order of the options.
pub(crate) struct CohortModels {
    models: Vec<(String, VisitModel)>,
}

impl CohortModels {
    /// Learns the visits of each cohort.
    pub(crate) fn learn(options: &PlanOptions, layout: &Layout, constraints: &Constraints) -> Self {
        let models = fieldline_parallel::map(&options.cohorts, |cohort| {
            (cohort.name.clone(), VisitModel::new(&cohort.profile, layout, constraints, options.build_line))
        });
        Self { models }
    }

    /// Those with visits, ready to judge.
    pub(crate) fn judges<'a>(
        &'a self,
        (layout, constraints): (&'a Layout, &'a Constraints),
        options: &'a PlanOptions,
        steps: &'a StructSteps<'a>,
    ) -> Vec<CohortJudge<'a>> {
        let declared: Vec<usize> = (0..constraints.units.len()).collect();
        let with_visits = self.models.iter().filter(|(_, model)| !model.together.is_empty());
        let judge = |(name, model): &'a (String, VisitModel)| {
            let planner = Planner::new(layout, constraints, model, options, steps);
            CohortJudge { name: name.clone(), before: planner.evaluate(&declared), planner }
        };
        with_visits.map(judge).collect()
    }
}

impl CohortJudge<'_> {
    /// Whether there are enough samples of the cohort to judge by.
    fn is_judged(&self) -> bool {
        self.planner.model.is_sufficient()
    }

    fn is_worse(&self, after: &OrderEvaluation) -> bool {
        !after.is_no_worse_than(&self.before)
    }
}

impl Planner<'_> {
    /// Whether an order may be offered, as far as cohorts decide: none with enough samples is worse anywhere, if
    /// that is asked for.
    pub(crate) fn suits_cohorts(&self, order: &[usize]) -> bool {
        let is_worse = |cohort: &CohortJudge<'_>| cohort.is_worse(&cohort.planner.evaluate(order));
        let mut judged = self.cohorts.iter().filter(|cohort| cohort.is_judged());
        !self.options.no_cohort_worse || !judged.any(is_worse)
    }

    /// Lines that visits of each cohort touch.
    pub(crate) fn cohort_forecasts(&self, order: &[usize]) -> Vec<CohortForecast> {
        let forecast = |cohort: &CohortJudge<'_>| {
            let CohortJudge { name, planner, before } = cohort;
            let after = planner.evaluate(order);
            let visits = planner.model.together.total().max(1) as f64;
            let lost = |order: &OrderEvaluation| order.lost() as f64 / visits;
            CohortForecast {
                cohort: name.clone(),
                samples: planner.model.sufficiency.have,
                needed: planner.model.sufficiency.need,
                is_worse: cohort.is_worse(&after),
                // Bounds are of all visits together.
                forecasts: planner
                    .forecasts(before, &after)
                    .into_iter()
                    .map(|mut forecast| {
                        forecast.bound = 0.0;
                        forecast
                    })
                    .collect(),
                coherence: BeforeAfter::round_to(lost(before), lost(&after), 1_000.0),
            }
        };
        self.cohorts.iter().map(forecast).collect()
    }
}
