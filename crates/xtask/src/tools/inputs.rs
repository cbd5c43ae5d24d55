//! A real kernel and, where there are some, recordings of it.
//!
//! With FIELDLINE_DATA set, the folder's `vmlinux-*.zst` and `*.perf.data.zst` are used; otherwise a debug vmlinux of the
//! suite. The source is the suite's package of the same version, or the nearest that has one.

use crate::tools::debian::{self, SUITE};
use crate::tools::shell::{self, cache};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::dwarf::{self, DebugSections, Dwarf, TypeReader};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::Layout;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with recordings, if the caller has one.
pub(crate) fn data_folder() -> Option<PathBuf> {
    std::env::var_os("FIELDLINE_DATA").map(PathBuf::from).filter(|folder| folder.is_dir())
}

/// A kernel with debug info.
pub(crate) fn vmlinux() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("FIELDLINE_VMLINUX") {
        return Ok(PathBuf::from(given));
    }
    let Some(data) = data_folder() else { return debian_vmlinux() };
    decompress(&only_file(&data, |name| name.starts_with("vmlinux-") && name.ends_with(".zst"))?)
}

/// Opens a kernel's DWARF and works on it.
pub(crate) fn with_dwarf<T>(vmlinux: &Path, work: impl FnOnce(&Dwarf<'_>) -> Result<T>) -> Result<T> {
    let file = FileBytes::open(vmlinux)?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    work(&Dwarf::new(&sections)?)
}

/// The layouts of all structs and unions that DWARF defines.
pub(crate) fn layouts(dwarf: &Dwarf<'_>) -> Result<impl Iterator<Item = Result<Layout>>> {
    let mut reader = TypeReader::new(dwarf);
    let definitions = dwarf::index_definitions(dwarf)?.into_iter();
    let layouts = definitions.map(move |definition| {
        let id = reader.read(definition.die)?;
        Ok(Layout::from_type(reader.table(), id))
    });
    Ok(layouts.filter_map(Result::transpose))
}

/// The data folder's recording of memory accesses, unpacked.
pub(crate) fn recording() -> Result<Option<PathBuf>> {
    let Some(data) = data_folder() else { return Ok(None) };
    let packed = only_file(&data, |name| name.ends_with(".mem.perf.data.zst"))?;
    decompress(&packed).map(Some)
}

/// The folder with all recordings unpacked, if there are any.
pub(crate) fn all_recordings() -> Result<Option<PathBuf>> {
    let Some(data) = data_folder() else { return Ok(None) };
    for entry in fs::read_dir(&data)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".perf.data.zst") {
            decompress(&path)?;
        }
    }
    Ok(Some(cache()?.join("data")))
}

/// A recording of memory accesses, with files of the ground truth.
pub(crate) struct KnownTruthRecording {
    /// Prefix of the files' names.
    pub(crate) name: String,
    pub(crate) recording: PathBuf,
    /// Addresses of the objects.
    pub(crate) objects: PathBuf,
    /// Accesses by instruction, type and offset.
    pub(crate) instructions: PathBuf,
    /// Lost cachelines by type and offset.
    pub(crate) coherence: PathBuf,
    /// The first accesses, each by itself.
    pub(crate) trace: PathBuf,
}

/// The data folder's recordings with a known truth, unpacked, by name.
pub(crate) fn known_truth_recordings() -> Result<Vec<KnownTruthRecording>> {
    let data = data_folder().context("FIELDLINE_DATA is no folder with recordings")?;
    let files = fs::read_dir(&data)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = files.filter_map(|name| Some(name.strip_suffix(".objects.tsv.zst")?.to_owned()));
    let truth = |name: String| {
        let file = |rest: &str| decompress(&only_file(&data, |other| other == format!("{name}.{rest}.zst"))?);
        Ok(KnownTruthRecording {
            recording: file("mem.perf.data")?,
            objects: file("objects.tsv")?,
            instructions: file("truth.tsv")?,
            coherence: file("coherence.tsv")?,
            trace: file("trace")?,
            name,
        })
    };
    names.collect::<BTreeSet<_>>().into_iter().map(truth).collect()
}

fn only_file(folder: &Path, matches: impl Fn(&str) -> bool) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let found = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| matches(&name.to_string_lossy())));
    found.min().with_context(|| format!("{}: the file wanted is not there", folder.display()))
}

/// A .zst file unpacked into the cache, unless it is there already.
fn decompress(packed: &Path) -> Result<PathBuf> {
    shell::require_files(&[("zstd", "zstd")])?;
    let name = packed.file_stem().context("no file name")?;
    let place = cache()?.join("data").join(name);
    if !place.exists() {
        fs::create_dir_all(cache()?.join("data"))?;
        let part = place.with_extension("part");
        shell::run(Command::new("zstd").args(["-d", "-q", "-f", "--long=27", "-o"]).arg(&part).arg(packed))?;
        fs::rename(&part, &place)?;
    }
    Ok(place)
}

/// A kernel with debug info and its image, as it is booted: the given kernel if the suite has its image, else the suite's
/// newest.
pub(crate) fn bootable(vmlinux: &Path) -> Result<(PathBuf, PathBuf)> {
    if let Some(image) = image(vmlinux)? {
        return Ok((vmlinux.to_owned(), image));
    }
    let vmlinux = debian_vmlinux()?;
    let image =
        image(&vmlinux)?.with_context(|| format!("the suite has no image of {}", vmlinux.display()))?;
    Ok((vmlinux, image))
}

