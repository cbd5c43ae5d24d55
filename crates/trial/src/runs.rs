//! The figures of runs: a folder for each [`FigureSet`], in it one for each variant, in it a file for each run.

use crate::error::{Error, Result};
use crate::score::{FigureSet, TraceFigures};
use crate::setup;
use fieldline_compare::csv;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of figures, one for each run of each variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFiles {
    folder: PathBuf,
    variants: Vec<String>,
}

impl RunFiles {
    /// Those of a trial's folder.
    pub(crate) fn new(folder: &Path, variants: Vec<String>) -> Self {
        Self { folder: folder.to_owned(), variants }
    }

    /// The folders of a set's runs, a variant each.
    #[must_use]
    pub fn folders(&self, set: FigureSet) -> Vec<PathBuf> {
        self.variants.iter().map(|name| self.folder.join(set.folder()).join(name)).collect()
    }

    /// The runs that are not there yet, in turns: the first of each variant, then the second, and so on. `setup` says what
    /// a run, by number and variant, would be made of.
    pub(crate) fn pending(
        &self,
        runs: u32,
        setup: impl Fn(u32, usize) -> Result<String>,
    ) -> Result<Vec<(u32, usize)>> {
        let mut pending = Vec::new();
        for number in 1..=runs {
            for (index, variant) in self.variants.iter().enumerate() {
                let path = self.file(FigureSet::Structs, variant, number);
                match fs::read_to_string(&path) {
                    Ok(text) => setup::check(&path, &csv::setup(&text), &setup(number, index)?)?,
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        pending.push((number, index));
                    }
                    Err(error) => return Err(Error::file(&path)(error)),
                }
            }
        }
        Ok(pending)
    }

    /// Writes the figures of a run, by number and variant.
    pub(crate) fn write(
        &self,
        (number, index): (u32, usize),
        figures: &TraceFigures,
        setup: &str,
    ) -> Result<()> {
        let Some(variant) = self.variants.get(index) else { return Ok(()) };
        // The first set is written last: a run counts as done when it is there.
        for set in FigureSet::ALL.into_iter().rev() {
            let path = self.file(set, variant, number);
            let parent = path.parent().unwrap_or(&self.folder);
            fs::create_dir_all(parent).map_err(Error::file(parent))?;
            setup::write_whole(&path, &figures.csv(set, setup))?;
        }
        Ok(())
    }

    fn file(&self, set: FigureSet, variant: &str, number: u32) -> PathBuf {
        self.folder.join(set.folder()).join(variant).join(format!("run-{number:03}.csv"))
    }
}
