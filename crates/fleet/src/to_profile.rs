//! Rows as a profile: of one build, whose layouts members of other builds are moved to by path.

mod accesses;
mod blocks;
mod builds;
mod instructions;
mod recordings;
mod row;
mod windows;

use crate::error::Error;
use crate::filter::{Weight, parse_labels, weight_of};
use crate::row_sums::Tables;
use crate::schema::Table;
use fieldline_access::AccessProfile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How rows become a profile.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileOptions<'o> {
    /// Build id of the program whose layouts count; if not given, that of most samples.
    pub build_id: Option<&'o str>,
    /// How often rows count, by label.
    pub weights: &'o [Weight],
    /// The name and value of a label that rows have to have.
    pub only: Option<(&'o str, &'o str)>,
}

/// A profile of many hosts, and what of their rows it lacks.
#[derive(Debug)]
pub struct FleetProfile {
    /// The profile.
    pub profile: AccessProfile,
    /// What doesn't match between the builds, a sentence each.
    pub notes: Vec<String>,
}

/// Names of functions by their number in a profile.
#[derive(Debug, Default)]
struct FunctionNames {
    names: Vec<String>,
    indices: BTreeMap<String, u32>,
}

impl FunctionNames {
    fn index(&mut self, name: &str) -> u32 {
        if let Some(index) = self.indices.get(name) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.indices.insert(name.to_owned(), index);
        index
    }
}

/// Weights of rows, each set of labels decided once.
struct RowWeights<'t> {
    tables: &'t Tables,
    options: ProfileOptions<'t>,
    known: std::cell::RefCell<BTreeMap<u32, u64>>,
}

impl RowWeights<'_> {
    /// How often rows with these labels count.
    fn of(&self, labels: u32) -> u64 {
        let decide = || {
            let text = self.tables.values.get_text(labels).unwrap_or_default();
            let labels = parse_labels(text);
            let is_left_out = self
                .options
                .only
                .is_some_and(|(name, value)| labels.get(name).is_none_or(|known| known != value));
            if is_left_out { 0 } else { weight_of(self.options.weights, &labels).unsigned_abs() }
        };
        *self.known.borrow_mut().entry(labels).or_insert_with(decide)
    }
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
    let weights = RowWeights { tables, options: *options, known: std::cell::RefCell::default() };
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
