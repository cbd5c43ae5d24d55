//! Functions that give memory out and take it back.

use crate::process::maps::ProcessMapping;
use fieldline_debuginfo::{Elf, FileBytes};
use rustc_hash::FxHashMap;
use std::path::Path;

/// The ways in which a function gives out memory or takes it. Numbers are those of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocator {
    /// Returns so many bytes.
    Gives { size: usize },
    /// Returns as many bytes as two arguments multiplied.
    GivesProduct { sizes: [usize; 2] },
    /// Gives back what the first argument points to, and returns so many bytes.
    Resizes { size: usize },
    /// The same with two arguments multiplied.
    ResizesProduct { sizes: [usize; 2] },
    /// Stores where the first argument points to, and returns 0 (`posix_memalign(3)`).
    Stores { size: usize },
    /// Gives back what the first argument points to.
    Takes,
}

/// Allocators of C (`malloc(3)`, `posix_memalign(3)`).
const OF_C: &[(&str, Allocator)] = &[
    ("malloc", Allocator::Gives { size: 0 }),
    ("valloc", Allocator::Gives { size: 0 }),
    ("pvalloc", Allocator::Gives { size: 0 }),
    ("calloc", Allocator::GivesProduct { sizes: [0, 1] }),
    ("aligned_alloc", Allocator::Gives { size: 1 }),
    ("memalign", Allocator::Gives { size: 1 }),
    ("realloc", Allocator::Resizes { size: 1 }),
    ("reallocarray", Allocator::ResizesProduct { sizes: [1, 2] }),
    ("posix_memalign", Allocator::Stores { size: 2 }),
    ("free", Allocator::Takes),
    ("cfree", Allocator::Takes),
];

/// Prefixes under which libraries have the same: jemalloc, tcmalloc, mimalloc.
const PREFIXES: [&str; 3] = ["je_", "tc_", "mi_"];

/// C++'s `operator new`, `new[]`, `delete`, `delete[]` with any further arguments, by their mangled names (Itanium C++
/// ABI, section 5.1.3).
const OF_CPP: [(&str, Allocator); 4] = [
    ("_Znwm", Allocator::Gives { size: 0 }),
    ("_Znam", Allocator::Gives { size: 0 }),
    ("_ZdlPv", Allocator::Takes),
    ("_ZdaPv", Allocator::Takes),
];

/// The way of a function, by its name.
fn by_name(name: &str) -> Option<Allocator> {
    let plain = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let of_c = OF_C.iter().find(|(known, _)| *known == plain).map(|(_, allocator)| *allocator);
    of_c.or_else(|| OF_CPP.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, allocator)| *allocator))
}

/// Allocators of files, by the place of their first byte in the file.
#[derive(Debug, Default)]
pub(super) struct AllocatorFiles {
    by_path: FxHashMap<String, Vec<(u64, Allocator)>>,
}

impl AllocatorFiles {
    /// The allocators of a process by address, out of its mappings.
    pub(super) fn of_process(&mut self, pid: u32, maps: &[ProcessMapping]) -> FxHashMap<u64, Allocator> {
        let mut found = FxHashMap::default();
        for map in maps.iter().filter(|map| map.is_code && map.path.starts_with('/')) {
            let known = self.by_path.entry(map.path.clone()).or_insert_with(|| {
                let seen = Path::new("/proc").join(format!("{pid}/root/{}", map.path));
                read_allocators(&seen).unwrap_or_default()
            });
            let length = map.end.saturating_sub(map.begin);
            let mapped = known.iter().filter_map(|(place, allocator)| {
                let distance = place.checked_sub(map.offset).filter(|distance| *distance < length)?;
                Some((map.begin.checked_add(distance)?, *allocator))
            });
            found.extend(mapped);
        }
        found
    }
}

/// The allocators of a file; `None` if it can't be read as ELF.
fn read_allocators(path: &Path) -> Option<Vec<(u64, Allocator)>> {
    let bytes = FileBytes::open(path).ok()?;
    let elf = Elf::parse(&bytes).ok()?;
    let own = elf.symbols().filter(|symbol| symbol.is_function).map(|symbol| (symbol.name, symbol.address));
    let named = own.chain(elf.exported_functions());
    let found = named.filter_map(|(name, address)| Some((address, by_name(name)?)));
    let segments = elf.segments();
    let placed = found.filter_map(|(address, allocator)| {
        let segment = segments.iter().find(|segment| {
            address.checked_sub(segment.address).is_some_and(|distance| distance < segment.size)
        })?;
        Some((segment.file_offset.checked_add(address - segment.address)?, allocator))
    });
    Some(placed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::maps;

    #[test]
    fn allocators_are_known_by_their_names() {
        for (name, expected) in [
            ("malloc", Some(Allocator::Gives { size: 0 })),
            ("je_calloc", Some(Allocator::GivesProduct { sizes: [0, 1] })),
            ("_ZnwmSt11align_val_t", Some(Allocator::Gives { size: 0 })),
            ("_ZdlPvm", Some(Allocator::Takes)),
            ("my_free", None),
            ("malloc_trim", None),
        ] {
            assert_eq!(by_name(name), expected, "{name}");
        }
    }

    #[test]
    fn allocators_of_the_c_library_are_found_where_it_is_mapped() {
        let pid = std::process::id();
        let found = AllocatorFiles::default().of_process(pid, &maps::read(pid).unwrap());
        let address = nix::libc::free as unsafe extern "C" fn(*mut nix::libc::c_void) as usize as u64;
        assert_eq!(found.get(&address), Some(&Allocator::Takes), "{address:#x}");
    }

    #[test]
    fn files_that_are_no_programs_have_none() {
        assert_eq!(read_allocators(Path::new("/proc/self/status")), None);
        assert_eq!(read_allocators(Path::new("/nowhere")), None);
    }
}
