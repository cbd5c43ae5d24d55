//! Which unit reads the functions of which header.
//!
//! Units of a kernel include the same headers. The first unit that includes one reads its static functions, and the
//! others those that they call.

use fieldline_frontend::SourceUnit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A unit and what it need not read.
#[derive(Clone, Debug)]
pub(super) struct UnitPart<'u> {
    pub(super) unit: &'u SourceUnit,
    /// Headers whose functions an earlier unit reads.
    pub(super) read_elsewhere: BTreeSet<&'u Path>,
}

/// Headers that units read so far include.
#[derive(Debug, Default)]
pub(super) struct SharedHeaders<'u>(BTreeSet<&'u Path>);

impl<'u> SharedHeaders<'u> {
    /// Divides the reading among some more units. What a unit includes is known where the build kept it; any other reads all.
    pub(super) fn divide(&mut self, units: impl Iterator<Item = &'u SourceUnit>) -> Vec<UnitPart<'u>> {
        units.map(|unit| self.part(unit)).collect()
    }

    fn part(&mut self, unit: &'u SourceUnit) -> UnitPart<'u> {
        let headers: Vec<&Path> = unit.reads.iter().map(PathBuf::as_path).collect();
        let read_elsewhere = headers.iter().copied().filter(|header| self.0.contains(header)).collect();
        self.0.extend(headers);
        UnitPart { unit, read_elsewhere }
    }
}

impl UnitPart<'_> {
    /// Structs that headers may see whose functions this unit reads, and perhaps no other.
    pub(super) fn seen_alone(&self, headers: &BTreeMap<PathBuf, BTreeSet<usize>>) -> BTreeSet<usize> {
        let own = self.unit.reads.iter().filter(|header| !self.read_elsewhere.contains(header.as_path()));
        own.filter_map(|header| headers.get(header)).flatten().copied().collect()
    }
}

#[cfg(test)]
impl<'u> UnitPart<'u> {
    /// A unit that reads all.
    pub(super) fn whole(unit: &'u SourceUnit) -> Self {
        Self { unit, read_elsewhere: BTreeSet::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_header_is_read_by_the_first_unit_that_includes_it() {
        let unit = |name: &str, reads: &[&str]| SourceUnit {
            file: name.into(),
            reads: reads.iter().map(PathBuf::from).collect(),
            ..SourceUnit::default()
        };
        let units = [unit("a.c", &["/a.h", "/b.h"]), unit("b.c", &["/b.h", "/c.h"]), unit("c.c", &[])];
        let mut shared = SharedHeaders::default();
        let parts = shared.divide(units.iter());
        let elsewhere: Vec<Vec<&Path>> =
            parts.iter().map(|part| part.read_elsewhere.iter().copied().collect()).collect();
        assert_eq!(elsewhere, [vec![], vec![Path::new("/b.h")], vec![]]);
        let headers =
            [("/b.h", 0), ("/c.h", 1)].map(|(path, number)| (path.into(), BTreeSet::from([number])));
        let headers = BTreeMap::from(headers);
        let alone: Vec<Vec<usize>> =
            parts.iter().map(|part| part.seen_alone(&headers).into_iter().collect()).collect();
        assert_eq!(alone, [vec![0], vec![1], vec![]]);
    }
}
