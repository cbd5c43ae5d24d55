//! A build's view of a tree: what it compiles, and what it leaves out.

use crate::code::StructCode;
use std::collections::BTreeSet;

/// Which files and lines a build leaves out.
#[derive(Debug)]
pub(crate) struct BuildView<'c> {
    /// Files that it compiles.
    compiled: BTreeSet<String>,
    /// Machines that it compiles code for, by the folders below `arch`.
    machines: BTreeSet<String>,
    code: &'c StructCode,
}

impl<'c> BuildView<'c> {
    /// From the files that a build compiles and what was read of them.
    pub(crate) fn new(compiled: BTreeSet<String>, code: &'c StructCode) -> Self {
        let machines = compiled.iter().filter_map(|path| machine(path)).map(str::to_owned).collect();
        Self { compiled, machines, code }
    }

    /// Whether a file may have text that the build leaves out. A file that is compiled and that nothing was read of
    /// says no name of the structs; code of other machines is of other builds.
    pub(super) fn may_leave_out(&self, path: &str) -> bool {
        let is_foreign = !self.machines.is_empty()
            && machine(path).is_some_and(|machine| !self.machines.contains(machine));
        match self.code.leaves_out(path) {
            Some(leaves_out) => leaves_out,
            None => !is_foreign && !self.compiled.contains(path),
        }
    }

    /// Whether the build leaves out a line of a file.
    pub(super) fn leaves_out(&self, path: &str, line: u32) -> bool {
        !self.code.has_read(path, line)
    }

    /// Whether it was read, at least in part.
    pub(super) fn has_read(&self, path: &str) -> bool {
        self.code.leaves_out(path).is_some()
    }
}

/// The machine that a file is for.
fn machine(path: &str) -> Option<&str> {
    let name = path.strip_prefix("arch/")?.split_once('/')?.0;
    (!name.is_empty()).then_some(name)
}
