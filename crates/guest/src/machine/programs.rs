//! Our programs in C: the plugin of QEMU, the first program of the guest, and the load of `fieldline bench`. They are
//! compiled once, and kept by what they are made of.

use super::architecture::GuestArchitecture;
use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PLUGIN: &str = include_str!("../../plugin/fieldline-plugin.c");
const INIT: &str = include_str!("../../programs/init.c");
const BENCH: &str = include_str!("../../programs/bench.c");
/// Loads that both have.
const LOADS: (&str, &str) = ("loads.h", include_str!("../../programs/loads.h"));

/// The plugin, compiled for this machine.
pub(crate) fn plugin(cache: &Path) -> Result<PathBuf> {
    let build = Build {
        what: "the plugin of QEMU",
        source: PLUGIN,
        header: None,
        compiler: "cc",
        packages: "gcc libc6-dev",
        options: &["-O2", "-shared", "-fPIC"],
        suffix: ".so",
    };
    build.run(cache)
}

/// The first program of a guest.
pub(crate) fn init(cache: &Path, architecture: GuestArchitecture) -> Result<PathBuf> {
    let (compiler, packages) = architecture.compiler();
    let what = "the guest's first program";
    let (header, options) = (Some(LOADS), &["-O2", "-static"]);
    Build { what, source: INIT, header, compiler, packages, options, suffix: "" }.run(cache)
}

/// The program that runs the loads of `fieldline bench` on this machine: static, compiled once, and kept in `cache`.
///
/// # Errors
///
/// It isn't there yet, and there is no C compiler, or the folder can't be written.
pub fn bench_program(cache: &Path) -> Result<PathBuf> {
    let build = Build {
        what: "the program with the loads",
        source: BENCH,
        header: Some(LOADS),
        compiler: "cc",
        packages: "gcc libc6-dev",
        options: &["-O2", "-static"],
        suffix: "",
    };
    build.run(cache)
}

struct Build {
    what: &'static str,
    source: &'static str,
    /// A file that the source includes, by name.
    header: Option<(&'static str, &'static str)>,
    compiler: &'static str,
    packages: &'static str,
    options: &'static [&'static str],
    suffix: &'static str,
}

impl Build {
    fn run(&self, cache: &Path) -> Result<PathBuf> {
        fs::create_dir_all(cache).map_err(Error::file(cache))?;
        let name = format!("guest-{:016x}{}", self.hash(), self.suffix);
        let path = cache.join(name);
        if path.exists() {
            return Ok(path);
        }
        let folder = tempfile::tempdir_in(cache).map_err(Error::file(cache))?;
        let (source, built) = (folder.path().join("source.c"), folder.path().join("built"));
        fs::write(&source, self.source).map_err(Error::file(&source))?;
        if let Some((name, text)) = self.header {
            let header = folder.path().join(name);
            fs::write(&header, text).map_err(Error::file(&header))?;
        }
        let mut command = Command::new(self.compiler);
        command.args(self.options).arg("-o").arg(&built).arg(&source);
        let output = command.output().map_err(|_| Error::MissingProgram {
            program: self.compiler.to_owned(),
            packages: self.packages,
            hint: "",
        })?;
        if !output.status.success() {
            return Err(Error::Compiler {
                compiler: self.compiler.to_owned(),
                what: self.what,
                output: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        fs::rename(&built, &path).map_err(Error::file(&path))?;
        Ok(path)
    }

    /// FNV-1a (Fowler, Noll, Vo) of the source and what it is compiled with.
    fn hash(&self) -> u64 {
        let header = self.header.map(|(_, text)| text);
        let texts =
            [self.source, self.compiler].into_iter().chain(self.options.iter().copied()).chain(header);
        let bytes = texts.flat_map(|text| text.bytes().chain([0]));
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}
