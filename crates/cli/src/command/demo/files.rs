//! The example's files, in the binary (fixtures/demo/README.md says how each was made).

/// Where a file goes, relative to the demo's folder, and its bytes.
pub(super) type Embedded = (&'static str, &'static [u8]);

pub(super) const PROGRAM: &str = "shaper";
pub(super) const RECORDING: &str = "shaper.perf.data";
pub(super) const TREE: &str = "tree";

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../../../fixtures/demo/", $path)).as_slice())),*]
    };
}

pub(super) const FILES: &[Embedded] = embedded![
    "README.md",
    "shaper",
    "shaper.perf.data",
    "tree/include/config.h",
    "tree/include/list.h",
    "tree/include/shaper.h",
    "tree/include/types.h",
    "tree/shaper/class.c",
    "tree/shaper/cpu.c",
    "tree/shaper/flow.c",
    "tree/shaper/main.c",
    "tree/shaper/setup.c",
];
