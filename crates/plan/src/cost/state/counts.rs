//! Lines that an order touches, and those that CPUs lose to each other.

use super::OrderState;

impl OrderState<'_> {
    /// Lines that all visits touch together, by configuration.
    pub fn touched_lines(&self) -> Vec<u64> {
        let lines = |config| self.sum_lines(config, |ranges| self.problem.touching_weight(ranges));
        (0..self.lines.len()).map(lines).collect()
    }

    /// Lines that CPUs lose to each other in a configuration because ranges share them, in lines touched.
    pub fn lost_lines(&self, config: usize) -> u64 {
        self.sum_lines(config, |ranges| self.problem.sharing_cost(ranges))
    }

    /// Sum over the lines of a configuration.
    fn sum_lines(&self, config: usize, count: impl Fn(&[u32]) -> u64) -> u64 {
        let (Some(current), Some(lines)) = (self.problem.configs.get(config), self.lines.get(config)) else {
            return 0;
        };
        let mut ranges = Vec::new();
        let counts = lines.occupied_lines().map(|line| {
            self.ranges_on_line(current, line, &mut ranges);
            count(&ranges)
        });
        counts.sum()
    }
}
