//! The kernel's image.

use crate::error::{Error, Result};
use fieldline_files::printable::printable;
use std::path::Path;

/// Where an x86 image's header begins with `HdrS`, and where it has the place of the text that names the build less 512
/// (Documentation/arch/x86/boot.rst).
const MAGIC: usize = 0x202;
const VERSION_POINTER: usize = 0x20e;
const VERSION_BASE: usize = 0x200;
/// Longest text.
const MAX_BYTES: usize = 512;

/// Refuses an image of another build than the one that a text names. Images that don't say are not refused: the text is
/// compared again when the kernel runs.
pub(crate) fn check(image: &Path, banner: &str) -> Result<()> {
    let bytes = fieldline_files::read(image).map_err(Error::file(image))?;
    let Some(version) = version(&bytes) else { return Ok(()) };
    if banner.is_empty() || is_same_build(&version, banner) {
        return Ok(());
    }
    Err(Error::Kernel {
        kernel: image.display().to_string(),
        what: format!(
            "it is another kernel than the one with debug info: '{}' and '{}'",
            printable(&version),
            printable(banner.trim_end())
        ),
    })
}

/// The text by which an x86 image names its build.
fn version(bytes: &[u8]) -> Option<String> {
    if bytes.get(MAGIC..MAGIC + 4)? != b"HdrS" {
        return None;
    }
    let pointer = bytes.get(VERSION_POINTER..VERSION_POINTER + 2)?;
    let begin = usize::from(u16::from_le_bytes(pointer.try_into().ok()?)) + VERSION_BASE;
    let text = bytes.get(begin..bytes.len().min(begin + MAX_BYTES))?;
    let text = text.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Whether `RELEASE (BUILDER) VERSION` and `Linux version RELEASE (BUILDER) (COMPILER) VERSION` are of one build.
fn is_same_build(version: &str, banner: &str) -> bool {
    let rest = banner.strip_prefix("Linux version ").unwrap_or(banner);
    let first = |text: &str| text.split(' ').next().map(str::to_owned);
    let number = |text: &str| text.split_once(" #").map(|(_, number)| number.trim_end().to_owned());
    // The banner may have been cut.
    let numbers = number(version).zip(number(rest));
    first(version) == first(rest) && numbers.is_none_or(|(image, banner)| image.starts_with(&banner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(text: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[MAGIC..MAGIC + 4].copy_from_slice(b"HdrS");
        bytes[VERSION_POINTER..VERSION_POINTER + 2].copy_from_slice(&0x100_u16.to_le_bytes());
        bytes[0x300..0x300 + text.len()].copy_from_slice(text);
        bytes
    }

    #[test]
    fn an_image_names_its_build() {
        let found = version(&image(b"9.8.7-x (me@here) #3 SMP Monday"));
        assert_eq!(found.as_deref(), Some("9.8.7-x (me@here) #3 SMP Monday"));
        assert_eq!(version(b"no kernel"), None);
        // A place behind the end.
        let mut cut = image(b"");
        cut.truncate(0x210);
        assert_eq!(version(&cut), None);
    }

    #[test]
    fn builds_are_compared_by_release_and_number() {
        let version = "9.8.7-x (me@here) #3 SMP Monday";
        assert!(is_same_build(version, "Linux version 9.8.7-x (me@here) (gcc 14, ld 2) #3 SMP Monday\n"));
        assert!(!is_same_build(version, "Linux version 9.8.7-x (me@here) (gcc 14, ld 2) #4 SMP Monday\n"));
        assert!(!is_same_build(version, "Linux version 9.8.6-x (me@here) (gcc 14, ld 2) #3 SMP Monday\n"));
    }
}
