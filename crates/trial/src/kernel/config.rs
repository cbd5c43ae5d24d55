//! The configuration of the kernels: a build's, a file, or the small one that is shipped.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Options of the small kernel, over `tinyconfig`.
pub const FRAGMENT: &str = include_str!("config.fragment");

/// Where the configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelConfig {
    /// A whole configuration.
    File(PathBuf),
    /// `tinyconfig` with [`FRAGMENT`] and more lines.
    Small(String),
}

impl KernelConfig {
    /// The configuration of a build folder.
    ///
    /// # Errors
    ///
    /// The folder has none.
    pub fn of_build(folder: &Path) -> Result<Self> {
        let path = folder.join(".config");
        std::fs::metadata(&path).map_err(Error::file(&path))?;
        Ok(Self::File(path))
    }

    /// The make target that begins the configuration, and lines to add to its result.
    pub(crate) fn parts(&self) -> Result<(Option<&'static str>, String)> {
        match self {
            Self::File(path) => {
                let text = fieldline_files::read_to_string(path).map_err(Error::file(path))?;
                Ok((None, text))
            }
            Self::Small(more) => Ok((Some("tinyconfig"), format!("{FRAGMENT}{more}"))),
        }
    }
}
