//! Instructions that touch more bytes than an access has: QEMU splits what they touch, and a processor counts the
//! instruction once and samples its first byte.

use crate::stream::Access;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_typeflow::program::Program;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Bytes of the widest access.
const ACCESS_BYTES: u16 = 8;

/// Bytes that wide instructions touch, by the lower half of their linked address.
#[derive(Clone, Debug, Default)]
pub(crate) struct WideInstructions(FxHashMap<u32, u16>);

/// The wide instruction that a CPU runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WideAccess {
    code: u32,
    is_store: bool,
    begin: u64,
    bytes: u16,
}

impl WideInstructions {
    /// Those in some code.
    pub(crate) fn find(program: &Program<'_>, ranges: &[Range<u64>]) -> Self {
        let mut reader = InstructionReader::new(program.architecture);
        let mut found = FxHashMap::default();
        for instruction in program.instructions(&mut reader, ranges) {
            let size = instruction.explicit_operand().and_then(|operand| operand.size);
            if let Some(size) = size.filter(|size| *size > ACCESS_BYTES) {
                found.insert(instruction.address as u32, size);
            }
        }
        Self(found)
    }

    /// Whether an access is a further part of the wide instruction that its CPU runs, `last`. `moved` is how far the
    /// kernel lies from its linked address.
    pub(crate) fn is_further_part(&self, access: &Access, moved: u64, last: &mut WideAccess) -> bool {
        let WideAccess { code, is_store, begin, bytes } = *last;
        let is_same = code == access.code && is_store == access.is_store;
        let distance = access.address.wrapping_sub(begin);
        if is_same && distance > 0 && distance < u64::from(bytes) {
            return true;
        }
        let bytes = self.0.get(&access.code.wrapping_sub(moved as u32)).copied().unwrap_or(0);
        *last = WideAccess { code: access.code, is_store: access.is_store, begin: access.address, bytes };
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_instruction_counts_once_each_time_it_runs() {
        let wide = WideInstructions(FxHashMap::from_iter([(0x1000, 512)]));
        let mut last = WideAccess::default();
        let mut is_further = |code, address| {
            let access = Access { address, code, cpu: 0, size_log2: 3, is_store: false };
            wide.is_further_part(&access, 0x20_0000, &mut last)
        };
        let parts = [0x500, 0x518, 0x6f8, 0x500, 0x508].map(|address| is_further(0x20_1000, address));
        assert_eq!(parts, [false, true, true, false, true]);
        assert!(!is_further(0x20_1000, 0x700), "behind its end");
        assert!(!is_further(0x20_1004, 0x708) && !is_further(0x20_1004, 0x710), "not wide");
    }
}
