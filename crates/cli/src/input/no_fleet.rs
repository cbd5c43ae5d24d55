//! Where this program was built without Parquet: says so.

use crate::input::fleet_options::FleetOptions;
use anyhow::{Result, bail};
use fieldline_access::AccessProfile;
use fieldline_plan::Cohort;
use std::path::Path;

/// Whether a path can only be meant as Parquet.
pub(crate) fn is_fleet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
        || !path.exists() && path.to_string_lossy().contains('*')
}

/// Refuses Parquet.
pub(crate) fn refuse<T>(path: &Path) -> Result<T> {
    bail!(
        "{}: this fieldline was built without Parquet; packages have it, or build with --features parquet",
        path.display()
    );
}

pub(crate) fn read_profile(path: &Path, _: Option<&Path>, _: &FleetOptions) -> Result<AccessProfile> {
    refuse(path)
}

pub(crate) fn read_cohorts(
    path: &Path,
    _: &Path,
    _: &FleetOptions,
    _: &str,
) -> Result<(AccessProfile, Vec<Cohort>)> {
    refuse(path)
}

pub(crate) fn describe_drift(path: &Path, _: &[String]) -> Result<Vec<String>> {
    refuse(path)
}