/// The image of a kernel, if the suite has it.
fn image(vmlinux: &Path) -> Result<Option<PathBuf>> {
    let name = vmlinux.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(release) = name.strip_prefix("vmlinux-") else { return Ok(None) };
    let wanted = format!("linux-image-{release}");
    let packages = debian::packages(SUITE, |name| name == wanted)?;
    let Some(package) = packages.last() else { return Ok(None) };
    let folder = package.folder()?;
    if find_file(&folder, "vmlinuz-", "").is_none() {
        debian::unpack(package, "*/vmlinuz-*", &folder)?;
    }
    Ok(find_file(&folder, "vmlinuz-", ""))
}

fn debian_vmlinux() -> Result<PathBuf> {
    let packages = debian::packages(SUITE, is_debug_kernel)?;
    let package = packages.last().context("the suite has no kernel's debug package")?;
    let folder = package.folder()?;
    if find_file(&folder, "vmlinux-", "").is_none() {
        debian::unpack(package, "*/vmlinux-*", &folder)?;
    }
    find_file(&folder, "vmlinux-", "").with_context(|| format!("{} holds no vmlinux", package.name))
}

/// `linux-image-9.8.7+deb99-cloud-amd64-dbg`, and not the meta package `linux-image-cloud-amd64-dbg`.
fn is_debug_kernel(name: &str) -> bool {
    let version = name.strip_prefix("linux-image-").and_then(|rest| rest.strip_suffix("-cloud-amd64-dbg"));
    version.is_some_and(|version| version.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// The first file in or below a folder whose name begins and ends so.
pub(crate) fn find_file(folder: &Path, begin: &str, end: &str) -> Option<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).ok()?.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let fits = |name: &str| name.starts_with(begin) && name.ends_with(end);
    let mut paths = entries.iter().map(|entry| (entry.path(), fits(&entry.file_name().to_string_lossy())));
    let here = paths.clone().find(|(path, fits)| *fits && path.is_file()).map(|(path, _)| path);
    here.or_else(|| paths.find_map(|(path, _)| find_file(&path, begin, end)))
}

/// The source the kernel was built from, or the nearest version the suite has.
pub(crate) fn tree(vmlinux: &Path) -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("FIELDLINE_TREE") {
        return Ok(PathBuf::from(given));
    }
    let package = source_package(vmlinux)?;
    // Only what defines structs the tests touch, and what builds of some objects need: whole trees take gigabytes and
    // minutes. Older caches hold no configuration of drivers.
    unpack_tree(&package, &package.folder()?, "drivers/Kconfig", &["--exclude=*/drivers/*.[chS]"])
}

/// The same source with all that a kernel is built of.
pub(crate) fn whole_tree(vmlinux: &Path) -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("FIELDLINE_TREE") {
        return Ok(PathBuf::from(given));
    }
    let package = source_package(vmlinux)?;
    unpack_tree(&package, &package.folder()?.join("whole"), "drivers/base/core.c", &[])
}

fn source_package(vmlinux: &Path) -> Result<debian::DebianPackage> {
    let wanted = kernel_version(vmlinux);
    let mut packages =
        debian::packages(SUITE, |name| name.strip_prefix("linux-source-").is_some_and(is_series))?;
    let is_same = |package: &debian::DebianPackage| {
        wanted.as_deref().is_some_and(|wanted| package.version.starts_with(wanted))
    };
    let at = packages.iter().rposition(is_same).or(packages.len().checked_sub(1));
    at.map(|at| packages.swap_remove(at)).context("the suite has no linux-source package")
}

/// The only documents that tests need: tables of members by cacheline.
const TABLES: &str = "*/Documentation/networking/net_cachelines/*.rst";

/// Unpacks a tree unless a file of it is there.
fn unpack_tree(
    package: &debian::DebianPackage,
    folder: &Path,
    mark: &str,
    left_out: &[&str],
) -> Result<PathBuf> {
    let tree = folder.join(&package.name);
    if !tree.join(mark).exists() {
        debian::unpack(package, "*.tar.xz", folder)?;
        let packed = find_file(folder, "linux-source-", ".tar.xz").context("no source in the package")?;
        shell::run(Command::new("tar").arg("-xf").arg(&packed).arg("-C").arg(folder).args(left_out).args([
            "--exclude=*/sound/*.[ch]",
            "--exclude=*/Documentation/*.rst",
            "--exclude=*/Documentation/*.yaml",
            "--exclude=*/arch/*/boot/dts/*",
            "--exclude=*/tools/testing/*",
            "--exclude=*/tools/perf/*",
        ]))?;
        let mut tables = Command::new("tar");
        tables.arg("-xf").arg(&packed).arg("-C").arg(folder).args(["--wildcards", TABLES]);
        shell::run(&mut tables)?;
        fs::remove_file(&packed)?;
    }
    if !tree.join(mark).exists() {
        bail!("{}: no kernel tree in {}", tree.display(), package.name);
    }
    Ok(tree)
}

fn is_series(rest: &str) -> bool {
    rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

/// `6.12.107` out of `…/vmlinux-6.12.107+deb13-cloud-amd64`.
fn kernel_version(vmlinux: &Path) -> Option<String> {
    let name = vmlinux.file_name()?.to_string_lossy().into_owned();
    let rest = name.strip_prefix("vmlinux-")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_packages_hold_no_kernel() {
        assert!(is_debug_kernel("linux-image-9.8.7+deb99-cloud-amd64-dbg"));
        assert!(!is_debug_kernel("linux-image-cloud-amd64-dbg"));
        assert!(!is_debug_kernel("linux-image-9.8.7+deb99-cloud-amd64"));
    }

    #[test]
    fn a_version_is_read_from_the_file_name() {
        let path = Path::new("/boot/vmlinux-9.8.7+deb99-cloud-amd64");
        assert_eq!(kernel_version(path).as_deref(), Some("9.8.7"));
    }
}
