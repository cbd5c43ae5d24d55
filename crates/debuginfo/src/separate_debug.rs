//! Debug info in a file of its own (`objcopy --only-keep-debug`), for a program that was stripped of it.
//!
//! It is found the way debuggers find it: by build id below `.build-id`, by the name in `.gnu_debuglink` beside the program,
//! in `.debug` beside it, or below a folder of debug files.

use crate::elf::hex;
use crate::{Elf, FileBytes};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder in which distributions put debug files.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// Folders that go before the usual one. All files of a run are looked for in the same ones.
static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Sets folders with debug files, which go before the usual one. Only the first call has an effect, so it comes before
/// any file is opened.
pub fn search_folders(folders: Vec<PathBuf>) {
    let _ = FOLDERS.set(folders);
}

fn own_folders() -> &'static [PathBuf] {
    FOLDERS.get().map(Vec::as_slice).unwrap_or_default()
}

/// The file with a program's debug info, if that is not the program itself and one is found.
///
/// # Errors
/// If the files found are of other programs, or can't be read.
pub fn open_debug_file(elf: &Elf<'_>) -> Result<Option<FileBytes>> {
    find(elf, own_folders())
}

fn find(elf: &Elf<'_>, folders: &[PathBuf]) -> Result<Option<FileBytes>> {
    if elf.has_dwarf() {
        return Ok(None);
    }
    first_usable(candidates(elf, folders), |candidate, bytes| {
        let debug = Elf::parse(bytes)?;
        check_origin(elf, &debug, bytes, candidate.checksum)?;
        Ok(debug.has_dwarf())
    })
}

/// A place where a debug file may be.
pub(crate) struct Candidate {
    path: PathBuf,
    /// The checksum it must have, if the program says one.
    checksum: Option<u32>,
}

impl From<PathBuf> for Candidate {
    fn from(path: PathBuf) -> Self {
        Self { path, checksum: None }
    }
}

/// The first file that is there and that a check accepts; the first complaint if there is none.
pub(crate) fn first_usable(
    candidates: Vec<Candidate>,
    accepts: impl Fn(&Candidate, &FileBytes) -> Result<bool>,
) -> Result<Option<FileBytes>> {
    let mut complaint = None;
    // A folder of such a name is none of the files; anything else says what is wrong with it.
    let is_there = |path: &Path| std::fs::metadata(path).is_ok_and(|data| !data.is_dir());
    for candidate in candidates.into_iter().filter(|candidate| is_there(&candidate.path)) {
        let opened = FileBytes::open(&candidate.path).map_err(anyhow::Error::from);
        match opened.and_then(|bytes| Ok(accepts(&candidate, &bytes)?.then_some(bytes))) {
            Ok(Some(bytes)) => return Ok(Some(bytes)),
            Ok(None) => {}
            Err(error) => complaint = complaint.or(Some(error)),
        }
    }
    complaint.map_or(Ok(None), Err)
}

/// Files below folders of debug files by a build id.
fn files_by_id(id: &[u8], roots: &[&Path]) -> Vec<PathBuf> {
    let id = hex(id);
    let Some((head, tail)) = id.split_at_checked(2) else { return Vec::new() };
    roots.iter().map(|root| root.join(".build-id").join(head).join(format!("{tail}.debug"))).collect()
}

fn candidates(elf: &Elf<'_>, folders: &[PathBuf]) -> Vec<Candidate> {
    let beside = elf.path().parent().unwrap_or(Path::new("."));
    let roots: Vec<&Path> = roots(folders);
    let mut found: Vec<Candidate> = Vec::new();
    if let Some(id) = elf.build_id() {
        let plain = hex(id);
        let plain = plain.split_at_checked(2).map(|(head, tail)| format!("{head}/{tail}.debug"));
        found.extend(plain.iter().flat_map(|name| folders.iter().map(move |root| root.join(name).into())));
        found.extend(files_by_id(id, &roots).into_iter().map(Candidate::from));
    }
    if let Some((name, checksum)) = elf.debug_link() {
        let name = String::from_utf8_lossy(name);
        let name = name.as_ref();
        let mut paths: Vec<PathBuf> = folders.iter().map(|root| root.join(name)).collect();
        paths.extend([beside.join(name), beside.join(".debug").join(name)]);
        let full = beside.canonicalize().unwrap_or_else(|_| beside.to_owned());
        let below = full.strip_prefix("/").map(Path::to_owned).unwrap_or(full);
        paths.extend(roots.iter().map(|root| root.join(&below).join(name)));
        found.extend(paths.into_iter().map(|path| Candidate { path, checksum: Some(checksum) }));
    }
    // The program's own name, as kernels' debug packages have it for modules.
    if let Some(name) = elf.path().file_name() {
        found.extend(folders.iter().map(|root| root.join(name).into()));
    }
    found
}

