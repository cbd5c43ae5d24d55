//! x86-64 machine code as text: in AT&T syntax, as objdump and perf print it.

use crate::machine::SymbolName;
use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter, Instruction};
use std::fmt::Write;

/// The instruction at the beginning of some code, which is linked at an address; `None` if there is none.
pub(crate) fn format_instruction(name_of: &SymbolName<'_>, address: u64, code: &[u8]) -> Option<String> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return None;
    }
    let mut formatter = GasFormatter::new();
    let options = formatter.options_mut();
    options.set_rip_relative_addresses(true);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_first_operand_char_index(7);
    options.set_small_hex_numbers_in_decimal(false);
    let mut text = String::new();
    formatter.format(&instruction, &mut text);
    if let Some(target) = referenced_address(&instruction).and_then(name_of) {
        let _ = write!(text, " <{target}>");
    }
    Some(text)
}

/// The address that an instruction names: a branch target, or a rip-relative operand.
fn referenced_address(instruction: &Instruction) -> Option<u64> {
    let is_jump = instruction.is_jmp_short_or_near() || instruction.is_jcc_short_or_near();
    if is_jump || instruction.is_call_near() {
        return Some(instruction.near_branch_target());
    }
    instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(code: &[u8]) -> Option<String> {
        format_instruction(&|_| None, 0x1000, code)
    }

    #[test]
    fn instructions_read_as_objdump_prints_them() {
        assert_eq!(text(&[0x48, 0x8b, 0x47, 0x40]).as_deref(), Some("mov    0x40(%rdi),%rax"));
        assert_eq!(
            text(&[0x65, 0x48, 0x8b, 0x04, 0x25, 0x10, 0, 0, 0]).as_deref(),
            Some("mov    %gs:0x10,%rax")
        );
        assert_eq!(text(&[0xeb, 0x10]).as_deref(), Some("jmp    0x1012"));
        assert_eq!(text(&[0x06]), None);
    }
}
