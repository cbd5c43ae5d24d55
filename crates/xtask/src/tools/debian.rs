//! Debian packages of any suite, and a root with the peers: the programs we compare with.
//!
//! The mirror is the one apt is set up with.

use crate::tools::shell::{self, cache, print_line};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite whose kernel and peers are used.
pub(crate) const SUITE: &str = "trixie";

/// A package as the suite's index lists it.
#[derive(Clone, Debug)]
pub(crate) struct DebianPackage {
    pub(crate) name: String,
    pub(crate) version: String,
    file: String,
    pub(crate) size: u64,
    sha256: String,
}

impl DebianPackage {
    /// Where it is unpacked.
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        Ok(cache()?.join(format!("{}-{}", self.name, self.version)))
    }
}

/// The packages of a suite whose name matches, oldest version first.
pub(crate) fn packages(suite: &str, matches: impl Fn(&str) -> bool) -> Result<Vec<DebianPackage>> {
    let text = fs::read_to_string(index(suite)?).context("package index")?;
    let mut found: Vec<DebianPackage> =
        text.split("\n\n").filter_map(paragraph).filter(|package| matches(&package.name)).collect();
    found.sort_by_key(|package| version_key(&package.version));
    Ok(found)
}

fn paragraph(text: &str) -> Option<DebianPackage> {
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    Some(DebianPackage {
        name: field("Package")?,
        version: field("Version")?,
        file: field("Filename")?,
        size: field("Size")?.parse().ok()?,
        sha256: field("SHA256")?,
    })
}

