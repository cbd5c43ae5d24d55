//! The files of the guest, as an archive that kernels unpack (Documentation/driver-api/early-userspace/
//! buffer-format.rst: cpio's format `newc`).

use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;
const LINK: u32 = 0o120_777;
const DEVICE: u32 = 0o020_600;

/// An archive under construction. Owners and times are left out: the same files give the same bytes.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
    entries: u32,
}

impl Archive {
    /// With a console for the first program.
    pub(crate) fn new() -> Self {
        let mut archive = Self::default();
        archive.folder("dev");
        archive.entry("dev/console", DEVICE, &[], (5, 1));
        archive
    }

    pub(crate) fn program(&mut self, path: &str, content: &[u8]) {
        self.parents(path);
        self.entry(path, PROGRAM, content, (0, 0));
    }

    pub(crate) fn file(&mut self, path: &str, content: &[u8]) {
        self.parents(path);
        self.entry(path, FILE, content, (0, 0));
    }

    /// All of a folder of this machine, in order of names.
    pub(crate) fn tree(&mut self, folder: &Path, place: &str) -> Result<()> {
        let listed = fs::read_dir(folder).map_err(Error::file(folder))?;
        let mut names: Vec<_> = listed.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
        names.sort();
        for name in names {
            let (path, name) = (folder.join(&name), name.to_string_lossy().into_owned());
            let inside = if place.is_empty() { name } else { format!("{place}/{name}") };
            let data = fs::symlink_metadata(&path).map_err(Error::file(&path))?;
            if data.is_dir() {
                self.folder(&inside);
                self.tree(&path, &inside)?;
            } else if data.is_symlink() {
                let target = fs::read_link(&path).map_err(Error::file(&path))?;
                self.parents(&inside);
                self.entry(&inside, LINK, target.to_string_lossy().as_bytes(), (0, 0));
            } else if data.is_file() {
                let content = fs::read(&path).map_err(Error::file(&path))?;
                self.parents(&inside);
                self.entry(&inside, 0o100_000 | data.permissions().mode() & 0o777, &content, (0, 0));
            }
        }
        Ok(())
    }

    /// The bytes of the archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[], (0, 0));
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self.bytes
    }

    fn folder(&mut self, path: &str) {
        if self.folders.insert(path.to_owned()) {
            self.parents(path);
            self.entry(path, FOLDER, &[], (0, 0));
        }
    }

    fn parents(&mut self, path: &str) {
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent);
        }
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8], device: (u32, u32)) {
        self.entries += 1;
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let is_end = mode == 0;
        let fields = [
            if is_end { 0 } else { self.entries },
            mode,
            0,
            0,
            1,
            0,
            length(content.len()),
            0,
            0,
            device.0,
            device.1,
            length(path.len() + 1),
            0,
        ];
        self.bytes.extend(b"070701");
        fields.iter().for_each(|field| self.bytes.extend(format!("{field:08x}").bytes()));
        self.bytes.extend(path.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_folders_before_what_is_in_them() {
        let mut archive = Archive::new();
        archive.file("a/b/c", b"text");
        archive.program("a/b/d", b"code");
        let text = String::from_utf8_lossy(&archive.finish()).into_owned();
        let place = |name: &str| text.find(name).unwrap();
        assert!(place("a\0") < place("a/b\0") && place("a/b\0") < place("a/b/c\0"));
        assert_eq!((text.matches("070701").count(), text.len() % 512), (7, 0));
        assert_eq!(text.matches("a/b\0").count(), 1);
    }
}
