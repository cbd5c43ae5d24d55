//! Lines that a front end has read.

use fieldline_frontend::UnitUses;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};

/// First and last lines that one reading of a file left out.
type Ranges = Vec<(u32, u32)>;

/// For each file that was read, the lines that each reading left out.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadLines(FxHashMap<PathBuf, FxHashSet<Ranges>>);

impl ReadLines {
    /// Adds the files of a unit.
    pub(super) fn add(&mut self, uses: &UnitUses) {
        let mut skipped: FxHashMap<&Path, Ranges> = FxHashMap::default();
        for lines in &uses.skipped {
            skipped.entry(&lines.file).or_default().push((lines.first, lines.last));
        }
        for file in &uses.files {
            let ranges = skipped.remove(file.as_path()).unwrap_or_default();
            match self.0.get_mut(file) {
                Some(known) => {
                    known.insert(ranges);
                }
                None => {
                    self.0.insert(file.clone(), FxHashSet::from_iter([ranges]));
                }
            }
        }
    }

    /// Whether a reading of a file had a line.
    pub(super) fn has(&self, file: &Path, line: u32) -> bool {
        let is_within = |range: &(u32, u32)| range.0 < line && line < range.1;
        self.0.get(file).into_iter().flatten().any(|ranges| !ranges.iter().any(is_within))
    }

    /// Whether each reading of a file left lines out; none if it wasn't read.
    pub(super) fn are_left_out(&self, file: &Path) -> Option<bool> {
        Some(!self.0.get(file)?.iter().any(Vec::is_empty))
    }
}
