//! Lines that are no samples: those of `--show-mmap-events` and `--show-lost-events`.

use super::line_prefix::LinePrefix;
use crate::address::LoadedAddress;
use crate::perf_data::{BuildId, Mmap, Record};
use crate::sample::CpuMode;

/// The problem of a line that should be understood and is not.
pub(crate) const UNKNOWN_FORM: &str = "is not of a form that perf script prints";
/// The pid of the kernel's mappings.
const KERNEL_PID: u32 = u32::MAX;

/// The record that follows `PERF_RECORD_` in a line; `None` if it is one that should be understood and is
/// not.
pub(crate) fn parse_record(prefix: LinePrefix, text: &str) -> Option<Record<'_>> {
    let (kind, body) = text.split_once(' ').unwrap_or((text, ""));
    match kind {
        "MMAP" | "MMAP2" => parse_mmap(prefix, body).map(Record::Mmap),
        "LOST" => Some(Record::Lost { count: parse_lost(body)? }),
        "LOST_SAMPLES" => Some(Record::LostSamples { count: parse_lost(body)?, by_filter: false }),
        _ => Some(Record::Other { kind: 0 }),
    }
}

/// `lost COUNT`.
fn parse_lost(body: &str) -> Option<u64> {
    body.trim_start().strip_prefix("lost")?.split_whitespace().next()?.parse().ok()
}

/// `PID/TID: [ADDRESS(LENGTH) @ OFFSET MAJOR:MINOR INODE GENERATION]: rwxp NAME`; shorter for old kinds, with
/// a build id in angle brackets for newer ones.
fn parse_mmap(prefix: LinePrefix, body: &str) -> Option<Mmap<'_>> {
    let (ids, body) = body.split_once(": [")?;
    let (pid, tid) = ids.trim_start().split_once('/')?;
    let (address, body) = body.split_once('(')?;
    let (length, body) = body.split_once(") @ ")?;
    let (file_range, body) = body.split_once("]: ")?;
    let (protection, filename) = body.split_once(' ')?;
    let pid = parse_id(pid)?;
    Some(Mmap {
        pid,
        tid: parse_id(tid)?,
        address: LoadedAddress(parse_number(address)?),
        length: parse_number(length)?,
        page_offset: parse_number(file_range.split(' ').next()?)?,
        filename: filename.into(),
        build_id: file_range.split_once('<').and_then(|(_, id)| parse_build_id(id.strip_suffix('>')?)),
        cpu_mode: cpu_mode(pid, filename),
        is_data: !protection.contains('x'),
        time: prefix.time,
    })
}

fn cpu_mode(pid: u32, filename: &str) -> CpuMode {
    match (pid, filename.starts_with("[guest.")) {
        (KERNEL_PID, false) => CpuMode::Kernel,
        (KERNEL_PID, true) => CpuMode::GuestKernel,
        (_, false) => CpuMode::User,
        (_, true) => CpuMode::GuestUser,
    }
}

fn parse_id(word: &str) -> Option<u32> {
    if word == "-1" { Some(KERNEL_PID) } else { word.parse().ok() }
}

/// A number as C's `%#lx` writes it: 0 has no prefix.
fn parse_number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn parse_build_id(hex: &str) -> Option<BuildId> {
    let mut bytes = Vec::with_capacity(20);
    for pair in hex.as_bytes().chunks_exact(2).take(20) {
        bytes.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
    }
    BuildId::new(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(text: &str) -> Mmap<'_> {
        match parse_record(LinePrefix::default(), text) {
            Some(Record::Mmap(mmap)) => mmap,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn mappings_of_all_kinds() {
        let kernel =
            mapped("MMAP -1/0: [0xffffffff81000000(0x1000) @ 0xffffffff81000010]: x [kernel.kallsyms]_text");
        assert!(kernel.is_kernel_image());
        assert_eq!(kernel.address, LoadedAddress(0xffff_ffff_8100_0000));
        assert_eq!(kernel.reference_address(), Some(LoadedAddress(0xffff_ffff_8100_0010)));
        let program = mapped("MMAP2 7/8: [0x4000(0x2000) @ 0 08:01 123 0]: r-xp /tmp/a b");
        assert_eq!((program.pid, program.tid, program.page_offset), (7, 8, 0));
        assert_eq!((&*program.filename, program.build_id), ("/tmp/a b", None));
        let known = mapped("MMAP2 7/7: [0x4000(0x2000) @ 0x1000 <ab01>]: r--p /bin/a");
        assert_eq!(known.build_id.map(|id| id.to_string()).as_deref(), Some("ab01"));
        assert!(known.is_data);
    }

    #[test]
    fn losses_and_the_rest() {
        assert_eq!(parse_record(LinePrefix::default(), "LOST lost 7"), Some(Record::Lost { count: 7 }));
        let samples = parse_record(LinePrefix::default(), "LOST_SAMPLES lost 9");
        assert_eq!(samples, Some(Record::LostSamples { count: 9, by_filter: false }));
        assert_eq!(parse_record(LinePrefix::default(), "COMM exec: a:1/1"), Some(Record::Other { kind: 0 }));
        assert_eq!(parse_record(LinePrefix::default(), "MMAP2 7/7: [0xzz(0x2000)"), None);
        assert_eq!(parse_record(LinePrefix::default(), "LOST many"), None);
    }
}
