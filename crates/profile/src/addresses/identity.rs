//! Whether a recording is of a given program file.

use fieldline_debuginfo::{Elf, hex};
use fieldline_perfdata::perf_data::{Mmap, Record};
use fieldline_perfdata::sample_file::SampleFile;

/// The recording is of another program than the one given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{program} has build id {given}, but the recording is of build id {recorded}")]
pub struct BuildIdMismatch {
    /// The file given.
    pub program: String,
    /// Its build id.
    pub given: String,
    /// Build id in the recording.
    pub recorded: String,
}

/// Whether a recording may be of this program, by build ids. Without one of either this is no error.
///
/// # Errors
/// If both have one and they differ.
pub fn check_build_id(elf: &Elf<'_>, file: &SampleFile) -> Result<(), BuildIdMismatch> {
    let Some(given) = elf.build_id() else { return Ok(()) };
    let recorded: Vec<String> = match is_kernel(elf) {
        true => file.facts().kernel_build_id().iter().map(|id| hex(id.as_bytes())).collect(),
        false => recorded_build_ids(base_name(elf.name()), elf.is_module(), file),
    };
    let given = hex(given);
    match recorded.first() {
        Some(first) if !recorded.iter().any(|recorded| is_same_id(recorded, &given)) => {
            Err(BuildIdMismatch { program: elf.name().to_owned(), given, recorded: first.clone() })
        }
        _ => Ok(()),
    }
}

/// Build ids that a recording has of files of a name, listed by perf or in mappings. What can't be read is an
/// error later.
fn recorded_build_ids(name: &str, is_module: bool, file: &SampleFile) -> Vec<String> {
    let listed = file.facts().build_ids.iter().filter(|dso| is_file_of_name(&dso.filename, name, is_module));
    let mut found: Vec<String> = listed.map(|dso| hex(dso.build_id.as_bytes())).collect();
    let _ = file.for_each_non_sample(|record| {
        if let Record::Mmap(Mmap { build_id: Some(id), filename, .. }) = record
            && is_file_of_name(filename, name, is_module)
        {
            found.push(hex(id.as_bytes()));
        }
    });
    found
}

/// Old perf files pad build ids with zeros to 20 bytes.
pub(super) fn is_same_id(left: &str, right: &str) -> bool {
    left.trim_end_matches('0') == right.trim_end_matches('0')
}

/// Whether a file is a kernel: it lies in the upper half of the address space.
pub fn is_kernel(elf: &Elf<'_>) -> bool {
    let half = if elf.pointer_size() == 8 { 1 << 63 } else { 1 << 31 };
    !elf.is_relocatable()
        && !elf.is_module()
        && elf.text_sections().iter().any(|(_, address, _)| *address >= half)
}

/// The name of a file without its folder.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a recorded path is that of a file by name. perf writes modules as `[name]`, or by their path,
/// which may be that of a compressed file; the kernel writes `-` as `_` (kernel/module/main.c).
pub(super) fn is_file_of_name(recorded: &str, name: &str, is_module: bool) -> bool {
    let recorded = base_name(recorded);
    if !is_module {
        return recorded == name;
    }
    let stem = |name: &str| {
        let name = name.trim_start_matches('[').trim_end_matches(']');
        name.split(".ko").next().unwrap_or(name).replace('-', "_")
    };
    stem(recorded) == stem(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_known_by_name_however_it_is_written() {
        for recorded in ["[nf_nat]", "/lib/modules/6/kernel/net/nf-nat.ko.xz", "nf_nat.ko"] {
            assert!(is_file_of_name(recorded, "nf-nat.ko", true), "{recorded}");
        }
        assert!(!is_file_of_name("[nf_nat_ftp]", "nf-nat.ko", true));
        assert!(is_file_of_name("/usr/bin/a", "a", false) && !is_file_of_name("[a]", "a", false));
    }
}
