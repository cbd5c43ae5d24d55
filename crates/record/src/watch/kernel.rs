//! Addresses of the running kernel and its per-CPU data.

use fieldline_debuginfo::LinkedAddress;
use fieldline_perfdata::address::LoadedAddress;
use fieldline_profile::addresses::LoadBias;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The loaded address of the running kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningKernel {
    /// Address of its first symbol, `_text`.
    pub text: LoadedAddress,
}

/// Why addresses of the kernel are unknown.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Symbols are hidden from others than root.
    #[error(
        "/proc/kallsyms shows no addresses of the kernel; be root, and see /proc/sys/kernel/kptr_restrict"
    )]
    Hidden,
    /// A file of `/proc` can't be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// Which.
        path: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The image of memory doesn't hold an address.
    #[error("/proc/kcore holds nothing at {0:#x}")]
    NotInImage(u64),
}

impl RunningKernel {
    /// The kernel that runs.
    ///
    /// # Errors
    /// If its symbols are hidden.
    pub fn running() -> Result<Self, KernelError> {
        let path = "/proc/kallsyms";
        let text =
            std::fs::read_to_string(path).map_err(|source| KernelError::Unreadable { path, source })?;
        parse_text_address(&text).map(|text| Self { text }).ok_or(KernelError::Hidden)
    }

    /// The build id of the kernel that runs, if it has one.
    #[must_use]
    pub fn build_id() -> Option<Vec<u8>> {
        parse_build_id(&std::fs::read("/sys/kernel/notes").ok()?)
    }

    /// The load bias (KASLR offset), by the linked address of `_text`.
    #[must_use]
    pub fn load_bias(self, linked_text: LinkedAddress) -> LoadBias {
        LoadBias::between(linked_text, self.text)
    }

    /// The offsets of per-CPU data for some CPUs: `__per_cpu_offset`, an array at a loaded address, read
    /// from `/proc/kcore`.
    ///
    /// # Errors
    /// If that file doesn't exist (CONFIG_PROC_KCORE), or is not for this user.
    pub fn per_cpu_offsets(array: LoadedAddress, cpus: &[u32]) -> Result<Vec<u64>, KernelError> {
        let path = "/proc/kcore";
        let unreadable = |source| KernelError::Unreadable { path, source };
        let mut core = File::open(path).map_err(unreadable)?;
        let addresses = cpus.iter().map(|cpu| array.wrapping_add(8 * u64::from(*cpu)).0);
        addresses
            .map(|address| {
                read_u64(&mut core, address).map_err(unreadable)?.ok_or(KernelError::NotInImage(address))
            })
            .collect()
    }
}

/// The address of `_text`, unless it is hidden: then all are zeros.
fn parse_text_address(text: &str) -> Option<LoadedAddress> {
    let line = text.lines().find(|line| line.ends_with(" _text"))?;
    u64::from_str_radix(line.split(' ').next()?, 16).ok().filter(|address| *address != 0).map(LoadedAddress)
}

/// The build id among ELF notes (`elf(5)`): sizes of name and content, type 3, the name GNU, the content.
fn parse_build_id(notes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = notes;
    loop {
        let (head, behind) = rest.split_first_chunk::<12>()?;
        let word = |at: usize| Some(u32::from_le_bytes(*head.get(at..)?.first_chunk()?) as usize);
        let (name, content, kind) = (word(0)?, word(4)?, word(8)?);
        let (name, behind) = behind.split_at_checked(name.checked_next_multiple_of(4)?)?;
        if kind == 3 && name == b"GNU\0" {
            return behind.get(..content).map(<[u8]>::to_vec);
        }
        rest = behind.get(content.checked_next_multiple_of(4)?..)?;
    }
}

/// Eight bytes of memory at an address, by the segments of an ELF image of it (`elf(5)`); `None` if no
/// segment holds them.
fn read_u64(core: &mut (impl Read + Seek), address: u64) -> io::Result<Option<u64>> {
    let table = read_file_u64(core, 32)?;
    let [size, count] = [54, 56].map(|at| read_file_u64(core, at).map(|word| word & 0xffff));
    let (size, count) = (size?, count?);
    for entry in (0..count).map(|nth| table.saturating_add(nth * size)) {
        let is_load = read_file_u64(core, entry)? & 0xffff_ffff == 1;
        let [offset, begin, length] = [8, 16, 32].map(|at| read_file_u64(core, entry + at));
        let (offset, begin, length) = (offset?, begin?, length?);
        let inside = address.wrapping_sub(begin);
        if is_load && inside < length && length - inside >= 8 {
            return read_file_u64(core, offset.saturating_add(inside)).map(Some);
        }
    }
    Ok(None)
}

fn read_file_u64(core: &mut (impl Read + Seek), at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    core.seek(SeekFrom::Start(at))?;
    core.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn the_first_symbol_has_the_loaded_address() {
        let text =
            "0000000000000000 A fixed_percpu_data\nffffffff9e000000 T _text\nffffffff9e000000 T startup_64\n";
        assert_eq!(parse_text_address(text), Some(LoadedAddress(0xffff_ffff_9e00_0000)));
        assert_eq!(parse_text_address("0000000000000000 T _text\n"), None, "hidden");
        assert_eq!(parse_text_address("ffffffff9e000000 T my_text\n"), None);
        let kernel = RunningKernel { text: LoadedAddress(0xffff_ffff_9e00_0000) };
        let load_bias = kernel.load_bias(LinkedAddress(0xffff_ffff_8100_0000));
        let loaded = load_bias.loaded(LinkedAddress(0xffff_ffff_8120_0010));
        assert_eq!(loaded, LoadedAddress(0xffff_ffff_9e20_0010));
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let mut notes = Vec::new();
        for (name, kind, content) in
            [(&b"Xen\0"[..], 6_u32, &[1_u8, 2, 3, 4, 5, 0, 0, 0][..]), (b"GNU\0", 3, &[7; 20])]
        {
            let length = if kind == 6 { 5 } else { 20_u32 };
            [name.len() as u32, length, kind].iter().for_each(|word| notes.extend(word.to_le_bytes()));
            notes.extend(name);
            notes.extend(content);
        }
        assert_eq!(parse_build_id(&notes), Some(vec![7; 20]));
        assert_eq!(parse_build_id(&notes[..40]), None);
        assert_eq!(parse_build_id(&[0xff; 64]), None);
    }

    /// An image with two segments, of which the first is a note.
    fn image() -> Vec<u8> {
        let mut image = vec![0; 64];
        image[32..40].copy_from_slice(&64_u64.to_le_bytes());
        image[54..58].copy_from_slice(&[56, 0, 2, 0]);
        for (kind, offset, begin, length) in
            [(4_u64, 0_u64, 0_u64, 64_u64), (1, 176, 0xffff_ffff_8000_0000, 16)]
        {
            for word in [kind, offset, begin, 0, length, length, 0] {
                image.extend(word.to_le_bytes());
            }
        }
        image.extend(7_u64.to_le_bytes());
        image.extend(9_u64.to_le_bytes());
        image
    }

    #[test]
    fn memory_is_read_by_the_segments_of_its_image() {
        let mut core = Cursor::new(image());
        assert_eq!(read_u64(&mut core, 0xffff_ffff_8000_0008).unwrap(), Some(9));
        assert_eq!(read_u64(&mut core, 0xffff_ffff_8000_0009).unwrap(), None, "its end is outside");
        assert_eq!(read_u64(&mut core, 8).unwrap(), None, "a note is no memory");
        assert!(read_u64(&mut Cursor::new(vec![0; 40]), 8).is_err());
    }
}
