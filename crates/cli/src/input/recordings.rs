//! A program and its recordings, opened, checked to belong together, and attributed.

use crate::output::{self, Stage};
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::separate_debug::{open_alt_link, open_debug_file};
use fieldline_debuginfo::{Elf, FileBytes, hex, module, types};
use fieldline_doctor::blind_spots::blind_spot_messages;
use fieldline_perfdata::perf_data::Error;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::addresses::{check_addresses, check_build_id};
use fieldline_profile::attribute::{Attribution, JointAttribution};
use fieldline_profile::sums::{self, AttributedProgram, DsoCoverage};
use fieldline_typeflow::program::Program;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Most programs named that a recording has samples of.
const MAX_NAMED: usize = 5;

/// Programs and their recordings, by name, and how to attribute them.
#[derive(Debug, Default)]
pub(crate) struct RecordingInputs {
    /// Programs, libraries and modules that are attributed together.
    pub(crate) programs: Vec<PathBuf>,
    pub(crate) perf: Vec<PathBuf>,
    /// Whether another build ID is only noted.
    pub(crate) force: bool,
    /// Whether instructions alone are used, not data addresses.
    pub(crate) no_addresses: bool,
    /// Whether a recording may have no sample of the programs.
    pub(crate) may_lack_samples: bool,
}

impl RecordingInputs {
    /// The first program: the one whose structs are planned.
    pub(crate) fn first_program(&self) -> &Path {
        self.programs.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// The attributed samples of recordings.
pub(crate) struct AttributedSamples<'w> {
    pub(crate) attributions: &'w [Attribution<'w>],
    dwarfs: Vec<&'w Dwarf<'w>>,
    pub(crate) files: &'w [SampleFile],
    names: Vec<String>,
    build_ids: Vec<Option<String>>,
}

impl AttributedSamples<'_> {
    pub(crate) fn profile(&self) -> Result<AccessProfile> {
        let parts = self.dwarfs.iter().zip(self.attributions);
        let parts: Vec<_> =
            parts.map(|(dwarf, attribution)| AttributedProgram { dwarf, attribution }).collect();
        let ids = &self.build_ids;
        Ok(sums::profile(&parts, self.joint(), self.files, &self.names, ids, blind_spot_messages)?)
    }

    /// Attributed samples, and reasons for the others, by event and DSO.
    pub(crate) fn coverage(&self) -> Result<Vec<DsoCoverage>> {
        Ok(sums::coverage(self.joint(), self.files)?)
    }

    pub(crate) fn joint(&self) -> JointAttribution<'_, '_> {
        JointAttribution { attributions: self.attributions }
    }
}

/// The files of a program.
pub(crate) struct ProgramFiles {
    pub(crate) program: FileBytes,
    /// Its debug info, if that is in another file.
    debug: Option<FileBytes>,
}

impl ProgramFiles {
    /// The file that has debug info and symbols.
    pub(crate) fn debug(&self) -> &FileBytes {
        self.debug.as_ref().unwrap_or(&self.program)
    }
}

/// Programs and their recordings, opened and checked to match; nothing is attributed yet.
pub(crate) struct OpenedRecordings<'r> {
    inputs: &'r RecordingInputs,
    files: Vec<SampleFile>,
    programs: Vec<ProgramFiles>,
}

