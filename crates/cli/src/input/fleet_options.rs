//! Which rows of tables count, and how often.

/// Options of reading tables, as they were given.
#[derive(Clone, Debug, Default)]
pub(crate) struct FleetOptions {
    /// Conditions that all have to hold.
    pub(crate) conditions: Vec<String>,
    /// Weights by label.
    pub(crate) weights: Vec<String>,
    /// Whether broken files are left out.
    pub(crate) skip_broken: bool,
}

impl FleetOptions {
    /// Whether none is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.weights.is_empty() && !self.skip_broken
    }
}