fn roots(folders: &[PathBuf]) -> Vec<&Path> {
    folders.iter().map(PathBuf::as_path).chain([Path::new(DEBUG_ROOT)]).collect()
}

/// Fails if the debug file is of another build: by its build id, else by the checksum that the program says.
fn check_origin(elf: &Elf<'_>, debug: &Elf<'_>, bytes: &FileBytes, checksum: Option<u32>) -> Result<()> {
    match (elf.build_id(), debug.build_id(), checksum) {
        (Some(own), Some(other), _) if own != other => bail!(
            "{}: build id {}, but {} is the debug file of build id {}",
            elf.name(),
            hex(own),
            debug.name(),
            hex(other)
        ),
        (Some(_), Some(_), _) | (.., None) => Ok(()),
        (.., Some(wanted)) => {
            let found = crc32fast::hash(bytes.bytes());
            if found != wanted {
                bail!(
                    "{}: .gnu_debuglink says checksum {wanted:08x}, but {} has {found:08x}: it is the debug file of another \
                     build",
                    elf.name(),
                    debug.name()
                );
            }
            Ok(())
        }
    }
}

/// The supplementary file of `dwz` that `.gnu_debugaltlink` names: relative to the file, or by build id.
///
/// # Errors
/// If the link is there and no such file is.
pub fn open_alt_link(elf: &Elf<'_>) -> Result<Option<FileBytes>> {
    find_alt_link(elf, own_folders())
}

fn find_alt_link(elf: &Elf<'_>, folders: &[PathBuf]) -> Result<Option<FileBytes>> {
    let Some((name, id)) = elf.alt_link() else { return Ok(None) };
    let name = PathBuf::from(String::from_utf8_lossy(name).into_owned());
    let mut paths = vec![elf.path().parent().unwrap_or(Path::new(".")).join(&name)];
    if let Some(file) = name.file_name() {
        paths.extend(folders.iter().map(|root| root.join(file)));
    }
    paths.extend(files_by_id(id, &roots(folders)));
    let found = first_usable(paths.into_iter().map(Candidate::from).collect(), |_, bytes| {
        let file = Elf::parse(bytes)?;
        match file.build_id().filter(|own| *own != id) {
            Some(other) => bail!("{}: build id {}, but {} is wanted", file.name(), hex(other), hex(id)),
            None => Ok(true),
        }
    })?;
    if found.is_none() {
        bail!(
            "{}: no supplementary debug file: .gnu_debugaltlink names {} (build id {}), which is in none of {}{}",
            elf.name(),
            name.display(),
            hex(id),
            searched(elf, folders),
            how_to_get(Some(id))
        );
    }
    Ok(found)
}

/// The end of the message on a file without DWARF: which debug file was looked for, where, and how to get it.
pub(crate) fn describe_missing(elf: &Elf<'_>) -> String {
    let link = elf.debug_link().map(|(name, _)| String::from_utf8_lossy(name).into_owned());
    let names: Vec<String> = [
        elf.build_id().map(|id| format!("of build id {}", hex(id))),
        link.map(|name| format!("named {name} (.gnu_debuglink)")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if names.is_empty() {
        return "; build with CONFIG_DEBUG_INFO or -g".to_owned();
    }
    let (names, searched) = (names.join(" or "), searched(elf, own_folders()));
    format!(
        ", and no debug file {names} in {searched}{}; or build with CONFIG_DEBUG_INFO or -g",
        how_to_get(elf.build_id())
    )
}

/// The folders in which files beside the program and debug files are looked for.
fn searched(elf: &Elf<'_>, folders: &[PathBuf]) -> String {
    let beside =
        elf.path().parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut all: Vec<String> = roots(folders).iter().map(|root| root.display().to_string()).collect();
    all.extend([beside.display().to_string(), beside.join(".debug").display().to_string()]);
    all.join(", ")
}

fn how_to_get(id: Option<&[u8]>) -> String {
    let anywhere =
        id.map(|id| format!("; anywhere: debuginfod-find debuginfo {}", hex(id))).unwrap_or_default();
    format!(
        "; --debug-dir names another folder; get it by a package (Debian: -dbg or -dbgsym; Fedora: debuginfo-install\
         {anywhere})"
    )
}