/// Opens programs and their recordings, attributes the samples, and works on the result.
pub(crate) fn attribute<T>(
    inputs: &RecordingInputs,
    work: impl FnOnce(&AttributedSamples<'_>) -> Result<T>,
) -> Result<T> {
    OpenedRecordings::new(inputs)?.attribute(work)
}

impl<'r> OpenedRecordings<'r> {
    /// Opens the files; an error if one is missing, broken, or of another program.
    pub(crate) fn new(inputs: &'r RecordingInputs) -> Result<Self> {
        let files = try_map(&inputs.perf, |path| open(path))?;
        let programs = try_map(&inputs.programs, |path| open_program(path))?;
        for program in &programs {
            let elf = Elf::parse(&program.program)?;
            for (file, path) in files.iter().zip(&inputs.perf) {
                check_same_program(&elf, file, path, inputs.force)?;
            }
        }
        Ok(Self { inputs, files, programs })
    }

    pub(crate) fn attribute<T>(&self, work: impl FnOnce(&AttributedSamples<'_>) -> Result<T>) -> Result<T> {
        let stage = output::begin_stage(ATTRIBUTING);
        let is_over = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            if stage.is_shown() {
                scope.spawn(|| show_scans(&stage, &self.files, &is_over));
            }
            let _end = EndOnDrop(&is_over);
            self.attribute_unseen(work)
        })
    }

    fn attribute_unseen<T>(&self, work: impl FnOnce(&AttributedSamples<'_>) -> Result<T>) -> Result<T> {
        let Self { inputs, files, programs: opened } = self;
        let elfs = try_map(opened, |file| Elf::parse(&file.program))?;
        let debug = try_map(opened, |file| Elf::parse(file.debug()))?;
        let sup_bytes = try_map(&debug, open_alt_link)?;
        let sups = try_map(&sup_bytes, |bytes| bytes.as_ref().map(Elf::parse).transpose())?;
        let sections = try_map(debug.iter().zip(&sups), |(elf, sup)| DebugSections::load(elf, sup.as_ref()))?;
        let dwarfs = try_map(&sections, Dwarf::new)?;
        let mut programs = try_map(elfs.iter().zip(&debug).zip(&dwarfs), |((elf, debug), dwarf)| {
            Program::with_debug(elf, debug, dwarf)
        })?;
        let attributions =
            try_map(elfs.iter().zip(&mut programs), |(elf, program)| match inputs.no_addresses {
                true => Attribution::by_code(elf, program, files),
                false => Attribution::new(elf, program, files),
            })?;
        let attributed = AttributedSamples {
            attributions: &attributions,
            dwarfs: dwarfs.iter().collect(),
            files,
            names: inputs.perf.iter().map(|path| base_name(path)).collect(),
            build_ids: elfs.iter().map(|elf| elf.build_id().map(hex)).collect(),
        };
        if !inputs.may_lack_samples {
            self.check_samples(&attributed)?;
        }
        work(&attributed)
    }

    /// Refuses a recording that has samples, but none of the programs.
    fn check_samples(&self, attributed: &AttributedSamples<'_>) -> Result<()> {
        for (recording, path) in self.inputs.perf.iter().enumerate() {
            if attributed.joint().has_own_samples(recording)? != Some(false) {
                continue;
            }
            let programs: Vec<String> =
                self.inputs.programs.iter().map(|path| path.display().to_string()).collect();
            let coverage = attributed.coverage()?;
            let mut recorded: Vec<&str> = Vec::new();
            for row in &coverage {
                if !recorded.contains(&row.dso.as_str()) {
                    recorded.push(&row.dso);
                }
            }
            recorded.truncate(MAX_NAMED);
            bail!(
                "{}: none of its samples is of {}; name what was running with --vmlinux; most samples are of: {}",
                path.display(),
                programs.join(" or "),
                recorded.join(", ")
            );
        }
        Ok(())
    }
}

/// The stage of attribution.
const ATTRIBUTING: &str = "attributing samples";

/// Time between two looks at how far scans are.
const LOOK: Duration = Duration::from_millis(200);

/// Whether work is over, and a way to wait for that.
type IsOver = (Mutex<bool>, Condvar);

/// Ends what waits for the end of work, however that ends.
struct EndOnDrop<'o>(&'o IsOver);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Shows how far the scans of recordings are, until work is over.
fn show_scans(stage: &Stage, files: &[SampleFile], (is_over, ended): &IsOver) {
    let mut over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
    while !*over {
        let scans = || files.iter().map(SampleFile::scan_progress).filter(|scan| scan.scans > 0);
        if let Some(scan) = scans().find(|scan| scan.read < scan.size).or_else(|| scans().last()) {
            stage.set_share(scan.read, scan.size, format!("{ATTRIBUTING}, pass {}", scan.scans));
        }
        over = ended.wait_timeout(over, LOOK).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Maps each item, up to the first error.
fn try_map<I: IntoIterator, T, E: Into<anyhow::Error>>(
    all: I,
    make: impl FnMut(I::Item) -> Result<T, E>,
) -> Result<Vec<T>> {
    all.into_iter().map(make).map(|made| made.map_err(Into::into)).collect()
}

/// Opens a program and the file with its debug info; kernel modules as the kernel loads them.
pub(crate) fn open_program(path: &Path) -> Result<ProgramFiles> {
    let program = open_linked(FileBytes::open(path)?)?;
    let debug = open_debug_file(&Elf::parse(&program)?)?;
    Ok(ProgramFiles { debug: debug.map(open_linked).transpose()?, program })
}

/// A file of a program; a kernel module as the kernel loads it.
fn open_linked(file: FileBytes) -> Result<FileBytes> {
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

/// Refuses a program that a profile wasn't made with, where both say their builds; else layouts decide.
pub(crate) fn check_profile(profile: &AccessProfile, path: &Path, program: &Path) -> Result<()> {
    let Some(given) = build_id(program)? else { return Ok(()) };
    if profile.knows_build(&given) != Some(false) {
        return Ok(());
    }
    let made = profile.recordings.iter().find_map(|recording| recording.build_id.as_deref());
    bail!(
        "{}: made with build id {}, but {} has {given}; give the program that it was made with",
        path.display(),
        made.unwrap_or("?"),
        program.display()
    );
}

/// A program's build id in hex; raw BTF has none.
pub(crate) fn build_id(path: &Path) -> Result<Option<String>> {
    let file = FileBytes::open(path)?;
    if types::is_raw_btf(file.bytes()) {
        return Ok(None);
    }
    Ok(Elf::parse(&file)?.build_id().map(hex))
}

/// The file's name without its folder.
pub(crate) fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
