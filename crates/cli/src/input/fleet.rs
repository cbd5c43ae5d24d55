//! Profiles in Parquet, read as one profile.

use crate::input::fleet_options::FleetOptions;
use crate::input::recordings;
use crate::output;
use anyhow::{Result, anyhow, bail};
use fieldline_access::AccessProfile;
use fieldline_fleet::dataset::{Dataset, ReadOptions};
pub(crate) use fieldline_fleet::discover::is_fleet;
use fieldline_fleet::divergence::{self, ComparedBy, Difference};
use fieldline_fleet::filter::{Condition, Filter, Weight};
use fieldline_fleet::row_sums::Tables;
use fieldline_fleet::schema::Projection;
use fieldline_fleet::to_profile::{FleetProfile, ProfileOptions, label_values, to_profile};
use fieldline_plan::Cohort;
use std::path::{Path, PathBuf};

/// Opens folders, patterns and files.
pub(crate) fn open(paths: &[PathBuf], fleet: &FleetOptions) -> Result<Dataset> {
    let condition =
        |text: &String| text.parse::<Condition>().map_err(|problem| anyhow!("--where '{text}': {problem}"));
    let conditions = fleet.conditions.iter().map(condition).collect::<Result<Vec<_>>>()?;
    let options = ReadOptions { filter: Filter::new(&conditions), skip_broken: fleet.skip_broken };
    Ok(Dataset::open(paths, &options)?)
}

pub(crate) fn parse_weights(fleet: &FleetOptions) -> Result<Vec<Weight>> {
    let weight =
        |text: &String| text.parse::<Weight>().map_err(|problem| anyhow!("--weight '{text}': {problem}"));
    fleet.weights.iter().map(weight).collect()
}

/// Says how many files were left out.
pub(crate) fn note_broken(dataset: &Dataset) {
    if let Some(first) = dataset.broken.first() {
        let files = match dataset.broken.len() {
            1 => "1 broken file is".to_owned(),
            more => format!("{more} broken files are"),
        };
        output::print_note(&format!("{files} left out; the first: {first}"));
    }
}

/// Tables of a folder, a pattern or a file, with what they are read for.
pub(crate) struct LoadedTables<'l> {
    /// Named in errors.
    pub(crate) path: &'l Path,
    pub(crate) tables: Tables,
    /// Build ID of the program whose layouts count.
    pub(crate) build_id: Option<String>,
    pub(crate) weights: Vec<Weight>,
}

impl<'l> LoadedTables<'l> {
    /// Reads tables for a program. Of one host they keep all, of several what a merge keeps.
    fn read(path: &'l Path, program: Option<&Path>, fleet: &FleetOptions) -> Result<Self> {
        let weights = parse_weights(fleet)?;
        let build_id = program.map(recordings::build_id).transpose()?.flatten();
        let stage = output::begin_stage("reading tables");
        let mut dataset = open(&[path.to_path_buf()], fleet)?;
        let is_alone = dataset.hosts().len() < 2;
        let projection = if is_alone { Projection::all() } else { Projection::merged(&[]) };
        let mut tables = dataset.sum(&projection)?;
        if !is_alone {
            tables.sort();
        }
        drop(stage);
        note_broken(&dataset);
        Ok(Self { path, tables, build_id, weights })
    }

    /// The profile of all rows, or of those with a label.
    pub(crate) fn profile(&self, only: Option<(&str, &str)>) -> Result<FleetProfile> {
        let options = ProfileOptions { build_id: self.build_id.as_deref(), weights: &self.weights, only };
        Ok(to_profile(&self.tables, &options, self.path)?)
    }
}

/// Structs of which the samples that match no layout are told.
const NAMED: usize = 5;

/// Prints what doesn't match between builds; returns the rest.
pub(crate) fn print_notes(found: FleetProfile) -> AccessProfile {
    found.notes.iter().take(NAMED).for_each(|note| output::print_note(note));
    let more = found.notes.len().saturating_sub(NAMED);
    if more > 0 {
        output::print_note(&format!("{more} more layouts of other builds have fewer such samples each"));
    }
    found.profile
}

/// One profile of a folder, a pattern or a file. Of one host it is the profile that was written; of several, time
/// blocks are groups of hosts.
pub(crate) fn read_profile(
    path: &Path,
    program: Option<&Path>,
    fleet: &FleetOptions,
) -> Result<AccessProfile> {
    Ok(print_notes(LoadedTables::read(path, program, fleet)?.profile(None)?))
}

/// One profile of a folder, a pattern or a file, and those of the hosts with each value of a label.
pub(crate) fn read_cohorts(
    path: &Path,
    program: &Path,
    fleet: &FleetOptions,
    label: &str,
) -> Result<(AccessProfile, Vec<Cohort>)> {
    if !is_fleet(path) {
        bail!("{}: --cohorts needs a profile in Parquet", path.display());
    }
    let loaded = LoadedTables::read(path, Some(program), fleet)?;
    let values = label_values(&loaded.tables, label);
    if values.is_empty() {
        bail!("{}: --cohorts {label}: no host has that label", path.display());
    }
    let cohort = |name: String| {
        let profile = loaded.profile(Some((label, &name)))?.profile;
        Ok(Cohort { name, profile })
    };
    let cohorts = values.into_iter().map(cohort).collect::<Result<_>>()?;
    Ok((print_notes(loaded.profile(None)?), cohorts))
}

/// A difference as a sentence without its subject.
pub(crate) fn describe(difference: &Difference) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let member = |(name, here, there): &(String, f64, f64)| {
        format!("{name} has {} instead of {}", percent(*here), percent(*there))
    };
    let members: Vec<String> = difference.members.iter().map(member).collect();
    format!(
        "struct {}: {} of {} accesses go elsewhere ({:.1} standard deviations): {}",
        difference.type_name,
        percent(difference.distance),
        difference.samples,
        difference.deviations,
        members.join(", ")
    )
}

/// Differences of the last day of a profile from the days before, a sentence a struct.
pub(crate) fn describe_drift(path: &Path, types: &[String]) -> Result<Vec<String>> {
    let mut dataset = open(&[path.to_path_buf()], &FleetOptions::default())?;
    let found = divergence::find_in(&mut dataset, ComparedBy::LastDay, types)?;
    let sentence = |difference: &Difference| {
        format!("{}: on {}, {}", path.display(), difference.subject, describe(difference))
    };
    // Sums without days show no drift.
    Ok(found.unwrap_or_default().iter().map(sentence).collect())
}
