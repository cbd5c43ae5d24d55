//! Where this program was built without Parquet: says so.

use crate::args::{MergeArgs, ReportArgs};
use crate::input::fleet::refuse;
use crate::output::CommandOutcome;
use anyhow::Result;
use fieldline_access::AccessProfile;
use std::path::Path;

pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    refuse(folder)
}

pub(crate) fn write_profile(folder: &Path, _: &AccessProfile, _: &[(String, String)]) -> Result<()> {
    refuse(folder)
}

pub(crate) fn report_hosts(args: &ReportArgs) -> Result<CommandOutcome> {
    refuse(&args.profile)
}

pub(crate) fn merge(args: &MergeArgs) -> Result<CommandOutcome> {
    refuse(args.profiles.first().map_or(Path::new(""), |path| path.as_path()))
}
