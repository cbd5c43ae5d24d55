//! Machine code by address.

use fieldline_debuginfo::Elf;

/// The sections of a file that hold machine code.
#[derive(Clone, Debug, Default)]
pub struct Image<'d> {
    /// Address and content, sorted.
    sections: Vec<(u64, &'d [u8])>,
}

impl<'d> Image<'d> {
    /// The code of a file.
    pub fn new(elf: &Elf<'d>) -> Self {
        let sections = elf.text_sections().into_iter();
        let mut sections: Vec<_> = sections.map(|(_, address, bytes)| (address, bytes)).collect();
        sections.sort_by_key(|(address, _)| *address);
        Self { sections }
    }

    /// The code from an address on, up to an end or the section's.
    pub fn code(&self, begin: u64, end: u64) -> &'d [u8] {
        let past = self.sections.partition_point(|(address, _)| *address <= begin);
        let section = past.checked_sub(1).and_then(|index| self.sections.get(index));
        let Some((address, bytes)) = section else {
            return &[];
        };
        let offset = |at: u64| usize::try_from(at.saturating_sub(*address)).unwrap_or(usize::MAX);
        let end = offset(end).min(bytes.len());
        bytes.get(offset(begin)..end).unwrap_or(&[])
    }

    /// Whether an address is in a section of code.
    pub fn contains(&self, address: u64) -> bool {
        !self.code(address, address.saturating_add(1)).is_empty()
    }

    /// Addresses and contents of all sections.
    pub fn sections(&self) -> &[(u64, &'d [u8])] {
        &self.sections
    }
}
