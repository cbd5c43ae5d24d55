//! Places that say members of a struct, by a C front end.

use super::choice::choose;
use super::read::{CodeReader, subject};
use super::texts::Texts;
use anyhow::Result;
use fieldline_frontend::SourceUnit;
use fieldline_layout::Layout;
use fieldline_layout::types::split_namespace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Places of a build's units that say some members of a struct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberMentions {
    /// By file, from the top of the tree, how many; most first.
    pub files: Vec<(String, usize)>,
    /// Units that were read.
    pub units: usize,
    /// Units that may have more, since parts of them can't be read.
    pub unread: Vec<String>,
}

impl CodeReader {
    /// The places that say some members of a struct, in all units that may see it. `header` declares it, from the top of
    /// the tree. Text that this build leaves out is not read.
    ///
    /// # Errors
    /// If the tree can't be read.
    pub fn find_mentions(&self, layout: &Layout, header: &str, members: &[String]) -> Result<MemberMentions> {
        let texts = Texts::read(&[&self.tree, &self.build], &self.units)?;
        let choice = choose(&texts, &self.units, &[split_namespace(&layout.name).1.to_owned()]);
        let units: Vec<&SourceUnit> =
            choice.units.keys().filter_map(|number| self.units.get(*number)).collect();
        let (asked, members) = (subject(layout, header), members.iter().map(String::as_str).collect());
        let read =
            fieldline_parallel::map(&units, |unit| self.frontend.named_members(unit, &asked, &members));
        let (mut places, mut unread) = (BTreeSet::new(), Vec::new());
        for (unit, found) in units.iter().zip(read) {
            match found {
                Ok(found) if found.errors.is_empty() => places.extend(found.places),
                Ok(found) => {
                    places.extend(found.places);
                    unread.push(self.in_tree(&unit.file));
                }
                Err(_) => unread.push(self.in_tree(&unit.file)),
            }
        }
        Ok(MemberMentions { files: self.count(&places), units: units.len(), unread })
    }

    fn count(&self, places: &BTreeSet<(PathBuf, u32)>) -> Vec<(String, usize)> {
        let mut files: BTreeMap<String, usize> = BTreeMap::new();
        for (file, _) in places {
            *files.entry(self.in_tree(file)).or_default() += 1;
        }
        let mut files: Vec<(String, usize)> = files.into_iter().collect();
        files.sort_by(|this, other| other.1.cmp(&this.1).then_with(|| this.0.cmp(&other.0)));
        files
    }

    fn in_tree(&self, file: &Path) -> String {
        file.strip_prefix(&self.tree).unwrap_or(file).display().to_string()
    }
}
