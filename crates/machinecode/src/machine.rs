//! Instructions as data flow needs them, of any architecture.

/// A general-purpose register by its number in instruction encodings (Intel SDM volume 2, table 3-1; Arm ARM, C1.2.5).
/// 31 is the stack pointer of AArch64; its zero register is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub(crate) u8);

impl Register {
    /// How many there are, of any architecture.
    pub const COUNT: usize = 32;
    /// rax
    pub const RAX: Self = Self(0);
    /// rcx
    pub const RCX: Self = Self(1);
    /// rdx
    pub const RDX: Self = Self(2);
    /// rbx
    pub const RBX: Self = Self(3);
    /// rsp
    pub const RSP: Self = Self(4);
    /// rbp
    pub const RBP: Self = Self(5);
    /// rsi
    pub const RSI: Self = Self(6);
    /// rdi
    pub const RDI: Self = Self(7);
    /// sp of AArch64
    pub const SP: Self = Self(31);

    /// The register with a number below [`Self::COUNT`].
    pub fn new(number: usize) -> Option<Self> {
        u8::try_from(number).ok().filter(|number| usize::from(*number) < Self::COUNT).map(Self)
    }

    /// Its number.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A set of registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(pub u32);

impl Registers {
    /// Adds one.
    pub fn insert(&mut self, register: Register) {
        self.0 |= 1 << register.0;
    }

    /// Takes one out.
    pub fn remove(&mut self, register: Register) {
        self.0 &= !(1 << register.0);
    }

    /// Whether one is in it.
    pub fn contains(self, register: Register) -> bool {
        self.0 & 1 << register.0 != 0
    }

    /// All in it, by number.
    pub fn iter(self) -> impl Iterator<Item = Register> {
        (0..32).map(Register).filter(move |register| self.contains(*register))
    }
}

impl Extend<Register> for Registers {
    fn extend<I: IntoIterator<Item = Register>>(&mut self, registers: I) {
        registers.into_iter().for_each(|register| self.insert(register));
    }
}

/// The access of an instruction to an operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes.
    ReadWrite,
}

impl AccessKind {
    /// Whether it reads.
    pub fn is_read(self) -> bool {
        self != Self::Write
    }

    /// Whether it writes.
    pub fn is_write(self) -> bool {
        self != Self::Read
    }
}

/// The segment an address counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressSegment {
    /// The flat one.
    Flat,
    /// fs: thread-local data of programs.
    Fs,
    /// gs: per-CPU data of the kernel.
    Gs,
}

/// How an address is made: base + index × scale + displacement in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Base register. A rip-relative address has none: its displacement is the address itself.
    pub base: Option<Register>,
    /// Index register.
    pub index: Option<Register>,
    /// Factor of the index; `None` where the index counts bits (`bt`), only its lower part counts (AArch64's `uxtw`,
    /// `sxtw`), or the factor is more than 128.
    pub scale: Option<u8>,
    /// Displacement, sign-extended.
    pub displacement: i64,
    /// Segment.
    pub segment: AddressSegment,
}

impl Address {
    /// An address in the flat segment without an index.
    pub(crate) fn flat(base: Option<Register>, displacement: i64) -> Self {
        Self { base, index: None, scale: Some(1), displacement, segment: AddressSegment::Flat }
    }
}

/// An operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOperand {
    /// Its address.
    pub address: Address,
    /// Bytes, if the instruction determines them.
    pub size: Option<u16>,
    /// Whether it is read or written.
    pub access: AccessKind,
    /// Whether the instruction implies it, as `push` does the stack.
    pub is_implicit: bool,
    /// Whether the instruction goes on to what lies behind (or in front), as often as a register says.
    pub is_repeated: bool,
}

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// A register.
    Register(Register),
    /// A number, sign-extended.
    Number(i64),
    /// The explicit operand in memory.
    Memory,
    /// A register of the system that holds an address.
    System(SystemRegister),
}

/// Registers of AArch64's system in which programs keep addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemRegister {
    /// sp_el0: in the kernel the running task (arch/arm64/include/asm/current.h).
    CurrentTask,
    /// tpidr_el1, or tpidr_el2 of a kernel that is its own hypervisor: the offset of the CPU's data
    /// (arch/arm64/include/asm/percpu.h).
    CpuOffset,
    /// tpidr_el0: where a thread's data begins (Drepper, "ELF Handling For Thread-Local Storage", variant I).
    Thread,
}

