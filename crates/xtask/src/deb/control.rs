//! Names, versions and relations of the package.

use crate::tools::shell::{self, root};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Libraries that `--build` loads; without them the rest works.
const RECOMMENDS: &str = "libclang1-19, libclang-common-19-dev";

/// Programs that go with it: they record, compare, compile proofs, apply patches and run guests.
const SUGGESTS: &str = "dwarves, gcc, git, linux-perf, qemu-system-x86";

/// Its long description: lines of Debian Policy 5.6.13.
const DESCRIPTION: &str = "place struct members that are hot together on one cacheline
 fieldline joins struct layouts (DWARF, BTF) with samples of memory accesses
 (perf mem record). It shows which members are hot, used together and falsely
 shared, computes a member order that touches fewer cachelines of 64 and 128
 bytes, and writes it as a patch of the header, for kernels and programs.
 .
 With libclang it reads how the units of a build use a struct, so that it moves
 no member whose place some code depends on.
";

/// A version of the package, of a commit.
pub(super) struct Release {
    /// Version of the crates.
    version: String,
    /// First digits of the commit; none if it is tagged as the release.
    snapshot: Option<String>,
    /// Time of the commit, in seconds since 1970.
    epoch: String,
    maintainer: String,
}

impl Release {
    /// The checkout's. Without git, `SOURCE_DATE_EPOCH`, `DEBFULLNAME` and `DEBEMAIL` say it.
    pub(super) fn read() -> Result<Self> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let tag = git(&["describe", "--tags", "--exact-match"]);
        let is_release = tag.as_deref() == Some(&format!("v{version}"));
        let snapshot = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| !is_release);
        let epoch = std::env::var("SOURCE_DATE_EPOCH").ok().or_else(|| git(&["log", "-1", "--format=%ct"]));
        let epoch = epoch.context("SOURCE_DATE_EPOCH must say the time of this source: there is no git")?;
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let given =
            variable("DEBFULLNAME").zip(variable("DEBEMAIL")).map(|(name, mail)| format!("{name} <{mail}>"));
        let maintainer = given.or_else(|| git(&["log", "-1", "--format=%an <%ae>"]));
        let maintainer =
            maintainer.context("DEBFULLNAME and DEBEMAIL must say who packs: there is no git")?;
        Ok(Self { version, snapshot, epoch, maintainer })
    }

    /// Of snapshots, one that sorts before the release and by day.
    fn debian_version(&self) -> Result<String> {
        Ok(match &self.snapshot {
            Some(commit) => {
                format!(
                    "{}~git{}.{}-1",
                    self.version,
                    date(&self.epoch, "+%Y%m%d")?,
                    commit.get(..8).unwrap_or(commit)
                )
            }
            None => format!("{}-1", self.version),
        })
    }

    pub(super) fn file_name(&self) -> Result<String> {
        Ok(format!("fieldline_{}_{}.deb", self.debian_version()?, architecture()?))
    }

    pub(super) fn epoch(&self) -> &str {
        &self.epoch
    }

    /// The control file.
    pub(super) fn control(&self, depends: &str, kilobytes: u64) -> Result<String> {
        Ok(format!(
            "Package: fieldline\nVersion: {}\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {kilobytes}\nDepends: {depends}\n\
             Recommends: {RECOMMENDS}\nSuggests: {SUGGESTS}\nSection: devel\nPriority: optional\nHomepage: {}\n\
             Description: {DESCRIPTION}",
            self.debian_version()?,
            architecture()?,
            self.maintainer,
            env!("CARGO_PKG_REPOSITORY"),
        ))
    }

    /// The packaging's changelog (Debian Policy 4.4); that of the program is CHANGELOG.md.
    pub(super) fn changelog(&self) -> Result<String> {
        let what = match &self.snapshot {
            Some(commit) => format!("Snapshot of commit {commit}."),
            None => format!("Release {}.", self.version),
        };
        let date = date(&self.epoch, "-R")?;
        let (version, maintainer) = (self.debian_version()?, &self.maintainer);
        Ok(format!(
            "fieldline ({version}) unstable; urgency=medium\n\n  * {what}\n\n -- {maintainer}  {date}\n"
        ))
    }
}

/// The first line that git prints about the checkout; `None` if it can't.
pub(crate) fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root()).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    text.lines().next().map(str::to_owned)
}

fn date(epoch: &str, format: &str) -> Result<String> {
    let seconds = format!("@{epoch}");
    Ok(shell::output(Command::new("date").env("LC_ALL", "C").args(["-u", "-d", &seconds, format]))?
        .trim()
        .to_owned())
}

fn architecture() -> Result<String> {
    Ok(shell::output(Command::new("dpkg").arg("--print-architecture"))?.trim().to_owned())
}

/// Packages of the libraries that a program is linked with, as dpkg-shlibdeps finds them.
pub(super) fn library_depends(program: &Path, scratch: &Path) -> Result<String> {
    // It wants the source package that it is usually called in.
    fs::create_dir_all(scratch.join("debian")).with_context(|| scratch.display().to_string())?;
    let source = "Source: fieldline\n\nPackage: fieldline\nArchitecture: any\n";
    fs::write(scratch.join("debian/control"), source).with_context(|| scratch.display().to_string())?;
    let text = shell::output(Command::new("dpkg-shlibdeps").current_dir(scratch).arg("-O").arg(program))?;
    let depends = text.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    match depends {
        Some(depends) if !depends.is_empty() => Ok(depends.to_owned()),
        _ => bail!("dpkg-shlibdeps names no libraries of {}", program.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(snapshot: Option<&str>) -> Release {
        Release {
            version: "1.2.0".to_owned(),
            snapshot: snapshot.map(str::to_owned),
            epoch: "86400".to_owned(),
            maintainer: "A B <a@b.c>".to_owned(),
        }
    }

    #[test]
    fn snapshots_sort_before_their_release() {
        assert_eq!(release(None).debian_version().unwrap(), "1.2.0-1");
        let snapshot = release(Some("0123456789ab")).debian_version().unwrap();
        assert_eq!(snapshot, "1.2.0~git19700102.01234567-1");
    }

    #[test]
    fn the_changelog_has_the_form_that_dpkg_parses() {
        let expected = "fieldline (1.2.0-1) unstable; urgency=medium\n\n  * Release 1.2.0.\n\n -- A B <a@b.c>  Fri, 02 Jan 1970 00:00:00 \
                        +0000\n";
        assert_eq!(release(None).changelog().unwrap(), expected);
    }
}
