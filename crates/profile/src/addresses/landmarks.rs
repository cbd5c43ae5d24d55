//! By how much a program or the kernel was moved, told by where a text shows that symbols lay.
//!
//! A text of `perf script` has no build ids and mostly no mappings. With the field `symoff` each sample tells where a symbol
//! began; all symbols of one image were moved by the same.

use super::identity::{base_name, is_kernel};
use fieldline_debuginfo::Elf;
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample::CpuMode;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::script::{AddressSpace, Landmark};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Recorded addresses that don't fit the program given.
#[derive(Debug, thiserror::Error)]
pub enum Displaced {
    /// Most symbols lay at other distances from each other than in the program.
    #[error(
        "only {agreeing} of {known} symbols lie where {program} has them, moved as a whole: it is another build \
         than the one that was recorded"
    )]
    OtherBuild {
        /// The file given.
        program: String,
        /// Symbols that were moved by the same.
        agreeing: usize,
        /// Symbols known to the program.
        known: usize,
    },
    /// No instruction is one of the program's.
    #[error(
        "none of the {samples} samples of kernel code lies in the text of {program}: it is another kernel, or was \
         moved when it booted; perf script -F +symoff (or --show-mmap-events) tells by how much"
    )]
    NotInText {
        /// The file given.
        program: String,
        /// Samples of kernel code.
        samples: u64,
    },
    /// A record can't be read.
    #[error(transparent)]
    Read(#[from] Error),
}

/// By how much an image was moved, as most of its symbols say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Vote {
    slide: u64,
    agreeing: usize,
    known: usize,
}

/// Addresses by name of the symbols that landmarks name; none for names with several.
fn linked<'e>(
    elf: &'e Elf<'_>,
    landmarks: &BTreeMap<AddressSpace, Landmark>,
) -> FxHashMap<&'e str, Option<u64>> {
    let names = landmarks.values().flat_map(|landmark| landmark.symbols.keys());
    let wanted: FxHashSet<&str> = names.map(String::as_str).collect();
    let mut found: FxHashMap<&'e str, Option<u64>> = FxHashMap::default();
    for symbol in elf.symbols().filter(|symbol| wanted.contains(symbol.name)) {
        let entry = found.entry(symbol.name).or_insert(Some(symbol.address));
        *entry = entry.filter(|address| *address == symbol.address);
    }
    found
}

/// What most symbols say; of equally many, the smallest move.
fn vote(landmark: &Landmark, linked: &FxHashMap<&str, Option<u64>>) -> Option<Vote> {
    let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
    for (name, address) in &landmark.symbols {
        if let (Some(address), Some(Some(linked))) = (address, linked.get(name.as_str())) {
            *votes.entry(address.wrapping_sub(*linked)).or_default() += 1;
        }
    }
    let known = votes.values().sum();
    let best = votes.into_iter().max_by_key(|(slide, count)| (*count, std::cmp::Reverse(*slide)));
    best.map(|(slide, agreeing)| Vote { slide, agreeing, known })
}

fn kernel_vote(elf: &Elf<'_>, landmarks: &BTreeMap<AddressSpace, Landmark>) -> Option<Vote> {
    vote(landmarks.get(&AddressSpace::Kernel)?, &linked(elf, landmarks))
}

/// What the kernel was moved by.
pub(super) fn kernel_slide(elf: &Elf<'_>, file: &SampleFile) -> Option<u64> {
    kernel_vote(elf, file.landmarks()?).map(|vote| vote.slide)
}

/// Each process (or thread) that shows symbols of the program, and what the program was moved by in it.
pub(super) fn program_slides(elf: &Elf<'_>, name: &str, file: &SampleFile) -> Vec<(u32, u64)> {
    let Some(landmarks) = file.landmarks() else { return Vec::new() };
    let linked = linked(elf, landmarks);
    let slide = |(space, landmark): (&AddressSpace, &Landmark)| match space {
        AddressSpace::Program(pid, dso) if base_name(dso) == name => {
            Some((*pid, vote(landmark, &linked)?.slide))
        }
        _ => None,
    };
    landmarks.iter().filter_map(slide).collect()
}

/// Whether the addresses in a text can be those of a kernel. A perf.data has a build id instead, and passes.
///
/// # Errors
/// If they can't, or a record can't be read.
pub fn check_addresses(elf: &Elf<'_>, file: &SampleFile) -> Result<(), Displaced> {
    let Some(landmarks) = file.landmarks().filter(|_| is_kernel(elf)) else { return Ok(()) };
    match kernel_vote(elf, landmarks) {
        Some(Vote { agreeing, known, .. }) if 2 * agreeing < known => {
            Err(Displaced::OtherBuild { program: elf.name().to_owned(), agreeing, known })
        }
        Some(_) => Ok(()),
        None if file.kernel_image()?.is_some() => Ok(()),
        None => check_text(elf, file),
    }
}

/// Whether some sample of kernel code lies in the program's text as linked.
fn check_text(elf: &Elf<'_>, file: &SampleFile) -> Result<(), Displaced> {
    let text = elf.text_sections();
    let mut samples = 0;
    let mut records = file.records();
    while let Some(record) = records.next_record()? {
        let Record::Sample(sample) = record else { continue };
        let Some(ip) = sample.ip.filter(|_| sample.cpu_mode == CpuMode::Kernel) else { continue };
        if text
            .iter()
            .any(|(_, start, bytes)| ip.checked_sub(*start).is_some_and(|at| at < bytes.len() as u64))
        {
            return Ok(());
        }
        samples += 1;
    }
    if samples == 0 {
        return Ok(());
    }
    Err(Displaced::NotInText { program: elf.name().to_owned(), samples })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn landmark(symbols: &[(&str, u64)]) -> Landmark {
        Landmark {
            symbols: symbols.iter().map(|(name, address)| ((*name).to_owned(), Some(*address))).collect(),
        }
    }

    #[test]
    fn most_symbols_decide() {
        let linked =
            FxHashMap::from_iter([("a", Some(0x100)), ("b", Some(0x200)), ("c", Some(0x300)), ("d", None)]);
        let moved = landmark(&[("a", 0x1100), ("b", 0x1200), ("c", 0x300), ("d", 0x5000), ("e", 0x6000)]);
        assert_eq!(vote(&moved, &linked), Some(Vote { slide: 0x1000, agreeing: 2, known: 3 }));
        assert_eq!(vote(&landmark(&[("d", 0x5000)]), &linked), None);
        let below = vote(&landmark(&[("a", 0x80)]), &linked).map(|vote| vote.slide);
        assert_eq!(below, Some(0_u64.wrapping_sub(0x80)));
    }
}
