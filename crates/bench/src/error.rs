//! Errors of benchmarks.

use std::io;
use std::path::{Path, PathBuf};

/// Why a benchmark can't run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no hierarchy of cgroups that can be used.
    #[error("{place}: {what}")]
    NoCgroups {
        /// The folder or file that says so.
        place: PathBuf,
        /// The missing thing, and a remedy.
        what: String,
    },
    /// A file of a cgroup can't be read or written.
    #[error("{path}{hint}")]
    File {
        /// The file.
        path: PathBuf,
        /// A remedy; empty if there is none.
        hint: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The leaves' quotas would be smaller than the kernel allows.
    #[error(
        "{leaves} leaves are too many for {percent} % of {cpus} CPUs: a leaf has at least 1 ms of each second, so that \
         {most} leaves can be"
    )]
    TooManyLeaves {
        /// Leaves wanted.
        leaves: u64,
        /// Share of all CPUs for them.
        percent: u32,
        /// CPUs.
        cpus: u64,
        /// Leaves that are possible.
        most: u64,
    },
    /// The load failed.
    #[error("the load ended {when}: {output}")]
    Load {
        /// Before what.
        when: &'static str,
        /// Its last output.
        output: String,
    },
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
}

/// The remedy if the user may not do it.
const PRIVILEGE: &str = " (needs root, or a group that was delegated to this user: --parent DIR)";
/// The remedy if a group has processes of its own.
const PROCESSES: &str =
    " (a group that has processes of its own can't have groups with quotas: name another, --parent DIR)";

impl Error {
    /// An error of a file, with the remedy that suits.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| {
            let hint = match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => PRIVILEGE,
                io::ErrorKind::ResourceBusy if path.ends_with("cgroup.subtree_control") => PROCESSES,
                _ => "",
            };
            Self::File { path, hint, source }
        }
    }
}

/// The result of a benchmark.
pub type Result<T> = std::result::Result<T, Error>;
