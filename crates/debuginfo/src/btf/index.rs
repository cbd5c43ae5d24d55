//! All types of a BTF by id, and its strings.

use super::header::{BtfError, Header, Section, read_u32};
use super::kind::{BtfKind, BtfTypeId, record_lengths};
use super::record::{COMMON, Info, Record};
use fieldline_layout::types::TargetMachine;

/// BTF with its types indexed. Cheap to make: names and members stay where they are.
#[derive(Debug)]
pub struct Btf<'d> {
    pub(super) base: Option<&'d Self>,
    big_endian: bool,
    types: Section<'d>,
    pub(super) strings: Section<'d>,
    /// Where each record begins within the type section.
    offsets: Vec<u32>,
    /// Id of the first of them.
    first_id: u32,
    /// Offset by which references name the first byte of `strings`.
    pub(super) first_string: u32,
    pointer_size: u8,
}

/// Indexes BTF: the content of `/sys/kernel/btf/vmlinux` or of an ELF's `.BTF` section. A module's BTF is split:
/// it refers to the types and strings of its `base`, the kernel's.
/// Fails if the header or a type's record is broken, or a type is of a kind whose length is unknown. References and
/// names are checked when they are read.
pub fn parse<'d>(data: &'d [u8], base: Option<&'d Btf<'d>>) -> Result<Btf<'d>, BtfError> {
    let header = Header::parse(data)?;
    header.check(base.is_some())?;
    let message = "base and split BTF together hold more than 2^31 types or string bytes";
    let too_many = || BtfError(message.to_owned());
    let first_id = base.map_or(Some(1), Btf::end_id).ok_or_else(too_many)?;
    let first_string = base.map_or(Some(0), Btf::end_string).ok_or_else(too_many)?;
    let mut btf = Btf {
        base,
        big_endian: header.big_endian,
        types: header.types,
        strings: header.strings,
        offsets: index_records(&header, first_id)?,
        first_id,
        first_string,
        pointer_size: base.map_or(8, |base| base.pointer_size),
    };
    btf.end_id().ok_or_else(too_many)?;
    if let Some(size) = btf.long_size() {
        btf.pointer_size = size;
    }
    Ok(btf)
}

/// Notes where each record begins. The records are counted by their bytes, so the index cannot outgrow the data.
fn index_records(header: &Header<'_>, first_id: u32) -> Result<Vec<u32>, BtfError> {
    let types = header.types.bytes;
    let mut offsets = Vec::with_capacity(types.len() / 24);
    let mut start = 0;
    while start < types.len() {
        let id = first_id.saturating_add(u32::try_from(offsets.len()).unwrap_or(u32::MAX));
        let offset = header.types.offset + start as u64;
        let wrong = |what: String| BtfError(format!("type {id} at offset {offset:#x}: {what}"));
        let truncated = || wrong("its record ends beyond the type section".to_owned());
        let info = Info(read_u32(types, start + 4, header.big_endian).ok_or_else(truncated)?);
        let number = info.number();
        let known = record_lengths(number).or_else(|| declared_record_lengths(header, number));
        let (once, each) = known
            .ok_or_else(|| wrong(format!("unknown kind {number}, and no layout section tells its length")))?;
        let len = COMMON as u64 + u64::from(once) + u64::from(each) * u64::from(info.vlen());
        let end = usize::try_from(start as u64 + len).ok().filter(|end| *end <= types.len());
        let end = end.ok_or_else(truncated)?;
        // Section lengths are of 32 bits, so offsets in them are too.
        offsets.push(start as u32);
        start = end;
    }
    Ok(offsets)
}

/// Lengths that the layout section gives for a kind: `struct btf_layout { u8 info_sz; u8 elem_sz; u16 flags; }`.
fn declared_record_lengths(header: &Header<'_>, number: u8) -> Option<(u32, u32)> {
    let at = usize::from(number) * 4;
    let [once, each, _, _] = *header.layout.bytes.get(at..at + 4)? else { return None };
    // Records are aligned to 4 bytes; a layout that says otherwise would misalign the next one.
    let aligned = once % 4 == 0 && each % 4 == 0;
    aligned.then_some((u32::from(once), u32::from(each)))
}

impl<'d> Btf<'d> {
    /// The id after the last; `None` if it is no number of 31 bits.
    pub(super) fn end_id(&self) -> Option<u32> {
        let count = u32::try_from(self.offsets.len()).ok()?;
        self.first_id.checked_add(count).filter(|end| end >> 31 == 0)
    }

    fn end_string(&self) -> Option<u32> {
        let len = u32::try_from(self.strings.bytes.len()).ok()?;
        self.first_string.checked_add(len).filter(|end| end >> 31 == 0)
    }

    /// Ids of this BTF, without those of its base, in order.
    pub fn ids(&self) -> impl Iterator<Item = BtfTypeId> + use<> {
        (self.first_id..self.end_id().unwrap_or(self.first_id)).map(BtfTypeId)
    }

    /// The record of an id, of this BTF or its base. Id 0 is `void` and has none.
    pub(super) fn record(&self, id: BtfTypeId) -> Option<Record<'d>> {
        if id.0 < self.first_id {
            return self.base.and_then(|base| base.record(id));
        }
        let start = *self.offsets.get((id.0 - self.first_id) as usize)? as usize;
        let bytes = self.types.bytes.get(start..)?;
        Some(Record { id, bytes, offset: self.types.offset + start as u64, big_endian: self.big_endian })
    }

    pub(super) fn last_id(&self) -> BtfTypeId {
        BtfTypeId(self.end_id().unwrap_or(1).saturating_sub(1))
    }

    /// The kind of an id.
    pub fn kind(&self, id: BtfTypeId) -> Option<BtfKind> {
        self.record(id).map(|record| record.kind())
    }

    /// The name of an id; `None` if it has none or the name is broken.
    pub fn name(&self, id: BtfTypeId) -> Option<&'d [u8]> {
        let record = self.record(id)?;
        self.string(record.name()).filter(|name| !name.is_empty())
    }

    /// The string at an offset, without its zero byte.
    pub(super) fn string(&self, offset: u32) -> Option<&'d [u8]> {
        if offset < self.first_string {
            return self.base.and_then(|base| base.string(offset));
        }
        let rest = self.strings.bytes.get((offset - self.first_string) as usize..)?;
        let end = memchr::memchr(0, rest)?;
        rest.get(..end)
    }

    /// The machine it was made for. BTF does not carry the pointer's size; it is that of `long`, as libbpf has it.
    pub fn target(&self) -> TargetMachine {
        TargetMachine { pointer_size: self.pointer_size, big_endian: self.big_endian }
    }

    /// Size of an integer named like `long`. Compilers put the base types first, so the first records are enough.
    fn long_size(&self) -> Option<u8> {
        const LONG: [&[u8]; 4] = [b"long int", b"long unsigned int", b"long", b"unsigned long"];
        let records = self.ids().filter_map(|id| self.record(id));
        let mut ints = records.filter(|record| record.kind() == BtfKind::Int);
        let long = ints.find(|int| matches!(self.string(int.name()), Some(name) if LONG.contains(&name)))?;
        match long.size() {
            4 => Some(4),
            8 => Some(8),
            _ => None,
        }
    }
}
