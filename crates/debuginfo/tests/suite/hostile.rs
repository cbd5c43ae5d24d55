//! Files that no compiler writes, each a way to make little into much.

use fieldline_debuginfo::{Elf, FileBytes, module};
use std::path::Path;

fn object() -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::fs::read(fixtures.join("layout/x86_64-dwarf5.o")).unwrap()
}

/// Offset and count of the section headers (ELF-64 object file format, section 2).
fn headers(bytes: &[u8]) -> (usize, usize) {
    let offset = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    (offset as usize, usize::from(u16::from_le_bytes(bytes[60..62].try_into().unwrap())))
}

#[test]
fn sections_that_share_their_bytes_are_refused() {
    let mut bytes = object();
    let whole = FileBytes::from_vec("whole.o", bytes.clone());
    assert!(Elf::parse(&whole).is_ok());
    let (begin, count) = headers(&bytes);
    // Every section is the whole file, as far as its header goes.
    let length = bytes.len() as u64;
    for header in 1..count {
        let at = begin + header * 64;
        bytes[at + 24..at + 32].fill(0);
        bytes[at + 32..at + 40].copy_from_slice(&length.to_le_bytes());
    }
    let file = FileBytes::from_vec("shared.o", bytes);
    let error = Elf::parse(&file).err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(error, "shared.o: ELF header: its sections overlap");
    assert!(module::link_module(&file).is_ok_and(|linked| linked.is_none()));
}

#[test]
fn a_section_that_claims_to_unpack_to_more_than_any_does_is_refused() {
    let mut bytes = object();
    let (begin, count) = headers(&bytes);
    let place_of = |bytes: &[u8], header: usize| {
        let at = begin + header * 64;
        u64::from_le_bytes(bytes[at + 24..at + 32].try_into().unwrap()) as usize
    };
    // Each section compressed, as its header says: ELFCOMPRESS_ZLIB, and a size no memory has.
    for header in 1..count {
        let at = begin + header * 64;
        let place = place_of(&bytes, header);
        if bytes[at + 4] == 1 && bytes.len() > place + 24 {
            bytes[at + 8..at + 16].copy_from_slice(&(1_u64 << 11).to_le_bytes());
            bytes[place..place + 24].fill(0);
            bytes[place] = 1;
            bytes[place + 8..place + 16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        }
    }
    let file = FileBytes::from_vec("packed.o", bytes);
    let elf = Elf::parse(&file).unwrap();
    let error = elf.debug_section(".debug_info").err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("claims to hold 1099511627776 bytes"), "{error}");
}