/// The effect of an instruction on registers and memory, as far as addresses may be concerned. All but
/// [`Effect::Other`] move 8 bytes unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of each variant say what its fields are")]
pub enum Effect {
    /// Registers in [`Instruction::written`] get values that are not followed.
    Other,
    /// `to` gets the value `from`. `is_narrow`: only the lower four bytes of it, the others are cleared.
    Move { to: Register, from: ValueSource, is_narrow: bool },
    /// `to` gets an address.
    Lea { to: Register, address: Address },
    /// `to` gets the sum of the values of `left` and `from`, or their difference.
    Add { to: Register, left: Register, from: ValueSource, subtract: bool },
    /// `to` gets the value `from` times a factor.
    Multiply { to: Register, from: ValueSource, factor: u32 },
    /// `to` gets those bits of `source` that are in `mask`, the others are cleared.
    And { to: Register, source: Register, mask: i64 },
    /// The bits of `to` that are not in `mask` get those of `bits` (`movk`).
    Insert { to: Register, mask: u64, bits: u64 },
    /// `to` gets one of two values.
    Choose { to: Register, either: ValueSource, or: ValueSource },
    /// Two registers get 8 bytes each from memory, one behind the other (`ldp`).
    LoadPair { first: Option<Register>, second: Option<Register> },
    /// Memory gets two values of 8 bytes, one behind the other (`stp`).
    StorePair { first: ValueSource, second: ValueSource },
    /// Two registers swap values.
    Swap { a: Register, b: Register },
    /// A register gets what was in memory; memory gets the register's value if it `is_plain`, else (`xadd`, `cmpxchg`)
    /// something else.
    Exchange { register: Register, is_plain: bool },
    /// Memory gets a value of the operand's size.
    Store { from: ValueSource },
    /// A value goes on the stack.
    Push { from: ValueSource },
    /// A value comes off the stack, into a register or nowhere.
    Pop { to: Option<Register> },
    /// rsp gets the value of rbp, then rbp comes off the stack.
    Leave,
}

/// The name of the symbol at an address, if there is one.
pub type SymbolName<'f> = dyn Fn(u64) -> Option<String> + 'f;

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// The function at an address.
    Direct(u64),
    /// The function a register points to.
    Register(Register),
    /// The function the operand points to.
    Memory,
}

/// The instruction that runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Behind the instruction.
    Next,
    /// At an address.
    Jump(u64),
    /// At an address or behind.
    Branch(u64),
    /// Where a register or operand points to.
    IndirectJump(Callee),
    /// Behind, after a function ran.
    Call(Callee),
    /// Behind, after something ran that may change rax, rcx, rdx, r11 and memory (`syscall`, `int`).
    Trap,
    /// At the caller.
    Return,
    /// Nowhere (`ud2`, `hlt` at the end of a function).
    Stop,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// Its address, as linked.
    pub address: u64,
    /// Its length in bytes.
    pub length: u8,
    /// The instruction that runs next.
    pub flow: Flow,
    /// Its effect on addresses.
    pub effect: Effect,
    /// A register it compares with zero.
    pub tested_register: Option<Register>,
    /// Of a branch: whether it is taken where the comparison, its own (`cbz`) or the one before, found zero (`je`), or
    /// where it did not (`jne`).
    pub taken_if_zero: Option<bool>,
    /// A register, and the bytes added to it in the end: writeback of AArch64's pre- and post-indexed operands.
    pub writeback: Option<(Register, i64)>,
    /// General-purpose registers it writes, the stack pointer left out where the effect says what happens to it, and
    /// the register of `writeback`.
    pub written: Registers,
    /// Operands in memory, the explicit first.
    memory: [Option<MemoryOperand>; 2],
}

impl Instruction {
    /// An instruction with no effect but its flow.
    pub fn new(address: u64, length: u8, flow: Flow) -> Self {
        Self {
            address,
            length,
            flow,
            effect: Effect::Other,
            tested_register: None,
            taken_if_zero: None,
            writeback: None,
            written: Registers::default(),
            memory: [None; 2],
        }
    }

    /// The address behind it.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }

    /// Its operands in memory.
    pub fn memory_operands(&self) -> impl Iterator<Item = &MemoryOperand> {
        self.memory.iter().flatten()
    }

    /// The operand that the instruction names.
    pub fn explicit_operand(&self) -> Option<&MemoryOperand> {
        self.memory_operands().find(|memory| !memory.is_implicit)
    }

    /// Adds an operand; more than two are not kept (only gathers have them, and those are not followed).
    pub fn add_memory_operand(&mut self, memory: MemoryOperand) {
        if let Some(slot) = self.memory.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(memory);
        }
        self.memory.sort_by_key(|memory| memory.is_none_or(|memory| memory.is_implicit));
    }

    /// The operand that a sample of a load or store is of, explicit before implicit; the first if the sample says neither.
    pub fn sampled_operand(&self, is_store: Option<bool>) -> Option<&MemoryOperand> {
        let fits = |memory: &&MemoryOperand| match is_store {
            Some(true) => memory.access.is_write(),
            Some(false) => memory.access.is_read(),
            None => true,
        };
        self.memory_operands().find(fits).or_else(|| self.memory_operands().next())
    }
}
