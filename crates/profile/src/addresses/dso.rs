//! The DSO (program, library or module) of a sample's instruction.

use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::perf_data::{Mmap, Record, is_kernel_image};
use fieldline_perfdata::sample::{CpuMode, Sample};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The pid under which perf writes what the kernel maps.
const KERNEL: u32 = u32::MAX;

/// Mapped files by address and process, as recorded so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct DsoMap {
    /// Paths, or names in brackets, in the order they were met.
    pub names: Vec<String>,
    indices: FxHashMap<String, u32>,
    /// By process: first address, with end and the name's index.
    maps: FxHashMap<u32, BTreeMap<LoadedAddress, (LoadedAddress, u32)>>,
}

impl DsoMap {
    /// Forgets all mappings: another recording begins.
    pub(crate) fn clear_mappings(&mut self) {
        self.maps.clear();
    }

    /// Adds a record of a mapping or process.
    pub(crate) fn add_record(&mut self, record: &Record<'_>) {
        match record {
            Record::Mmap(mmap) => self.map(mmap),
            // A new process has what its parent has; a new thread shares it.
            Record::Fork(task) if task.pid != task.parent_pid => {
                if let Some(maps) = self.maps.get(&task.parent_pid).cloned() {
                    self.maps.insert(task.pid, maps);
                }
            }
            Record::Comm { pid, is_exec: true, .. } => drop(self.maps.remove(pid)),
            _ => {}
        }
    }

    fn map(&mut self, mmap: &Mmap<'_>) {
        let dso = self.intern(if mmap.is_kernel_image() { "[kernel]" } else { &mmap.filename });
        let pid = if mmap.is_kernel() { KERNEL } else { mmap.pid };
        self.maps.entry(pid).or_default().insert(mmap.address, (mmap.end(), dso));
    }

    /// The DSO that a sample's instruction is in, an index of the names.
    pub(crate) fn find(&mut self, sample: &Sample<'_>) -> u32 {
        if let Some(dso) = sample.dso {
            return self.intern(if is_kernel_image(dso) { "[kernel]" } else { dso });
        }
        let address = sample.ip.unwrap_or_default();
        let (pid, otherwise) = match sample.cpu_mode {
            CpuMode::Kernel => (KERNEL, "[kernel]"),
            CpuMode::Unknown if address.is_kernel() => (KERNEL, "[kernel]"),
            CpuMode::User | CpuMode::Unknown => (sample.pid.unwrap_or(0), "[unknown]"),
            CpuMode::Hypervisor => return self.intern("[hypervisor]"),
            CpuMode::GuestKernel => return self.intern("[guest kernel]"),
            CpuMode::GuestUser => return self.intern("[guest user]"),
        };
        let last = self.maps.get(&pid).and_then(|maps| maps.range(..=address).next_back());
        match last {
            Some((_, (end, dso))) if address < *end => *dso,
            _ => self.intern(otherwise),
        }
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(known) = self.indices.get(name) {
            return *known;
        }
        let index = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.indices.insert(name.to_owned(), index);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::perf_data::TaskRecord;

    fn mmap(pid: u32, address: u64, name: &'static str, cpu_mode: CpuMode) -> Mmap<'static> {
        Mmap {
            pid,
            tid: pid,
            address: LoadedAddress(address),
            length: 0x1000,
            page_offset: 0,
            filename: name.into(),
            build_id: None,
            cpu_mode,
            is_data: false,
            time: None,
        }
    }

    fn name(dsos: &mut DsoMap, pid: u32, ip: u64, cpu_mode: CpuMode) -> String {
        let mut sample = Sample::default().with_ip(Some(LoadedAddress(ip)));
        (sample.pid, sample.cpu_mode) = (Some(pid), cpu_mode);
        let dso = dsos.find(&sample);
        dsos.names[dso as usize].clone()
    }

    #[test]
    fn a_process_has_what_it_and_its_parent_mapped() {
        let mut dsos = DsoMap::default();
        dsos.map(&mmap(KERNEL, 1 << 63, "[kernel.kallsyms]_text", CpuMode::Kernel));
        dsos.map(&mmap(KERNEL, (1 << 63) + 0x1000, "[xfs]", CpuMode::Kernel));
        dsos.map(&mmap(7, 0x4000, "/bin/a", CpuMode::User));
        dsos.add_record(&Record::Fork(TaskRecord { pid: 8, parent_pid: 7, tid: 8, parent_tid: 7, time: 0 }));
        dsos.map(&mmap(8, 0x4000, "/bin/b", CpuMode::User));
        assert_eq!(name(&mut dsos, 7, 0x4abc, CpuMode::User), "/bin/a");
        assert_eq!(name(&mut dsos, 8, 0x4abc, CpuMode::User), "/bin/b");
        assert_eq!(name(&mut dsos, 8, 0x5000, CpuMode::User), "[unknown]");
        assert_eq!(name(&mut dsos, 8, (1 << 63) + 1, CpuMode::Kernel), "[kernel]");
        assert_eq!(name(&mut dsos, 8, (1 << 63) + 0x1001, CpuMode::Unknown), "[xfs]");
    }
}
