//! A machine by its `/proc` and `/sys`.

use crate::machine::cpuinfo::CpuInfo;
use crate::machine::root::Root;
use crate::machine::{Machine, MachineSettings, guest, pmu};
use fieldline_files::UnreadableKind;
use std::path::{Path, PathBuf};

/// Why a machine can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableMachine {
    /// No file of a machine is below the root folder.
    #[error("{}: neither proc/cpuinfo nor sys/bus/event_source/devices is below it, so there is no machine to read", .0.display())]
    NotFound(PathBuf),
    /// A file of it is a pipe, a device or the like.
    #[error("{}: {}", .0.display(), .1)]
    Special(PathBuf, UnreadableKind),
}

/// Where debug packages put the vmlinux of a release.
const DEBUG_FILES: [&str; 4] = [
    "usr/lib/debug/boot/vmlinux-{}",
    "usr/lib/debug/lib/modules/{}/vmlinux",
    "usr/lib/modules/{}/build/vmlinux",
    "lib/modules/{}/build/vmlinux",
];

impl Machine {
    /// Reads the machine whose `/proc` and `/sys` lie below a folder, `/` for this one. The user's own rights
    /// play no part.
    ///
    /// # Errors
    /// If no file of a machine is below it, or one is no regular file.
    pub fn read(folder: &Path) -> Result<Self, UnreadableMachine> {
        let root = Root::new(folder);
        let machine = read_files(&root);
        if let Some((path, kind)) = root.special() {
            return Err(UnreadableMachine::Special(path, kind));
        }
        machine.ok_or_else(|| UnreadableMachine::NotFound(folder.to_owned()))
    }
}

/// The machine; none if no file of one is there.
fn read_files(root: &Root) -> Option<Machine> {
    let cpuinfo = root.text("proc/cpuinfo");
    let pmus = pmu::read(root);
    if cpuinfo.is_none() && pmus.is_none() {
        return None;
    }
    let info = CpuInfo::parse(&cpuinfo.unwrap_or_default());
    let release = root.text("proc/sys/kernel/osrelease");
    let arch = root.text("proc/sys/kernel/arch").or_else(|| info.arch.map(str::to_owned));
    let listed = (info.cpus > 0).then_some(info.cpus);
    Some(Machine {
        arch,
        guest: guest::find_hypervisor(root, info.has_hypervisor_flag, info.board.as_deref()),
        processor: info.processor,
        model: info.model,
        cpus: root.text("sys/devices/system/cpu/online").and_then(|list| count_cpus(&list)).or(listed),
        pmus,
        settings: Some(settings(root, release.as_deref())),
        release,
    })
}

fn settings(root: &Root, release: Option<&str>) -> MachineSettings {
    let files = release.into_iter().flat_map(|release| DEBUG_FILES.map(|file| file.replace("{}", release)));
    MachineSettings {
        paranoid: root.number("proc/sys/kernel/perf_event_paranoid"),
        kptr_restrict: root.number("proc/sys/kernel/kptr_restrict"),
        max_sample_rate: root.number("proc/sys/kernel/perf_event_max_sample_rate"),
        has_btf: root.exists("sys/kernel/btf/vmlinux"),
        vmlinux: files.into_iter().find(|file| root.exists(file)).map(|file| format!("/{file}")),
    }
}

/// How many CPUs a list like `0-3,8` has.
fn count_cpus(list: &str) -> Option<u32> {
    list.split(',').try_fold(0_u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(
            (count_cpus("0-3,8"), count_cpus("0"), count_cpus("0-127")),
            (Some(5), Some(1), Some(128))
        );
        assert_eq!((count_cpus(""), count_cpus("3-1"), count_cpus("0-4294967294,1-9")), (None, None, None));
    }

    #[test]
    fn a_folder_without_a_machine_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Machine::read(folder.path()).unwrap_err();
        assert!(error.to_string().contains("neither proc/cpuinfo nor sys/bus"), "{error}");
    }
}
