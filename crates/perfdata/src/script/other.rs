//! Lines that are no samples: what `--show-mmap-events` and `--show-lost-events` print.

use super::front::Front;
use crate::perf_data::{BuildId, Mmap, Record};
use crate::sample::CpuMode;

/// What is said of a line that should be understood and is not.
pub(crate) const UNKNOWN_FORM: &str = "is not of a form that perf script prints";
/// The pid of what the kernel maps.
const KERNEL: u32 = u32::MAX;

/// The record that follows `PERF_RECORD_` in a line; `None` if it is one that should be understood and is not.
pub(crate) fn record(front: Front, text: &str) -> Option<Record<'_>> {
    let (kind, body) = text.split_once(' ').unwrap_or((text, ""));
    match kind {
        "MMAP" | "MMAP2" => mmap(front, body).map(Record::Mmap),
        "LOST" => Some(Record::Lost { count: lost(body)? }),
        "LOST_SAMPLES" => Some(Record::LostSamples { count: lost(body)?, by_filter: false }),
        _ => Some(Record::Other { kind: 0 }),
    }
}

/// `lost COUNT`.
fn lost(body: &str) -> Option<u64> {
    body.trim_start().strip_prefix("lost")?.split_whitespace().next()?.parse().ok()
}

/// `PID/TID: [ADDRESS(LENGTH) @ OFFSET MAJOR:MINOR INODE GENERATION]: rwxp NAME`; shorter for old kinds, with a build id in
/// angle brackets for newer ones.
fn mmap(front: Front, body: &str) -> Option<Mmap<'_>> {
    let (ids, body) = body.split_once(": [")?;
    let (pid, tid) = ids.trim_start().split_once('/')?;
    let (address, body) = body.split_once('(')?;
    let (length, body) = body.split_once(") @ ")?;
    let (place, body) = body.split_once("]: ")?;
    let (protection, filename) = body.split_once(' ')?;
    let pid = id(pid)?;
    Some(Mmap {
        pid,
        tid: id(tid)?,
        address: number(address)?,
        length: number(length)?,
        page_offset: number(place.split(' ').next()?)?,
        filename: filename.into(),
        build_id: place.split_once('<').and_then(|(_, id)| build_id(id.strip_suffix('>')?)),
        cpu_mode: cpu_mode(pid, filename),
        is_data: !protection.contains('x'),
        time: front.time,
    })
}

fn cpu_mode(pid: u32, filename: &str) -> CpuMode {
    match (pid, filename.starts_with("[guest.")) {
        (KERNEL, false) => CpuMode::Kernel,
        (KERNEL, true) => CpuMode::GuestKernel,
        (_, false) => CpuMode::User,
        (_, true) => CpuMode::GuestUser,
    }
}

fn id(word: &str) -> Option<u32> {
    if word == "-1" { Some(KERNEL) } else { word.parse().ok() }
}

/// A number as C's `%#lx` writes it: 0 has no prefix.
fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn build_id(hex: &str) -> Option<BuildId> {
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
        match record(Front::default(), text) {
            Some(Record::Mmap(mmap)) => mmap,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn mappings_of_all_kinds() {
        let kernel =
            mapped("MMAP -1/0: [0xffffffff81000000(0x1000) @ 0xffffffff81000010]: x [kernel.kallsyms]_text");
        assert!(kernel.is_kernel_image());
        assert_eq!((kernel.address, kernel.page_offset), (0xffff_ffff_8100_0000, 0xffff_ffff_8100_0010));
        let program = mapped("MMAP2 7/8: [0x4000(0x2000) @ 0 08:01 123 0]: r-xp /tmp/a b");
        assert_eq!((program.pid, program.tid, program.page_offset), (7, 8, 0));
        assert_eq!((&*program.filename, program.build_id), ("/tmp/a b", None));
        let known = mapped("MMAP2 7/7: [0x4000(0x2000) @ 0x1000 <ab01>]: r--p /bin/a");
        assert_eq!(known.build_id.map(|id| id.to_string()).as_deref(), Some("ab01"));
        assert!(known.is_data);
    }

    #[test]
    fn losses_and_the_rest() {
        assert_eq!(record(Front::default(), "LOST lost 7"), Some(Record::Lost { count: 7 }));
        let samples = record(Front::default(), "LOST_SAMPLES lost 9");
        assert_eq!(samples, Some(Record::LostSamples { count: 9, by_filter: false }));
        assert_eq!(record(Front::default(), "COMM exec: a:1/1"), Some(Record::Other { kind: 0 }));
        assert_eq!(record(Front::default(), "MMAP2 7/7: [0xzz(0x2000)"), None);
        assert_eq!(record(Front::default(), "LOST many"), None);
    }
}
