//! The header (btf.rst section 2; `struct btf_header`): which bytes are types, which are strings.

/// Why BTF could not be read: what is wrong and where, in bytes from the start of the BTF data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("BTF: {0}")]
pub struct BtfError(pub(super) String);

/// `BTF_MAGIC`.
const MAGIC: u16 = 0xeb9f;
/// Length of the header every version has; newer ones append fields.
const MIN_HEADER: usize = 24;
/// Length of a header that names a layout section.
const LAYOUT_HEADER: usize = 32;

/// A section's bytes, and its offset in the data, for messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Section<'d> {
    pub(super) bytes: &'d [u8],
    pub(super) offset: u64,
}

/// The header, and the sections it names.
pub(super) struct Header<'d> {
    pub(super) big_endian: bool,
    pub(super) types: Section<'d>,
    pub(super) strings: Section<'d>,
    /// Lengths of the records of each kind (`struct btf_layout`), empty in older files.
    pub(super) layout: Section<'d>,
}

/// Reads four bytes as a number, if they are there.
pub(super) fn read_u32(bytes: &[u8], offset: usize, big_endian: bool) -> Option<u32> {
    let end = offset.checked_add(4)?;
    let four: [u8; 4] = bytes.get(offset..end)?.try_into().ok()?;
    Some(if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
}

impl<'d> Header<'d> {
    pub(super) fn parse(data: &'d [u8]) -> Result<Self, BtfError> {
        let wrong = |what: String| Err(BtfError(what));
        let too_short = |len| BtfError(format!("{} bytes are too short for a header of {len}", data.len()));
        let [first, second, version, _, ..] = *data else { return Err(too_short(MIN_HEADER)) };
        let found = u16::from_le_bytes([first, second]);
        let big_endian = found == MAGIC.swap_bytes();
        if found != MAGIC && !big_endian {
            return wrong(format!("magic {found:#06x} at offset 0 instead of 0xeb9f"));
        }
        if version != 1 {
            return wrong(format!("version {version} at offset 2, only version 1 is known"));
        }
        let field = |offset| read_u32(data, offset, big_endian).ok_or_else(|| too_short(MIN_HEADER));
        let len = field(4)? as usize;
        if len < MIN_HEADER || len > data.len() {
            return Err(too_short(len.max(MIN_HEADER)));
        }
        let section = |name, at| -> Result<Section<'d>, BtfError> {
            slice_section(data, name, len as u64 + u64::from(field(at)?), u64::from(field(at + 4)?))
        };
        let layout = if len >= LAYOUT_HEADER { section("layout", 24)? } else { Section::default() };
        Ok(Self { big_endian, types: section("type", 8)?, strings: section("string", 16)?, layout })
    }

    /// Checks what a reader of the sections relies on. Split BTF may have no strings of its own.
    pub(super) fn check(&self, is_split: bool) -> Result<(), BtfError> {
        let malformed = |name, offset, what| Err(BtfError(format!("{name} section at {offset:#x}: {what}")));
        if !self.types.offset.is_multiple_of(4) {
            return malformed("type", self.types.offset, "does not begin at a multiple of 4");
        }
        let strings = self.strings;
        if strings.bytes.is_empty() && is_split {
            return Ok(());
        }
        if strings.bytes.last() != Some(&0) {
            return malformed("string", strings.offset, "does not end with a zero byte");
        }
        if !is_split && strings.bytes.first() != Some(&0) {
            return malformed("string", strings.offset, "does not begin with the empty string");
        }
        Ok(())
    }
}

fn slice_section<'d>(data: &'d [u8], name: &str, offset: u64, len: u64) -> Result<Section<'d>, BtfError> {
    let bytes = usize::try_from(offset).ok().zip(usize::try_from(offset.saturating_add(len)).ok());
    let bytes = bytes.and_then(|(start, end)| data.get(start..end)).ok_or_else(|| {
        let available = data.len();
        BtfError(format!(
            "{name} section at {offset:#x} of {len} bytes does not fit the data of {available} bytes"
        ))
    })?;
    Ok(Section { bytes, offset })
}
