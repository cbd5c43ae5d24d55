//! A program and its recordings, opened, checked to belong together, and attributed.

use crate::args::Recordings;
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::dwarf::sections::{hex, open_alt_link};
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::access::AccessProfile;
use fieldline_profile::perf_data::Error;
use fieldline_profile::program::Program;
use fieldline_profile::run::{self, Attribution, DsoCoverage};
use fieldline_profile::sample_file::SampleFile;
use std::path::Path;

/// What work on attributed recordings is given.
pub(crate) struct Attributed<'w> {
    pub(crate) attribution: &'w Attribution<'w>,
    pub(crate) dwarf: &'w Dwarf<'w>,
    files: &'w [SampleFile],
    names: Vec<String>,
    build_id: Option<String>,
}

impl Attributed<'_> {
    /// The profile of all recordings.
    pub(crate) fn profile(&self) -> Result<AccessProfile> {
        let build_id = self.build_id.as_deref();
        Ok(run::profile(self.dwarf, self.attribution, self.files, &self.names, build_id)?)
    }

    /// What was attributed, and why not the rest, by event and program.
    pub(crate) fn coverage(&self) -> Result<Vec<DsoCoverage>> {
        Ok(run::coverage(self.attribution, self.files)?)
    }

    /// How many recordings there are.
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }
}

/// Opens a program and its recordings, attributes their samples, and works on the result.
pub(crate) fn attributed<T>(args: &Recordings, work: impl FnOnce(&Attributed<'_>) -> Result<T>) -> Result<T> {
    let bytes = FileBytes::open(&args.vmlinux)?;
    let elf = Elf::parse(&bytes)?;
    let files = args.perf.iter().map(|path| open(path)).collect::<Result<Vec<_>>>()?;
    for (file, path) in files.iter().zip(&args.perf) {
        check(&elf, file, path, args.force)?;
    }
    let sup_bytes = open_alt_link(&elf)?;
    let sup = sup_bytes.as_ref().map(Elf::parse).transpose()?;
    let sections = DebugSections::load(&elf, sup.as_ref())?;
    let dwarf = Dwarf::new(&sections)?;
    let mut program = Program::new(&elf, &dwarf)?;
    let attribution = if args.no_addresses {
        Attribution::by_code(&elf, &mut program, &files)?
    } else {
        Attribution::new(&elf, &mut program, &files)?
    };
    work(&Attributed {
        attribution: &attribution,
        dwarf: &dwarf,
        files: &files,
        names: args.perf.iter().map(|path| base_name(path)).collect(),
        build_id: elf.build_id().map(hex),
    })
}

/// Opens a recording.
pub(crate) fn open(path: &Path) -> Result<SampleFile> {
    match SampleFile::open(path) {
        Err(Error::Line { line, problem }) => bail!("{}:{line}: {problem}", path.display()),
        opened => opened.with_context(|| path.display().to_string()),
    }
}

/// Whether recording and program belong together, by build ids or, in a text, by addresses.
fn check(elf: &Elf<'_>, file: &SampleFile, path: &Path, force: bool) -> Result<()> {
    let by_addresses = || run::check_addresses(elf, file).map_err(anyhow::Error::from);
    let checked = run::check_build_id(elf, file).map_err(anyhow::Error::from).and_then(|()| by_addresses());
    match checked {
        Ok(()) => Ok(()),
        Err(mismatch) if force => {
            output::note(&format!("{}: {mismatch}; going on as asked", path.display()));
            Ok(())
        }
        Err(mismatch) => {
            bail!("{}: {mismatch}; give the program that was running, or --force to go on", path.display())
        }
    }
}

/// The file's name without its folder.
pub(crate) fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
