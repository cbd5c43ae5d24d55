//! The object at an address at a time, out of a table of objects with lives (docs/formats.md, Objects).

use crate::error::{Error, Result};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Addresses are looked up by blocks of so many bytes.
const BLOCK: u64 = 64;
/// Larger objects than this are an error: no struct is.
const MAX_SIZE: u64 = 1 << 24;

/// An object of one of the structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TracedObject {
    base: u64,
    size: u64,
    /// Index of its struct.
    pub(super) struct_index: usize,
    begin: u64,
    end: u64,
}

/// Objects by address.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectTable {
    objects: Vec<TracedObject>,
    by_block: FxHashMap<u64, Vec<u32>>,
}

impl ObjectTable {
    /// Reads the objects of some structs.
    pub(super) fn read(path: &Path, structs: &[String]) -> Result<Self> {
        let text = fieldline_files::read_to_string(path)
            .map_err(|source| Error::File { path: path.to_owned(), source })?;
        let mut table = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let broken = || Error::Input {
                path: path.to_owned(),
                what: format!("line {number}: '{line}' is not ADDRESS TYPE SIZE"),
            };
            table.objects.extend(parse(line, structs).ok_or_else(broken)?);
        }
        table.index();
        Ok(table)
    }

    fn index(&mut self) {
        for (number, object) in (0_u32..).zip(&self.objects) {
            let last = object.base.saturating_add(object.size.max(1) - 1);
            for block in object.base / BLOCK..=last / BLOCK {
                self.by_block.entry(block).or_default().push(number);
            }
        }
    }

    /// The object at a place, of those within others the innermost, of those that followed each other the latest begun.
    pub(super) fn find(&self, address: u64, time: u64) -> Option<(usize, TracedObject)> {
        let numbers = self.by_block.get(&(address / BLOCK))?;
        let here = numbers.iter().filter_map(|number| {
            let object = self.objects.get(*number as usize)?;
            let is_inside = address.wrapping_sub(object.base) < object.size;
            (is_inside && object.begin <= time && time < object.end).then_some((*number as usize, *object))
        });
        here.min_by_key(|(number, object)| (object.size, std::cmp::Reverse(object.begin), *number))
    }
}

/// An object of a line; nothing in the inner option if its struct isn't meant.
fn parse(line: &str, structs: &[String]) -> Option<Option<TracedObject>> {
    let mut words = line.split_whitespace();
    let (address, name, size) = (words.next()?, words.next()?, words.next()?);
    let base = u64::from_str_radix(address.strip_prefix("0x").unwrap_or(address), 16).ok()?;
    let size: u64 = size.parse().ok().filter(|size| (1..=MAX_SIZE).contains(size))?;
    let Some(struct_index) = structs.iter().position(|wanted| wanted == name) else { return Some(None) };
    let mut object = TracedObject { base, size, struct_index, begin: 0, end: u64::MAX };
    for word in words {
        let time = |text: &str| text.parse().ok();
        if let Some(begin) = word.strip_prefix("begin=") {
            object.begin = time(begin)?;
        } else if let Some(end) = word.strip_prefix("end=") {
            object.end = time(end)?;
        }
    }
    Some(Some(object))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<ObjectTable> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        ObjectTable::read(file.path(), &["outer".to_owned(), "inner".to_owned()])
    }

    #[test]
    fn the_innermost_object_that_lives_is_found() {
        let table = table(
            "# address\n1000\touter\t256\tname\t\n1040\tinner\t64\tname.part\t\n2000\tinner\t64\ta\tend=500\n\
             2000\touter\t64\tb\tcpu=1 begin=700\n3000\tother\t64\n",
        )
        .unwrap();
        let find = |address, time| table.find(address, time).map(|(_, object)| object.struct_index);
        assert_eq!(
            [find(0x1000, 0), find(0x1040, 0), find(0x107f, 9), find(0x1080, 0)],
            [Some(0), Some(1), Some(1), Some(0)]
        );
        assert_eq!([find(0x2010, 499), find(0x2010, 600), find(0x2010, 700)], [Some(1), None, Some(0)]);
        assert_eq!((find(0x3000, 0), find(0xfff, 0), find(0x1100, 0)), (None, None, None));
    }

    #[test]
    fn a_broken_line_is_named() {
        for line in
            ["zz outer 8", "1000 outer", "1000 outer 0", "1000 outer 99999999999", "1000 inner 8 begin=x"]
        {
            let error = table(&format!("# a\n{line}\n")).unwrap_err().to_string();
            assert!(error.contains("line 2: "), "{error}");
        }
    }
}
