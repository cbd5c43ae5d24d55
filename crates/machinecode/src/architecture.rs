//! Registers and calling conventions of a kind of processor.

use crate::machine::{Register, Registers};

/// Most arguments that are passed in registers, of any architecture.
pub const MAX_ARGUMENTS: usize = 8;

/// A kind of processor whose code is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Architecture {
    /// x86-64; calls as in the System V psABI x86-64, section 3.2.
    #[default]
    X86_64,
    /// AArch64, little-endian; calls as in the Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64),
    /// section 6.
    AArch64,
}

impl Architecture {
    /// The stack pointer.
    pub fn stack_pointer(self) -> Register {
        match self {
            Self::X86_64 => Register::RSP,
            Self::AArch64 => Register::SP,
        }
    }

    /// Distance of the stack pointer from the canonical frame address where a function is entered: a call pushes the
    /// return address on x86.
    pub fn entry_stack_offset(self) -> i64 {
        match self {
            Self::X86_64 => -8,
            Self::AArch64 => 0,
        }
    }

    /// The registers in which the first arguments are passed.
    pub fn argument_registers(self) -> &'static [Register] {
        use Register as R;
        const X86_64: [R; 6] = [R::RDI, R::RSI, R::RDX, R::RCX, R(8), R(9)];
        const AARCH64: [R; 8] = [R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7)];
        match self {
            Self::X86_64 => &X86_64,
            Self::AArch64 => &AARCH64,
        }
    }

    /// The register in which a function returns a pointer.
    pub fn result_register(self) -> Register {
        match self {
            Self::X86_64 => Register::RAX,
            Self::AArch64 => Register(0),
        }
    }

    /// The register of the second half of a value that is returned in two.
    pub fn second_result_register(self) -> Register {
        match self {
            Self::X86_64 => Register::RDX,
            Self::AArch64 => Register(1),
        }
    }

    /// Registers a call may change: rax, rcx, rdx, rsi, rdi, r8 to r11; x0 to x18 and x30.
    pub fn caller_saved(self) -> Registers {
        match self {
            Self::X86_64 => Registers(0b0000_1111_1100_0111),
            Self::AArch64 => Registers(0x4007_ffff),
        }
    }

    /// Registers every call changes, whatever the callee does: the result's, and on AArch64 those of the call itself:
    /// x30 for the return address, and x16 and x17 for the veneers of linkers.
    pub fn call_clobbered(self) -> Registers {
        match self {
            Self::X86_64 => Registers(1),
            Self::AArch64 => Registers(0x4003_0001),
        }
    }

    /// The register with a DWARF number (System V psABI x86-64, figure 3.36; DWARF for the Arm 64-bit Architecture,
    /// section 4.1).
    pub fn register_from_dwarf(self, number: u16) -> Option<Register> {
        const X86_64: [u8; 16] = [0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];
        let number = usize::from(number);
        match self {
            Self::X86_64 => Register::new(usize::from(*X86_64.get(number)?)),
            Self::AArch64 => Register::new(number),
        }
    }

    /// A register's name, as disassemblers print it.
    pub fn register_name(self, register: Register) -> &'static str {
        const X86_64: [&str; 16] = [
            "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
            "r14", "r15",
        ];
        const AARCH64: [&str; 32] = [
            "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
            "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
            "x29", "x30", "sp",
        ];
        let names: &[&str] = match self {
            Self::X86_64 => &X86_64,
            Self::AArch64 => &AARCH64,
        };
        names.get(register.index()).copied().unwrap_or("?")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dwarf_numbers_lead_to_registers_by_name() {
        let name = |architecture: Architecture, number| {
            architecture.register_from_dwarf(number).map(|register| architecture.register_name(register))
        };
        let x86: Vec<_> = [0, 1, 4, 6, 7, 15, 16].map(|number| name(Architecture::X86_64, number)).into();
        assert_eq!(x86, [Some("rax"), Some("rdx"), Some("rsi"), Some("rbp"), Some("rsp"), Some("r15"), None]);
        let arm: Vec<_> = [0, 30, 31, 32].map(|number| name(Architecture::AArch64, number)).into();
        assert_eq!(arm, [Some("x0"), Some("x30"), Some("sp"), None]);
    }

    #[test]
    fn calls_keep_what_the_callee_saves() {
        for (architecture, kept) in [
            (Architecture::X86_64, vec!["rbx", "rsp", "rbp", "r12", "r13", "r14", "r15"]),
            (
                Architecture::AArch64,
                vec!["x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "sp"],
            ),
        ] {
            let all = (0..Register::COUNT).filter_map(Register::new);
            let saved = all.filter(|register| !architecture.caller_saved().contains(*register));
            let names: Vec<_> = saved.map(|register| architecture.register_name(register)).collect();
            assert_eq!(names.iter().filter(|name| **name != "?").copied().collect::<Vec<_>>(), kept);
            let changed = architecture.call_clobbered();
            assert!(changed.contains(architecture.result_register()));
            assert!(changed.iter().all(|register| architecture.caller_saved().contains(register)));
        }
    }
}
