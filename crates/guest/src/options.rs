//! Options of a recording.

use crate::kernel::selection::CodeSelection;
use crate::machine::architecture::GuestArchitecture;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of the first, second and shared level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes(pub [u64; 3]);

impl Default for CacheSizes {
    /// Small, as the load of a guest is.
    fn default() -> Self {
        Self([32 << 10, 256 << 10, 4 << 20])
    }
}

/// The guest's load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestLoad {
    /// A load of ours, by its name and `KEY=VALUE` words.
    BuiltIn(Vec<String>),
    /// A program of this machine and its arguments, or a folder with the guest's files.
    Program(Vec<String>),
    /// An initramfs, whose own first program takes over.
    Initrd(PathBuf),
}

/// A recording to be made.
#[derive(Clone, Debug)]
pub struct GuestOptions {
    /// The kernel's image, as QEMU boots it.
    pub kernel: PathBuf,
    /// The same kernel with debug info.
    pub vmlinux: PathBuf,
    /// The kind of machine.
    pub architecture: GuestArchitecture,
    /// QEMU, if it isn't the one on the PATH.
    pub qemu: Option<PathBuf>,
    /// CPUs.
    pub cpus: usize,
    /// Memory, in MiB.
    pub memory: u64,
    /// Its load.
    pub load: GuestLoad,
    /// Modules to load first.
    pub modules: Vec<PathBuf>,
    /// Code whose accesses are recorded.
    pub selection: CodeSelection,
    /// Structs whose objects are listed; all of a cacheline or more if there are none.
    pub object_types: Vec<String>,
    /// Accesses to record.
    pub window: u64,
    /// Seed of the guest's random numbers, the load's and the sampling's.
    pub seed: u32,
    /// Accesses of a kind and CPU from one sample to the next.
    pub period: u64,
    /// The modelled caches.
    pub caches: CacheSizes,
    /// Whether QEMU runs the guest's CPUs side by side.
    pub is_parallel: bool,
    /// Whether the kernel may choose where it lies.
    pub has_random_layout: bool,
    /// More arguments of the kernel.
    pub append: String,
    /// Time after which the guest is ended.
    pub timeout: Duration,
    /// Where compiled programs are kept.
    pub cache: PathBuf,
}
