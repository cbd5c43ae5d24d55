//! Rows as a profile: of one build, whose layouts members of other builds are moved to by path.

mod accesses;
mod blocks;
mod builds;
mod context;
mod instructions;
mod recordings;
mod row;
mod windows;

use crate::error::Error;
use crate::filter::parse_labels;
use crate::row_sums::Tables;
use crate::schema::Table;
pub use context::ProfileOptions;
use context::{FunctionNames, RowWeights};
use fieldline_access::AccessProfile;
use std::collections::BTreeSet;
use std::path::Path;

/// A profile of many hosts, and what of their rows it lacks.
#[derive(Debug)]
pub struct FleetProfile {
    /// The profile.
    pub profile: AccessProfile,
    /// Members that don't match between the builds, a sentence a layout, most samples first.
    pub notes: Vec<String>,
}

/// Values of a label among the recordings.
pub fn label_values(tables: &Tables, label: &str) -> BTreeSet<String> {
    let rows = row::TableRows { tables, table: Table::Recordings };
    let labels = rows.column("labels");
    let texts: BTreeSet<&str> = rows.iter().filter_map(|row| row.text(labels)).collect();
    texts.into_iter().filter_map(|text| parse_labels(text).remove(label)).collect()
}

/// A profile of the rows of tables; `place` is named in errors.
///
/// # Errors
/// If a layout among the rows can't be read.
pub fn to_profile(
    tables: &Tables,
    options: &ProfileOptions<'_>,
    place: &Path,
) -> Result<FleetProfile, Error> {
    let failed = |problem| Error::new(place, problem);
    let (recordings, blind_spots) = recordings::read(tables);
    let build = options.build_id.map(str::to_owned).or_else(|| recordings::main_build(tables));
    let weights = RowWeights::new(tables, *options);
    let catalog = builds::Catalog::new(tables, build.as_deref()).map_err(failed)?;
    let blocks = blocks::Blocks::new(tables);
    let mut functions = FunctionNames::default();
    let reader = accesses::AccessReader::new((tables, build.as_deref()), &catalog, &weights, &blocks);
    let found = reader.read(&mut functions);
    let mut profile = AccessProfile {
        recordings,
        blind_spots,
        coverage: recordings::coverage(tables, &weights),
        types: found.types,
        blocks: blocks.samples(tables, &weights),
        ..AccessProfile::empty()
    };
    profile.windows = windows::read(tables, &profile.types, &weights, &blocks, &mut functions);
    profile.functions = functions.names;
    Ok(FleetProfile { profile, notes: found.notes })
}
