//! Load biases by the symbols of a text.
//!
//! A text of `perf script` has no build ids and mostly no mappings. With the field `symoff` each sample shows
//! where a symbol began; all symbols of one image have one load bias.

use super::identity::{base_name, is_kernel};
use super::load_bias::LoadBias;
use fieldline_debuginfo::{Elf, LinkedAddress};
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample::CpuMode;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::script::{AddressSpace, SymbolAddresses};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Recorded addresses that don't fit the program given.
#[derive(Debug, thiserror::Error)]
pub enum AddressMismatch {
    /// Most symbols lay at other distances from each other than in the program.
    #[error(
        "only {agreeing} of {known} symbols agree on a load bias of {program}: it is another build \
         than the one that was recorded"
    )]
    OtherBuild {
        /// The file given.
        program: String,
        /// Symbols with the most frequent load bias.
        agreeing: usize,
        /// Symbols known to the program.
        known: usize,
    },
    /// No instruction is one of the program's.
    #[error(
        "none of the {samples} samples of kernel code lies in the text of {program}: it is another kernel, or has a \
         KASLR offset, which perf script -F +symoff (or --show-mmap-events) shows"
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

/// The load bias of an image, by majority of its symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BiasEstimate {
    load_bias: LoadBias,
    agreeing: usize,
    known: usize,
}

/// Loaded addresses of symbols by address space.
type LoadedSymbols = BTreeMap<AddressSpace, SymbolAddresses>;
/// Linked addresses by name; none for names with several.
type LinkedSymbols<'e> = FxHashMap<&'e str, Option<LinkedAddress>>;

/// Linked addresses of the named symbols.
fn linked_addresses<'e>(elf: &'e Elf<'_>, landmarks: &LoadedSymbols) -> LinkedSymbols<'e> {
    let names = landmarks.values().flat_map(|landmark| landmark.symbols.keys());
    let names_wanted: FxHashSet<&str> = names.map(String::as_str).collect();
    let mut found = LinkedSymbols::default();
    for symbol in elf.symbols().filter(|symbol| names_wanted.contains(symbol.name)) {
        let linked = LinkedAddress(symbol.address);
        let entry = found.entry(symbol.name).or_insert(Some(linked));
        *entry = entry.filter(|address| *address == linked);
    }
    found
}

/// The load bias most symbols agree on; of equally many, the smallest.
fn estimate_bias(landmark: &SymbolAddresses, linked: &LinkedSymbols<'_>) -> Option<BiasEstimate> {
    let mut counts_by_bias: BTreeMap<LoadBias, usize> = BTreeMap::new();
    for (name, address) in &landmark.symbols {
        if let (Some(loaded), Some(Some(linked))) = (address, linked.get(name.as_str())) {
            *counts_by_bias.entry(LoadBias::between(*linked, *loaded)).or_default() += 1;
        }
    }
    let known = counts_by_bias.values().sum();
    let best = counts_by_bias.into_iter().max_by_key(|(bias, count)| (*count, std::cmp::Reverse(*bias)));
    best.map(|(load_bias, agreeing)| BiasEstimate { load_bias, agreeing, known })
}

fn estimate_kernel_bias(elf: &Elf<'_>, landmarks: &LoadedSymbols) -> Option<BiasEstimate> {
    estimate_bias(landmarks.get(&AddressSpace::Kernel)?, &linked_addresses(elf, landmarks))
}

/// The KASLR offset of the kernel.
pub(super) fn kernel_load_bias(elf: &Elf<'_>, file: &SampleFile) -> Option<LoadBias> {
    estimate_kernel_bias(elf, file.symbol_addresses()?).map(|estimate| estimate.load_bias)
}

/// Each process (or thread) with symbols of the program, and the load bias there.
pub(super) fn program_load_biases(elf: &Elf<'_>, name: &str, file: &SampleFile) -> Vec<(u32, LoadBias)> {
    let Some(landmarks) = file.symbol_addresses() else { return Vec::new() };
    let linked = linked_addresses(elf, landmarks);
    let load_bias = |(space, landmark): (&AddressSpace, &SymbolAddresses)| match space {
        AddressSpace::Program(pid, dso) if base_name(dso) == name => {
            Some((*pid, estimate_bias(landmark, &linked)?.load_bias))
        }
        _ => None,
    };
    landmarks.iter().filter_map(load_bias).collect()
}

/// Whether the addresses in a text can be those of a kernel. A perf.data has a build id instead, and passes.
///
/// # Errors
/// If they can't, or a record can't be read.
pub fn check_addresses(elf: &Elf<'_>, file: &SampleFile) -> Result<(), AddressMismatch> {
    let Some(landmarks) = file.symbol_addresses().filter(|_| is_kernel(elf)) else { return Ok(()) };
    match estimate_kernel_bias(elf, landmarks) {
        Some(BiasEstimate { agreeing, known, .. }) if 2 * agreeing < known => {
            Err(AddressMismatch::OtherBuild { program: elf.name().to_owned(), agreeing, known })
        }
        Some(_) => Ok(()),
        None if file.kernel_image()?.is_some() => Ok(()),
        None => check_text(elf, file),
    }
}

/// Whether some sample of kernel code lies in the program's text as linked.
fn check_text(elf: &Elf<'_>, file: &SampleFile) -> Result<(), AddressMismatch> {
    let text = elf.text_sections();
    let mut samples = 0;
    let mut records = file.records();
    while let Some(record) = records.next_record()? {
        let Record::Sample(sample) = record else { continue };
        let Some(ip) = sample.ip.filter(|_| sample.cpu_mode == CpuMode::Kernel) else { continue };
        if text
            .iter()
            .any(|(_, start, bytes)| ip.0.checked_sub(*start).is_some_and(|at| at < bytes.len() as u64))
        {
            return Ok(());
        }
        samples += 1;
    }
    if samples == 0 {
        return Ok(());
    }
    Err(AddressMismatch::NotInText { program: elf.name().to_owned(), samples })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::address::LoadedAddress;

    fn landmark(symbols: &[(&str, u64)]) -> SymbolAddresses {
        SymbolAddresses {
            symbols: symbols
                .iter()
                .map(|(name, at)| ((*name).to_owned(), Some(LoadedAddress(*at))))
                .collect(),
        }
    }

    #[test]
    fn most_symbols_decide() {
        let linked = [("a", Some(0x100)), ("b", Some(0x200)), ("c", Some(0x300)), ("d", None)];
        let linked = linked.map(|(name, address)| (name, address.map(LinkedAddress)));
        let linked = FxHashMap::from_iter(linked);
        let bias = |loaded| LoadBias::between(LinkedAddress(0), LoadedAddress(loaded));
        let moved = landmark(&[("a", 0x1100), ("b", 0x1200), ("c", 0x300), ("d", 0x5000), ("e", 0x6000)]);
        assert_eq!(
            estimate_bias(&moved, &linked),
            Some(BiasEstimate { load_bias: bias(0x1000), agreeing: 2, known: 3 })
        );
        assert_eq!(estimate_bias(&landmark(&[("d", 0x5000)]), &linked), None);
        let below = estimate_bias(&landmark(&[("a", 0x80)]), &linked).map(|estimate| estimate.load_bias);
        assert_eq!(below, Some(bias(0_u64.wrapping_sub(0x80))));
    }
}
