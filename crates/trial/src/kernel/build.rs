//! The kernel's own build, made such that the same sources give the same bytes.

use super::config::KernelConfig;
use crate::command;
use crate::error::{Error, Result};
use fieldline_guest::GuestArchitecture;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables for what would otherwise differ from build to build (Documentation/kbuild/reproducible-builds.rst).
const FIXED: [(&str, &str); 4] = [
    ("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970"),
    ("KBUILD_BUILD_USER", "fieldline"),
    ("KBUILD_BUILD_HOST", "trial"),
    ("KBUILD_BUILD_VERSION", "1"),
];

/// A folder in which kernels of one configuration are built one after the other.
#[derive(Clone, Debug)]
pub(crate) struct KernelBuild<'b> {
    /// The source tree.
    pub(crate) tree: &'b Path,
    /// The build folder.
    pub(crate) folder: &'b Path,
    /// The kind of machine.
    pub(crate) architecture: GuestArchitecture,
    /// More arguments of make, such as `CC=gcc-14`.
    pub(crate) arguments: &'b [String],
    /// Jobs that run at once.
    pub(crate) jobs: usize,
    /// The file for all output.
    pub(crate) log: &'b Path,
}

/// The files of a built kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltKernel {
    /// The kernel with debug info.
    pub vmlinux: PathBuf,
    /// The image that is booted.
    pub image: PathBuf,
}

impl BuiltKernel {
    /// A kernel's files in a folder.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { vmlinux: folder.join("vmlinux"), image: folder.join("image") }
    }
}

impl KernelBuild<'_> {
    /// Writes the configuration, and has the kernel complete it.
    ///
    /// # Errors
    ///
    /// It can't be read, written or completed, or it makes no debug info.
    pub(crate) fn configure(&self, config: &KernelConfig) -> Result<()> {
        fs::create_dir_all(self.folder).map_err(Error::file(self.folder))?;
        let path = self.folder.join(".config");
        let (target, lines) = config.parts()?;
        if let Some(target) = target {
            self.make(&[target])?;
        }
        let before = if target.is_some() {
            fs::read_to_string(&path).map_err(Error::file(&path))?
        } else {
            String::new()
        };
        fs::write(&path, before + &lines).map_err(Error::file(&path))?;
        self.make(&["olddefconfig"])?;
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        if !text.contains("CONFIG_DEBUG_INFO=y") {
            let what = "the configuration makes no debug info (CONFIG_DEBUG_INFO_DWARF5)".to_owned();
            return Err(Error::Input { path, what });
        }
        Ok(())
    }

    /// Builds and copies the kernel to a folder, where it appears whole or not at all.
    ///
    /// # Errors
    ///
    /// It can't be built or copied.
    pub(crate) fn build(&self, to: &Path) -> Result<BuiltKernel> {
        let (target, image) = match self.architecture {
            GuestArchitecture::X86_64 => ("bzImage", "arch/x86/boot/bzImage"),
            GuestArchitecture::AArch64 => ("Image", "arch/arm64/boot/Image"),
        };
        self.make(&["vmlinux", target])?;
        let partial = to.with_extension("partial");
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(Error::file(&partial))?;
        }
        fs::create_dir_all(&partial).map_err(Error::file(&partial))?;
        let built = BuiltKernel::in_folder(&partial);
        for (from, to) in
            [("vmlinux", &built.vmlinux), (image, &built.image), (".config", &partial.join("config"))]
        {
            let from = self.folder.join(from);
            fs::copy(&from, to).map_err(Error::file(&from))?;
        }
        fs::rename(&partial, to).map_err(Error::file(to))?;
        Ok(BuiltKernel::in_folder(to))
    }

    /// How many objects were compiled since a time.
    #[must_use]
    pub(crate) fn compiled_since(&self, time: std::time::SystemTime) -> usize {
        let mut folders = vec![self.folder.to_owned()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if entry.path().extension().is_some_and(|ending| ending == "o") {
                    let changed = entry.metadata().and_then(|data| data.modified());
                    count += usize::from(changed.is_ok_and(|changed| changed >= time));
                }
            }
        }
        count
    }

    fn make(&self, targets: &[&str]) -> Result<()> {
        let mut make = Command::new("make");
        make.arg("-C")
            .arg(self.tree)
            .arg(format!("O={}", self.folder.display()))
            .arg(format!("-j{}", self.jobs));
        if self.architecture == GuestArchitecture::AArch64 {
            make.arg("ARCH=arm64");
        }
        make.args(self.arguments).args(targets);
        // Options of a make that this one runs below would be taken for its own.
        make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").envs(FIXED).env("LC_ALL", "C");
        command::run(&mut make, Some(self.log))
    }
}
