//! The machine that runs the guest.
//!
//! * `architecture`: differences between kinds of machines.
//! * `programs`: our plugin and first program, compiled once.
//! * `image`: the kernel's image.
//! * `initramfs`: the files of the guest as an archive; `files`: programs of this machine among them.
//! * `qemu`: QEMU's arguments, and its process.

pub(crate) mod architecture;
pub(crate) mod files;
pub(crate) mod image;
pub(crate) mod initramfs;
pub(crate) mod programs;
pub(crate) mod qemu;
