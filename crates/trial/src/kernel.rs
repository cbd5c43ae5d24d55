//! Kernels to compare: one source tree, one configuration, a build for each patch.
//!
//! * `tree`: a tree of links whose files a patch replaces.
//! * `config`: the configuration.
//! * `build`: the kernel's own build.
//! * `changes`: what differs between two builds.

mod build;
mod changes;
mod config;
mod tree;

pub use build::BuiltKernel;
pub(crate) use build::KernelBuild;
pub use changes::{KernelChanges, compare_kernels, same_sections};
pub use config::{FRAGMENT, KernelConfig};
pub(crate) use tree::LinkedTree;
pub use tree::{PatchFiles, read_patches};