/// Numbers in a version compare as numbers.
fn version_key(version: &str) -> Vec<u64> {
    version.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

fn mirror() -> Result<String> {
    let lines = shell::output(Command::new("apt-get").args(["indextargets", "--format", "$(REPO_URI)"]))?;
    let base = lines.lines().find(|line| line.ends_with("/debian/"));
    Ok(base.context("apt has no Debian mirror set up")?.to_owned())
}

/// A suite's package index, fetched again after half a day.
fn index(suite: &str) -> Result<PathBuf> {
    let path = cache()?.join(format!("{suite}.Packages"));
    let age = fs::metadata(&path).and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
    if age.is_some_and(|age| age.as_secs() < 12 * 3600) {
        return Ok(path);
    }
    shell::require_files(&[("curl", "curl"), ("xz", "xz-utils")])?;
    let packed = path.with_extension("xz");
    let url = format!("{}dists/{suite}/main/binary-amd64/Packages.xz", mirror()?);
    fetch(&url, &packed)?;
    fs::write(&path, shell::output(Command::new("xz").arg("-dc").arg(&packed))?)?;
    fs::remove_file(&packed)?;
    Ok(path)
}

fn fetch(url: &str, to: &Path) -> Result<()> {
    let part = to.with_extension("part");
    let status = Command::new("curl").args(["-fsSL", "--retry", "3", "-o"]).arg(&part).arg(url).status()?;
    if !status.success() {
        bail!("download of {}: {status}", to.display());
    }
    fs::rename(&part, to).with_context(|| format!("{}", to.display()))
}

/// Downloads a package and unpacks the members that match a tar pattern into a folder.
pub(crate) fn unpack(package: &DebianPackage, members: &str, into: &Path) -> Result<()> {
    shell::require_files(&[("curl", "curl"), ("dpkg-deb", "dpkg"), ("tar", "tar")])?;
    let file = cache()?.join(package.file.rsplit('/').next().unwrap_or(&package.name));
    if fs::metadata(&file).map_or(0, |data| data.len()) != package.size {
        print_line!("fetching {} {} ({} MB)", package.name, package.version, package.size >> 20);
        fetch(&format!("{}{}", mirror()?, package.file), &file)?;
    }
    let sum = shell::output(Command::new("sha256sum").arg(&file))?;
    if !sum.starts_with(&package.sha256) {
        fs::remove_file(&file)?;
        bail!("{} is not what the index says; removed, try again", file.display());
    }
    fs::create_dir_all(into)?;
    let script = "dpkg-deb --fsys-tarfile \"$1\" | tar -x -C \"$2\" --wildcards \"$3\"";
    let mut pipe = Command::new("bash");
    pipe.args(["-o", "pipefail", "-c", script, "unpack"]).arg(&file);
    shell::run(pipe.arg(into).arg(members))?;
    fs::remove_file(&file).with_context(|| format!("{}", file.display()))
}

/// The oldest libclang that the front end takes.
const LIBCLANG: u32 = 17;

/// Installs the newest libclang there is, with its builtin headers, if the front end finds none.
pub(crate) fn require_libclang() -> Result<()> {
    let Err(missing) = fieldline_frontend::Frontend::load() else { return Ok(()) };
    shell::update_packages()?;
    let names = shell::output(Command::new("apt-cache").args(["pkgnames", "libclang"]))?;
    let number = newest_libclang(&names).context(missing)?;
    shell::install_packages(&[&format!("libclang1-{number}"), &format!("libclang-common-{number}-dev")])?;
    fieldline_frontend::Frontend::load().map(|_| ()).context("libclang was installed, but")
}

/// The highest number of a libclang whose library and headers are both among these packages.
fn newest_libclang(names: &str) -> Option<u32> {
    let has = |name: &str| names.lines().any(|line| line == name);
    let numbers = names.lines().filter_map(|line| line.strip_prefix("libclang1-")?.parse().ok());
    numbers.filter(|number| *number >= LIBCLANG && has(&format!("libclang-common-{number}-dev"))).max()
}

/// A root of the suite with pahole, perf and QEMU, made with debootstrap the first time (about a minute).
pub(crate) fn peers_root() -> Result<PathBuf> {
    let root = cache()?.join("peers");
    let programs = ["usr/bin/pahole", "usr/bin/perf", QEMU];
    if !programs.iter().all(|program| root.join(program).exists()) {
        if root.exists() {
            // It was made when fewer programs were needed.
            fs::remove_dir_all(&root).with_context(|| root.display().to_string())?;
        }
        make_root("--include=dwarves,linux-perf,binutils,libcapstone5,qemu-system-x86", &root)?;
    }
    Ok(root)
}

/// Makes a root of the suite with debootstrap. `packages`: its option that names those beyond the base.
pub(crate) fn make_root(packages: &str, root: &Path) -> Result<()> {
    shell::require_files(&[("debootstrap", "debootstrap")])?;
    let mut command = Command::new("debootstrap");
    shell::run(command.args(["--variant=minbase", packages, SUITE]).arg(root).arg(mirror()?))
}

/// QEMU in the peers' root.
const QEMU: &str = "usr/bin/qemu-system-x86_64";

/// A program that runs that QEMU with the libraries it was built for, without chroot.
pub(crate) fn qemu() -> Result<PathBuf> {
    let root = peers_root()?;
    let program = cache()?.join("qemu-system-x86_64");
    let libraries = format!("{0}/lib/x86_64-linux-gnu:{0}/usr/lib/x86_64-linux-gnu", root.display());
    let script = format!(
        "#!/bin/sh\nexport QEMU_MODULE_DIR={0}/usr/lib/x86_64-linux-gnu/qemu\nexec {0}/lib64/ld-linux-x86-64.so.2 \
         --library-path {libraries} {0}/{QEMU} -L {0}/usr/share/qemu -L {0}/usr/share/seabios \"$@\"\n",
        root.display()
    );
    let part = program.with_extension("part");
    fs::write(&part, script)?;
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755))?;
    fs::rename(&part, &program)?;
    Ok(program)
}

/// Puts a file into the peers' root (as a hard link where possible). Returns its path inside.
pub(crate) fn copy_into_root(root: &Path, file: &Path) -> Result<String> {
    let name = file.file_name().context("not a file")?;
    let folder = root.join("inputs");
    fs::create_dir_all(&folder)?;
    let place = folder.join(name);
    if place.exists() {
        fs::remove_file(&place)?;
    }
    let real = fs::canonicalize(file)?;
    if fs::hard_link(&real, &place).is_err() {
        fs::copy(&real, &place).with_context(|| format!("copy to {}", place.display()))?;
    }
    Ok(format!("/inputs/{}", name.to_string_lossy()))
}

/// A command inside the peers' root.
pub(crate) fn peer(root: &Path, program: &str) -> Command {
    let mut command = Command::new("chroot");
    command.arg(root).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_libclang_with_headers_is_chosen() {
        let names = "libclang1-14\nlibclang1-19\nlibclang-common-14-dev\nlibclang-common-19-dev\nlibclang1-21\n\
                     libclang1-17t64\nlibclang1\n";
        assert_eq!(newest_libclang(names), Some(19));
        assert_eq!(newest_libclang("libclang1-16\nlibclang-common-16-dev\n"), None);
    }
}
