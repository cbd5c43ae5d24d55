//! libclang, found and loaded at run time.

use super::text::owned;
use clang_sys::{
    CXIndex, SharedLibrary, Version, clang_createIndex, clang_disposeIndex, clang_getClangVersion,
    load_manually, set_library,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why libclang can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoadError {
    /// A static program loads no libraries.
    Static,
    /// There is none.
    Missing,
    /// There is one, before 17.
    Old(PathBuf),
}

/// A loaded libclang. Threads share it.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    shared: Arc<SharedLibrary>,
}

impl Library {
    pub(crate) fn load() -> Result<Self, LoadError> {
        // musl's `dlopen` fails then, and glibc's takes only libraries of its very version.
        if cfg!(target_feature = "crt-static") {
            return Err(LoadError::Static);
        }
        let shared = load_manually().map_err(|_| LoadError::Missing)?;
        if shared.version() != Some(Version::V17_0) {
            return Err(LoadError::Old(shared.path().to_owned()));
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The file that was loaded.
    pub(crate) fn path(&self) -> &Path {
        self.shared.path()
    }

    /// The sentence in which clang names itself.
    pub(crate) fn version(&self) -> String {
        self.enter();
        // SAFETY: the library is loaded on this thread, and the call takes nothing.
        owned(unsafe { clang_getClangVersion() })
    }

    /// A set of units to parse.
    pub(super) fn index(&self) -> Index {
        self.enter();
        // SAFETY: the library is loaded on this thread; the index is disposed of by its owner.
        Index { raw: unsafe { clang_createIndex(0, 0) } }
    }

    /// Lets this thread call the library: clang-sys keeps it by thread.
    fn enter(&self) {
        set_library(Some(Arc::clone(&self.shared)));
    }
}

/// The place where libclang keeps its units.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) raw: CXIndex,
}

impl Drop for Index {
    fn drop(&mut self) {
        // SAFETY: made by `clang_createIndex`, disposed of once; units are fields before it and gone by now.
        unsafe { clang_disposeIndex(self.raw) }
    }
}
