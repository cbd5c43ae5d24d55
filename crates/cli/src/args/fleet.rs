//! Options of commands that read profiles of many hosts.

use crate::input::fleet_options::FleetOptions;
use clap::Args;

/// Which rows of tables count, and how often.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetArgs {
    /// Of a profile in Parquet, only rows for which this holds: KEY=PATTERN, KEY!=PATTERN, or <, <=, >, >= by text. Keys
    /// are host, day, build (its ID), kernel (its release) and labels. If given several times, all have to hold.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) conditions: Vec<String>,
    /// How often rows of a profile in Parquet count: a condition on a label, and a whole number behind *, such as
    /// 'cohort=web*3'. The first that fits counts; rows that none fits count once.
    #[arg(long = "weight", value_name = "LABEL=PATTERN*N")]
    pub(crate) weights: Vec<String>,
    /// Leave out broken files of a profile in Parquet, and say how many there are, instead of an error.
    #[arg(long)]
    pub(crate) skip_broken: bool,
}

impl FleetArgs {
    pub(crate) fn options(&self) -> FleetOptions {
        let (conditions, weights) = (self.conditions.clone(), self.weights.clone());
        FleetOptions { conditions, weights, skip_broken: self.skip_broken }
    }
}
