//! A program and its recordings, opened, checked to belong together, and attributed.

use crate::args::RecordingArgs;
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf, open_alt_link};
use fieldline_debuginfo::{Elf, FileBytes, hex, module, separate_debug};
use fieldline_doctor::blind_spots::blind_spot_messages;
use fieldline_perfdata::perf_data::Error;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::addresses::{check_addresses, check_build_id};
use fieldline_profile::attribute::{Attribution, JointAttribution};
use fieldline_profile::sums::{self, DsoCoverage};
use fieldline_typeflow::program::Program;
use std::path::Path;

/// Attributed recordings.
pub(crate) struct AttributedRecordings<'w> {
    pub(crate) attributions: &'w [Attribution<'w>],
    dwarfs: Vec<&'w Dwarf<'w>>,
    pub(crate) files: &'w [SampleFile],
    names: Vec<String>,
    build_id: Option<String>,
}

impl AttributedRecordings<'_> {
    pub(crate) fn profile(&self) -> Result<AccessProfile> {
        let parts = self.dwarfs.iter().zip(self.attributions);
        let parts: Vec<_> =
            parts.map(|(dwarf, attribution)| sums::AttributedProgram { dwarf, attribution }).collect();
        let build_id = self.build_id.as_deref();
        Ok(sums::profile(&parts, self.joint(), self.files, &self.names, build_id, blind_spot_messages)?)
    }

    /// Attributed samples, and reasons for the others, by event and DSO.
    pub(crate) fn coverage(&self) -> Result<Vec<DsoCoverage>> {
        Ok(sums::coverage(self.joint(), self.files)?)
    }

    pub(crate) fn joint(&self) -> JointAttribution<'_, '_> {
        JointAttribution { attributions: self.attributions }
    }
}

struct ProgramFiles {
    program: FileBytes,
    /// Its debug info, if that is in another file.
    debug: Option<FileBytes>,
}

/// Programs and their recordings, opened and checked to match; nothing is attributed yet.
pub(crate) struct OpenedRecordings<'r> {
    args: &'r RecordingArgs,
    files: Vec<SampleFile>,
    programs: Vec<ProgramFiles>,
}

/// Opens programs and their recordings, attributes the samples, and works on the result.
pub(crate) fn attribute<T>(
    args: &RecordingArgs,
    work: impl FnOnce(&AttributedRecordings<'_>) -> Result<T>,
) -> Result<T> {
    OpenedRecordings::new(args)?.attribute(work)
}

impl<'r> OpenedRecordings<'r> {
    /// Opens the files of the arguments; an error if one is missing, broken, or of another program.
    pub(crate) fn new(args: &'r RecordingArgs) -> Result<Self> {
        let files = try_map(&args.perf, |path| open(path))?;
        let programs = try_map(&args.programs, |path| open_program(path, args))?;
        for program in &programs {
            let elf = Elf::parse(&program.program)?;
            for (file, path) in files.iter().zip(&args.perf) {
                check_same_program(&elf, file, path, args.force)?;
            }
        }
        Ok(Self { args, files, programs })
    }

    pub(crate) fn attribute<T>(
        &self,
        work: impl FnOnce(&AttributedRecordings<'_>) -> Result<T>,
    ) -> Result<T> {
        let Self { args, files, programs: opened } = self;
        let elfs = try_map(opened, |file| Elf::parse(&file.program))?;
        let debugs = try_map(opened, |file| Elf::parse(file.debug.as_ref().unwrap_or(&file.program)))?;
        let sup_bytes = try_map(&debugs, open_alt_link)?;
        let sups = try_map(&sup_bytes, |bytes| bytes.as_ref().map(Elf::parse).transpose())?;
        let sections =
            try_map(debugs.iter().zip(&sups), |(debug, sup)| DebugSections::load(debug, sup.as_ref()))?;
        let dwarfs = try_map(&sections, Dwarf::new)?;
        let mut programs = try_map(elfs.iter().zip(&debugs).zip(&dwarfs), |((elf, debug), dwarf)| {
            Program::with_debug(elf, debug, dwarf)
        })?;
        let attributions =
            try_map(elfs.iter().zip(&mut programs), |(elf, program)| match args.no_addresses {
                true => Attribution::by_code(elf, program, files),
                false => Attribution::new(elf, program, files),
            })?;
        work(&AttributedRecordings {
            attributions: &attributions,
            dwarfs: dwarfs.iter().collect(),
            files,
            names: args.perf.iter().map(|path| base_name(path)).collect(),
            build_id: elfs.first().and_then(Elf::build_id).map(hex),
        })
    }
}

/// Maps each item, up to the first error.
fn try_map<I: IntoIterator, T, E: Into<anyhow::Error>>(
    all: I,
    make: impl FnMut(I::Item) -> Result<T, E>,
) -> Result<Vec<T>> {
    all.into_iter().map(make).map(|made| made.map_err(Into::into)).collect()
}

fn open_program(path: &Path, args: &RecordingArgs) -> Result<ProgramFiles> {
    let program = open_linked(FileBytes::open(path)?)?;
    let debug = separate_debug::open_debug_file(&Elf::parse(&program)?, &args.debug_dir)?
        .map(open_linked)
        .transpose()?;
    Ok(ProgramFiles { program, debug })
}

/// A file of a program; a kernel module as the kernel loads it.
pub(crate) fn open_linked(file: FileBytes) -> Result<FileBytes> {
    Ok(module::link_module(&file)?.unwrap_or(file))
}

pub(crate) fn open(path: &Path) -> Result<SampleFile> {
    match SampleFile::open(path) {
        Err(Error::Line { line, problem }) => bail!("{}:{line}: {problem}", path.display()),
        opened => opened.with_context(|| path.display().to_string()),
    }
}

/// Checks that recording and program match, by build IDs or, in a text, by addresses.
fn check_same_program(elf: &Elf<'_>, file: &SampleFile, path: &Path, force: bool) -> Result<()> {
    let by_id = check_build_id(elf, file).map_err(anyhow::Error::from);
    let checked = by_id.and_then(|()| check_addresses(elf, file).map_err(anyhow::Error::from));
    let Err(mismatch) = checked else { return Ok(()) };
    if !force {
        bail!("{}: {mismatch}; give the program that was running, or --force to go on", path.display());
    }
    output::print_note(&format!("{}: {mismatch}; going on as asked", path.display()));
    Ok(())
}

/// The file's name without its folder.
pub(crate) fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
