//! A program and its recordings, opened, checked to belong together, and attributed.

use crate::args::Recordings;
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::dwarf::open_alt_link;
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::hex;
use fieldline_debuginfo::{Elf, FileBytes, module, separate};
use fieldline_doctor::blind_spots::sentences;
use fieldline_perfdata::perf_data::Error;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::addresses::{check_addresses, check_build_id};
use fieldline_profile::attribute::{Attribution, Joint};
use fieldline_profile::sums::{self, DsoCoverage};
use fieldline_typeflow::operands::answers::Answers;
use fieldline_typeflow::program::Program;
use std::path::Path;

/// What work on attributed recordings is given.
pub(crate) struct Attributed<'w> {
    attributions: &'w [Attribution<'w>],
    dwarfs: Vec<&'w Dwarf<'w>>,
    files: &'w [SampleFile],
    names: Vec<String>,
    build_id: Option<String>,
}

impl Attributed<'_> {
    pub(crate) fn profile(&self) -> Result<AccessProfile> {
        let parts = self.dwarfs.iter().zip(self.attributions);
        let parts: Vec<_> = parts.map(|(dwarf, attribution)| sums::Part { dwarf, attribution }).collect();
        let build_id = self.build_id.as_deref();
        Ok(sums::profile(&parts, self.joint(), self.files, &self.names, build_id, sentences)?)
    }

    /// What was attributed, and why not the rest, by event and program.
    pub(crate) fn coverage(&self) -> Result<Vec<DsoCoverage>> {
        Ok(sums::coverage(self.joint(), self.files)?)
    }

    /// All programs together.
    pub(crate) fn joint(&self) -> Joint<'_, '_> {
        Joint { attributions: self.attributions }
    }

    /// What the code of a program tells.
    pub(crate) fn answers(&self, program: usize) -> Option<&Answers> {
        self.attributions.get(program).map(|attribution| &attribution.answers)
    }

    /// How many recordings there are.
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }
}

struct Files {
    program: FileBytes,
    /// Its debug info, if that is in another file.
    debug: Option<FileBytes>,
}

/// Programs and their recordings, opened and checked to belong together; nothing is attributed yet.
pub(crate) struct Opened<'r> {
    args: &'r Recordings,
    files: Vec<SampleFile>,
    programs: Vec<Files>,
}

/// Opens programs and their recordings, attributes the samples, and works on the result.
pub(crate) fn attributed<T>(args: &Recordings, work: impl FnOnce(&Attributed<'_>) -> Result<T>) -> Result<T> {
    Opened::new(args)?.attributed(work)
}

impl<'r> Opened<'r> {
    /// Opens what the arguments name; an error if a file is missing, broken, or of another program.
    pub(crate) fn new(args: &'r Recordings) -> Result<Self> {
        let files = args.perf.iter().map(|path| open(path)).collect::<Result<Vec<_>>>()?;
        let programs = args.programs.iter().map(|path| open_program(path, args));
        let programs = programs.collect::<Result<Vec<_>>>()?;
        for program in &programs {
            let elf = Elf::parse(&program.program)?;
            for (file, path) in files.iter().zip(&args.perf) {
                check(&elf, file, path, args.force)?;
            }
        }
        Ok(Self { args, files, programs })
    }

    /// Attributes the samples and works on the result.
    pub(crate) fn attributed<T>(&self, work: impl FnOnce(&Attributed<'_>) -> Result<T>) -> Result<T> {
        let Self { args, files, programs: opened } = self;
        let elfs = opened.iter().map(|file| Ok(Elf::parse(&file.program)?)).collect::<Result<Vec<_>>>()?;
        let debugs = opened.iter().map(|file| Ok(Elf::parse(file.debug.as_ref().unwrap_or(&file.program))?));
        let debugs = debugs.collect::<Result<Vec<_>>>()?;
        let sup_bytes = debugs.iter().map(|debug| Ok(open_alt_link(debug)?)).collect::<Result<Vec<_>>>()?;
        let sups = sup_bytes.iter().map(|bytes| Ok(bytes.as_ref().map(Elf::parse).transpose()?));
        let sups = sups.collect::<Result<Vec<_>>>()?;
        let sections =
            debugs.iter().zip(&sups).map(|(debug, sup)| Ok(DebugSections::load(debug, sup.as_ref())?));
        let sections = sections.collect::<Result<Vec<_>>>()?;
        let dwarfs = sections.iter().map(|sections| Ok(Dwarf::new(sections)?)).collect::<Result<Vec<_>>>()?;
        let programs = elfs.iter().zip(&debugs).zip(&dwarfs);
        let programs = programs.map(|((elf, debug), dwarf)| Ok(Program::with_debug(elf, debug, dwarf)?));
        let mut programs = programs.collect::<Result<Vec<_>>>()?;
        let attributions = elfs.iter().zip(&mut programs).map(|(elf, program)| match args.no_addresses {
            true => Ok(Attribution::by_code(elf, program, files)?),
            false => Ok(Attribution::new(elf, program, files)?),
        });
        let attributions = attributions.collect::<Result<Vec<_>>>()?;
        work(&Attributed {
            attributions: &attributions,
            dwarfs: dwarfs.iter().collect(),
            files,
            names: args.perf.iter().map(|path| base_name(path)).collect(),
            build_id: elfs.first().and_then(Elf::build_id).map(hex),
        })
    }
}

fn open_program(path: &Path, args: &Recordings) -> Result<Files> {
    let program = open_linked(FileBytes::open(path)?)?;
    let debug = separate::open(&Elf::parse(&program)?, &args.debug_dir)?.map(open_linked).transpose()?;
    Ok(Files { program, debug })
}

/// A file of a program; a kernel module as the kernel loads it.
pub(crate) fn open_linked(file: FileBytes) -> Result<FileBytes> {
    Ok(module::linked(&file)?.unwrap_or(file))
}

pub(crate) fn open(path: &Path) -> Result<SampleFile> {
    match SampleFile::open(path) {
        Err(Error::Line { line, problem }) => bail!("{}:{line}: {problem}", path.display()),
        opened => opened.with_context(|| path.display().to_string()),
    }
}

/// Whether recording and program belong together, by build ids or, in a text, by addresses.
fn check(elf: &Elf<'_>, file: &SampleFile, path: &Path, force: bool) -> Result<()> {
    let by_addresses = || check_addresses(elf, file).map_err(anyhow::Error::from);
    let checked = check_build_id(elf, file).map_err(anyhow::Error::from).and_then(|()| by_addresses());
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
