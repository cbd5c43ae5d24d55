//! AArch64 machine code as text.

use crate::aarch64::operand::pc_offset;
use crate::machine::SymbolName;
use std::fmt::Write;
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Opcode};

/// The instruction at the beginning of some code, which is linked at an address; `None` if there is none.
pub(crate) fn format_instruction(name_of: &SymbolName<'_>, address: u64, code: &[u8]) -> Option<String> {
    let word = code.get(..4)?;
    let decoded = InstDecoder::default().decode(&mut U8Reader::new(word)).ok()?;
    let decoded_text = decoded.to_string();
    let (mnemonic, operands) = decoded_text.split_once(' ').unwrap_or((&decoded_text, ""));
    let mut text = format!("{mnemonic:<7}{operands}").trim_end().to_owned();
    if let Some(distance) = pc_offset(&decoded) {
        let is_page = decoded.opcode == Opcode::ADRP;
        let from = if is_page { address & !0xfff } else { address };
        let target = from.wrapping_add_signed(distance);
        // The library writes the distance, with `$` for the instruction's own address.
        if let Some(begin) = text.rfind('$') {
            text.truncate(begin);
        }
        let _ = write!(text, "{target:#x}");
        if let Some(name) = name_of(target).filter(|_| !is_page) {
            let _ = write!(text, " <{name}>");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(word: u32) -> Option<String> {
        format_instruction(&|_| None, 0x1_0040, &word.to_le_bytes())
    }

    #[test]
    fn instructions_read_as_objdump_prints_them() {
        assert_eq!(text(0xf940_2260).as_deref(), Some("ldr    x0, [x19, #0x40]"));
        assert_eq!(text(0xd65f_03c0).as_deref(), Some("ret"));
        assert_eq!(text(0xb400_0040).as_deref(), Some("cbz    x0, 0x10048"));
        assert_eq!(text(0x9000_0001).as_deref(), Some("adrp   x1, 0x10000"));
        assert_eq!(text(0x0600_0000), None);
        assert_eq!(format_instruction(&|_| None, 0, &[0; 3]), None);
    }
}
