//! Programs of this machine for the guest, with the libraries they need.

use super::initramfs::Archive;
use crate::error::{Error, Result};
use std::path::Path;
use std::process::Command;

/// Adds a program, or a folder whose `init` is the program; the words that the first program of the guest is given.
pub(crate) fn add_program(archive: &mut Archive, words: &[String]) -> Result<Vec<String>> {
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| Error::NothingToTrace("no program was given for the guest to run".to_owned()))?;
    let path = Path::new(program);
    let place = if path.is_dir() {
        archive.tree(path, "")?;
        "/init".to_owned()
    } else {
        add_file(archive, path)?;
        add_libraries(archive, path)?;
        absolute(path)?
    };
    let mut run = vec!["run".to_owned(), place];
    run.extend(arguments.iter().cloned());
    Ok(run)
}

fn absolute(path: &Path) -> Result<String> {
    let whole = std::path::absolute(path).map_err(Error::file(path))?;
    Ok(whole.to_string_lossy().into_owned())
}

fn add_file(archive: &mut Archive, path: &Path) -> Result<()> {
    let content = fieldline_files::read(path).map_err(Error::file(path))?;
    archive.program(absolute(path)?.trim_start_matches('/'), &content);
    Ok(())
}

/// Adds the libraries that ldd lists; it lists none of a static program, or of one for another machine.
fn add_libraries(archive: &mut Archive, program: &Path) -> Result<()> {
    let Ok(output) = Command::new("ldd").arg(program).output() else { return Ok(()) };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for library in text.lines().filter_map(library_of_line) {
        add_file(archive, Path::new(library))?;
    }
    Ok(())
}

/// The file in a line of ldd: `libc.so.6 => /lib/libc.so.6 (0x7f…)` or `/lib64/ld-linux-x86-64.so.2 (0x7f…)`.
fn library_of_line(line: &str) -> Option<&str> {
    let line = line.split(" => ").last()?.trim();
    line.split(" (").next().filter(|path| path.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_of_ldds_lines() {
        let lines =
            ["\tlibc.so.6 => /lib/libc.so.6 (0x7f01)", "\t/lib64/ld.so (0x7f02)", "\tlinux-vdso.so.1 (0x7f)"];
        let found: Vec<_> = lines.iter().filter_map(|line| library_of_line(line)).collect();
        assert_eq!(found, ["/lib/libc.so.6", "/lib64/ld.so"]);
    }
}
