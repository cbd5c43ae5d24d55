//! Differences between kinds of machines.

/// A kind of machine that guests can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuestArchitecture {
    /// x86-64, a PC.
    #[default]
    X86_64,
    /// AArch64, QEMU's `virt`.
    AArch64,
}

impl GuestArchitecture {
    /// QEMU's program.
    pub(crate) fn qemu(self) -> &'static str {
        match self {
            Self::X86_64 => "qemu-system-x86_64",
            Self::AArch64 => "qemu-system-aarch64",
        }
    }

    /// The Debian package that has it.
    pub(crate) fn qemu_package(self) -> &'static str {
        match self {
            Self::X86_64 => "qemu-system-x86, 10.0 or newer",
            Self::AArch64 => "qemu-system-arm, 10.0 or newer",
        }
    }

    /// The compiler for programs of the guest, and its Debian packages.
    pub(crate) fn compiler(self) -> (&'static str, &'static str) {
        match (self, cfg!(target_arch = "aarch64")) {
            (Self::X86_64, false) | (Self::AArch64, true) => ("cc", "gcc libc6-dev"),
            (Self::AArch64, false) => {
                ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
            }
            (Self::X86_64, true) => ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu libc6-dev-amd64-cross"),
        }
    }

    /// As perf's header names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::AArch64 => "aarch64",
        }
    }

    /// QEMU's machine. A PC has no HPET: reading it leaves the translated code, and kernels prefer it to the time
    /// stamp counter of a processor they don't know.
    pub(crate) fn machine(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &["-machine", "q35,hpet=off", "-cpu", "qemu64"],
            Self::AArch64 => &["-machine", "virt,gic-version=3,dtb-randomness=off", "-cpu", "cortex-a57"],
        }
    }

    /// The kernel's arguments for that machine.
    pub(crate) fn kernel_arguments(self) -> &'static str {
        match self {
            Self::X86_64 => "console=ttyS0 tsc=reliable clocksource=tsc mitigations=off",
            Self::AArch64 => "console=ttyAMA0 mitigations=off",
        }
    }
}
