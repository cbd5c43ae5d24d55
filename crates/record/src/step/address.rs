//! Addresses of operands, by the registers of a thread.

use fieldline_machinecode::machine::{Address, AddressSegment, MemoryOperand, Register};

/// A thread's registers before an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Registers {
    /// General-purpose ones, by their number in instruction encodings.
    pub(crate) general: [u64; 16],
    pub(crate) fs_base: u64,
    pub(crate) gs_base: u64,
}

impl Registers {
    fn get(&self, register: Register) -> u64 {
        self.general.get(register.index()).copied().unwrap_or(0)
    }

    /// The first byte an operand touches; `None` where bits are counted in an operand of unknown size.
    pub(crate) fn address(&self, memory: &MemoryOperand) -> Option<u64> {
        let address = &memory.address;
        let segment = match address.segment {
            AddressSegment::Flat => 0,
            AddressSegment::Fs => self.fs_base,
            AddressSegment::Gs => self.gs_base,
        };
        let base = address.base.map_or(0, |base| self.get(base));
        let index = self.index(address, memory.size)?;
        let fixed = segment.wrapping_add(address.displacement as u64);
        Some(fixed.wrapping_add(base).wrapping_add(index))
    }

    /// The index's share of the address. Where it counts bits (`bts`), whole operands from the address on
    /// (Intel SDM volume 1, section 3.1.1.9, "BitBase").
    fn index(&self, address: &Address, size: Option<u16>) -> Option<u64> {
        let Some(index) = address.index.map(|index| self.get(index)) else { return Some(0) };
        if let Some(scale) = address.scale {
            return Some(index.wrapping_mul(u64::from(scale)));
        }
        Some(match i64::from(size?) {
            2 => ((i64::from(index as i16) >> 4) * 2) as u64,
            4 => ((i64::from(index as i32) >> 5) * 4) as u64,
            size => (index as i64).div_euclid(8 * size).wrapping_mul(size) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_machinecode::architecture::Architecture;
    use fieldline_machinecode::insn::InstructionReader;

    fn registers() -> Registers {
        let mut registers = Registers { fs_base: 0x7f00_0000_0000, gs_base: 0x10, ..Registers::default() };
        for (number, register) in registers.general.iter_mut().enumerate() {
            *register = 0x1000 * (number as u64 + 1);
        }
        registers
    }

    fn address(code: &[u8], registers: &Registers) -> u64 {
        let instruction = InstructionReader::new(Architecture::X86_64).read(0x40_0000, code).unwrap();
        registers.address(instruction.memory_operands().next().unwrap()).unwrap()
    }

    #[test]
    fn bases_indices_and_displacements_add_up() {
        let all = registers();
        // mov rax, [rdi+0x138]; mov eax, [rbx+rcx*8-8]; mov rax, [r15]
        assert_eq!(address(&[0x48, 0x8b, 0x87, 0x38, 1, 0, 0], &all), 0x8000 + 0x138);
        assert_eq!(address(&[0x8b, 0x44, 0xcb, 0xf8], &all), 0x4000 + 8 * 0x2000 - 8);
        assert_eq!(address(&[0x49, 0x8b, 0x07], &all), 0x1_0000);
    }

    #[test]
    fn fixed_and_thread_local_addresses_need_no_register() {
        let all = registers();
        // mov eax, [rip+0x10]; mov rax, fs:[0x28]; mov rax, fs:[-8]
        assert_eq!(address(&[0x8b, 0x05, 0x10, 0, 0, 0], &all), 0x40_0000 + 6 + 0x10);
        assert_eq!(address(&[0x64, 0x48, 0x8b, 4, 0x25, 0x28, 0, 0, 0], &all), 0x7f00_0000_0028);
        assert_eq!(address(&[0x64, 0x48, 0x8b, 4, 0x25, 0xf8, 0xff, 0xff, 0xff], &all), 0x7eff_ffff_fff8);
    }

    #[test]
    fn pushes_go_below_the_stack_pointer() {
        assert_eq!(address(&[0x41, 0x55], &registers()), 0x5000 - 8);
    }

    #[test]
    fn addresses_wrap() {
        let mut all = registers();
        all.general[7] = 4;
        // mov eax, [rdi-8]
        assert_eq!(address(&[0x8b, 0x47, 0xf8], &all), u64::MAX - 3);
    }

    #[test]
    fn bits_are_counted_in_operands_from_the_address_on() {
        let mut all = registers();
        // bts [rdi], rax; bts [rdi], eax
        let (wide, narrow) = ([0x48, 0x0f, 0xab, 7], [0x0f, 0xab, 7]);
        all.general[0] = 130;
        assert_eq!(address(&wide, &all), 0x8000 + 16);
        assert_eq!(address(&narrow, &all), 0x8000 + 16);
        all.general[0] = u64::MAX;
        assert_eq!(address(&wide, &all), 0x8000 - 8);
        assert_eq!(address(&narrow, &all), 0x8000 - 4);
    }
}
