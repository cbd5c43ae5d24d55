//! Input files, opened in one place: regular files, and nothing that could wait, end never, or act when it is read.
//!
//! A FIFO waits for a writer, a terminal for its user, `/dev/zero` never ends, and files of `/proc` may take away what
//! they show. All of these are refused, also behind a symbolic link. Names that stand in files become text that is safe
//! to print in [`printable`].
//!
//! ```
//! let error = fieldline_files::read("/dev/null".as_ref()).unwrap_err();
//! assert_eq!(error.to_string(), "a character device, but a regular file is needed");
//! ```

pub mod printable;

use rustix::fs::OFlags;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Why a file is not taken as input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableKind {
    /// A folder.
    #[error("a folder, but a regular file is needed")]
    Folder,
    /// A named pipe, or the end of an unnamed one.
    #[error(
        "a pipe (FIFO), but a regular file is needed; write the stream to a file first and name that one"
    )]
    Pipe,
    /// A socket.
    #[error("a socket, but a regular file is needed")]
    Socket,
    /// A terminal, `/dev/null` and the like.
    #[error("a character device, but a regular file is needed")]
    CharacterDevice,
    /// A disk.
    #[error("a block device, but a regular file is needed")]
    BlockDevice,
    /// A file that the kernel makes up when it is read, of `/proc` and the like.
    #[error(
        "made up by the kernel when it is read, but a regular file is needed; copy what it shows to a file"
    )]
    OfKernel,
}

impl UnreadableKind {
    /// The reason in an error of this crate; none if the system gave another.
    pub fn in_error(error: &Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }

    fn of_type(kind: FileType) -> Option<Self> {
        if kind.is_file() {
            return None;
        }
        let special = [
            (kind.is_dir(), Self::Folder),
            (kind.is_fifo(), Self::Pipe),
            (kind.is_socket(), Self::Socket),
            (kind.is_block_device(), Self::BlockDevice),
        ];
        Some(special.into_iter().find(|(is_it, _)| *is_it).map_or(Self::CharacterDevice, |(_, kind)| kind))
    }

    fn into_error(self) -> Error {
        let kind = if self == Self::Folder { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
        Error::new(kind, self)
    }
}

/// Opens a regular file for reading.
///
/// # Errors
/// If it can't be opened, or is none; [`UnreadableKind::in_error`] tells which.
pub fn open(path: &Path) -> Result<File> {
    let file = open_any_system(path)?;
    if is_made_up(&file) { Err(UnreadableKind::OfKernel.into_error()) } else { Ok(file) }
}

/// Opens a regular file, also one of `/proc`, for what reads a machine's settings there. A read that would wait is an
/// error.
///
/// # Errors
/// As for [`open`], but for files that the kernel makes up.
pub fn open_any_system(path: &Path) -> Result<File> {
    // Opening some devices acts already, so the kind is asked before. What is opened is asked again: the path may lead
    // elsewhere by now, and without waiting, so that even a pipe that came in between gives an error.
    check(&std::fs::metadata(path)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file.
///
/// # Errors
/// As for [`open`], and if it can't be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut file = open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of UTF-8.
///
/// # Errors
/// As for [`read`], and if it is no UTF-8.
pub fn read_to_string(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Whether a folder has an entry, of whatever kind: opening it says what is wrong with it.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Fails if an entry of a folder is special or a link to something special, with its path in the message. Folders and
/// links that lead nowhere are none.
///
/// # Errors
/// If it is special.
pub fn check_entry(path: &Path) -> Result<()> {
    let found = std::fs::metadata(path).ok().and_then(|data| UnreadableKind::of_type(data.file_type()));
    match found.filter(|kind| *kind != UnreadableKind::Folder) {
        Some(kind) => Err(Error::new(ErrorKind::InvalidInput, format!("{}: {kind}", path.display()))),
        None => Ok(()),
    }
}

fn check(metadata: &Metadata) -> Result<()> {
    UnreadableKind::of_type(metadata.file_type()).map_or(Ok(()), |kind| Err(kind.into_error()))
}

/// File systems whose files are no data: procfs, tracefs, debugfs, securityfs, both of control groups, the kernel's
/// `include/uapi/linux/magic.h`. sysfs is none of them: BTF stands there.
#[cfg(target_os = "linux")]
const MADE_UP: [u32; 6] = [0x9fa0, 0x7472_6163, 0x6462_6720, 0x7363_6673, 0x0027_e0eb, 0x6367_7270];

#[cfg(target_os = "linux")]
fn is_made_up(file: &File) -> bool {
    // The type's width differs between processors; magic numbers have 32 bits on all.
    let is_known = |system: rustix::fs::StatFs| MADE_UP.contains(&(system.f_type as u32));
    rustix::fs::fstatfs(file).is_ok_and(is_known)
}

#[cfg(not(target_os = "linux"))]
fn is_made_up(_: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};

    fn kind(path: &Path) -> Option<UnreadableKind> {
        UnreadableKind::in_error(&read(path).unwrap_err())
    }

    #[test]
    fn special_files_and_links_to_them_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link, socket) =
            (folder.path().join("pipe"), folder.path().join("link"), folder.path().join("socket"));
        mknodat(CWD, &pipe, Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::os::unix::fs::symlink("pipe", &link).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(kind(&pipe), Some(UnreadableKind::Pipe));
        assert_eq!(kind(&link), Some(UnreadableKind::Pipe));
        assert_eq!(kind(&socket), Some(UnreadableKind::Socket));
        assert_eq!(kind(folder.path()), Some(UnreadableKind::Folder));
        assert_eq!(kind(Path::new("/dev/zero")), Some(UnreadableKind::CharacterDevice));
        assert!(check_entry(&link).unwrap_err().to_string().contains("link: a pipe"));
        assert!(check_entry(folder.path()).is_ok() && check_entry(Path::new("/nowhere")).is_ok());
    }

    #[test]
    fn regular_files_are_read_and_missing_ones_are_the_systems_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "text").unwrap();
        assert_eq!((read(&path).unwrap(), read_to_string(&path).unwrap()), (b"text".to_vec(), "text".into()));
        let missing = read(&folder.path().join("none")).unwrap_err();
        assert_eq!((missing.kind(), UnreadableKind::in_error(&missing)), (ErrorKind::NotFound, None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn files_of_proc_are_no_data_and_what_their_links_lead_to_is() {
        assert_eq!(kind(Path::new("/proc/self/maps")), Some(UnreadableKind::OfKernel));
        assert!(open_any_system(Path::new("/proc/self/maps")).is_ok());
        assert!(open(Path::new("/proc/self/exe")).is_ok());
    }
}
