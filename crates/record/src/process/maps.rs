//! Mappings of a process, by `/proc/PID/maps` (`proc_pid_maps(5)`).

use fieldline_debuginfo::{Elf, LinkedAddress};
use fieldline_perfdata::address::LoadedAddress;
use fieldline_profile::addresses::LoadBias;
use std::io;

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMapping {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) is_code: bool,
    pub(crate) offset: u64,
    /// Path, or a name in brackets; `//anon` where there is none, as perf writes it.
    pub(crate) path: String,
}

impl ProcessMapping {
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.begin <= address && address < self.end
    }
}

pub(crate) fn read(pid: u32) -> io::Result<Vec<ProcessMapping>> {
    Ok(parse(&std::fs::read_to_string(format!("/proc/{pid}/maps"))?))
}

/// The load bias of a program or library in a process, by the mapping of its first bytes. Found by its path,
/// or by its name.
pub fn program_load_bias(pid: u32, elf: &Elf<'_>) -> Option<LoadBias> {
    let maps = read(pid).ok()?;
    let path = std::fs::canonicalize(elf.path()).ok()?.display().to_string();
    let name = format!("/{}", elf.name());
    let is_first_mapping =
        |map: &&ProcessMapping| map.offset == 0 && (map.path == path || map.path.ends_with(&name));
    let first_segment = elf.segments().into_iter().find(|segment| segment.file_offset == 0)?;
    let begin = LoadedAddress(maps.iter().find(is_first_mapping)?.begin);
    Some(LoadBias::between(LinkedAddress(first_segment.address), begin))
}

/// The mappings of a text; lines of another form are left out.
pub(crate) fn parse(text: &str) -> Vec<ProcessMapping> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<ProcessMapping> {
    let (range, rest) = line.split_once(' ')?;
    let (begin, end) = range.split_once('-')?;
    let (rights, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (_device, rest) = rest.split_once(' ')?;
    // The path may have spaces of its own; without one the line ends with the inode.
    let path = rest.split_once(' ').map_or("", |(_inode, path)| path.trim_start());
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(ProcessMapping {
        begin: number(begin)?,
        end: number(end)?,
        is_code: rights.contains('x'),
        offset: number(offset)?,
        path: if path.is_empty() { "//anon" } else { path }.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_files_names_and_anonymous_memory_differ() {
        let text = "\
55d0a4e00000-55d0a4e02000 r--p 00000000 08:02 173521                     /usr/bin/a b
55d0a4e02000-55d0a4e05000 r-xp 00002000 08:02 173521                     /usr/bin/a b
7f2c00000000-7f2c00021000 rwxp 00000000 00:00 0 
7ffd5ab4e000-7ffd5ab50000 r-xp 00000000 00:00 0                          [vdso]
no mapping
";
        let maps = parse(text);
        let paths: Vec<_> = maps.iter().map(|map| (map.path.as_str(), map.is_code)).collect();
        assert_eq!(
            paths,
            [("/usr/bin/a b", false), ("/usr/bin/a b", true), ("//anon", true), ("[vdso]", true)]
        );
        let code = &maps[1];
        assert_eq!((code.begin, code.end, code.offset), (0x55d0_a4e0_2000, 0x55d0_a4e0_5000, 0x2000));
        assert!(code.contains(0x55d0_a4e0_4fff) && !code.contains(0x55d0_a4e0_5000));
    }
}
