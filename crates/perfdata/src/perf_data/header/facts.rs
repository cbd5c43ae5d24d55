//! Facts about a recording, apart from its records.

use std::fmt;

use crate::perf_data::bytes::Endian;
use crate::perf_data::header::allocations::NotedAllocation;
use crate::perf_data::header::attr::Attr;
use crate::sample::cpu_mode::CpuMode;

/// Everything outside the records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordingFacts {
    /// Byte order of the machine that recorded.
    pub endian: Endian,
    /// `perf record` came to its end and wrote the sizes and features; if not, features are missing.
    pub is_finished: bool,
    /// The events, in the order of [`EventIndex`].
    pub events: Vec<Event>,
    /// Build ids of the objects that samples hit.
    pub build_ids: Vec<DsoBuildId>,
    /// Name of the machine.
    pub hostname: Option<String>,
    /// Kernel release, as `uname -r` prints it.
    pub os_release: Option<String>,
    /// Machine, as `uname -m` prints it.
    pub arch: Option<String>,
    /// Name of the processor.
    pub cpu_description: Option<String>,
    /// Vendor, family, model and stepping of the processor.
    pub cpu_id: Option<String>,
    /// CPUs that were online, and CPUs that could be.
    pub cpus: Option<CpuCount>,
    /// The command that recorded.
    pub command_line: Vec<String>,
    /// Bytes in a cacheline of the first-level data cache, where the caches were recorded.
    pub cacheline_size: Option<u32>,
    /// Numbers and names of the PMUs.
    pub pmus: Vec<(u32, String)>,
    /// Capabilities of PMUs, where they were recorded.
    pub pmu_caps: Vec<PmuCaps>,
    /// Each kind of core on a machine with several: its PMU and its CPUs, as in `0-15,32`.
    pub hybrid_cpus: Vec<(String, String)>,
    /// Memory that the recorder saw allocated, if it looked; in order of their beginnings.
    pub allocations: Vec<NotedAllocation>,
    /// Hardware trace data lies beside the records; only `perf` can make samples of it.
    pub has_aux_trace: bool,
}

/// The capabilities of one PMU: the files of its folder `caps` in sysfs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PmuCaps {
    /// Name of the PMU.
    pub pmu: String,
    /// Name and value of each.
    pub caps: Vec<(String, String)>,
}

/// Counts of CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuCount {
    /// Online when the recording began.
    pub online: u32,
    /// The machine could have.
    pub available: u32,
}

/// Names one event of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EventIndex(pub u32);

impl EventIndex {
    /// As an index into [`RecordingFacts::events`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One event that was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// As `perf record -e` was given it, or derived from the attribute.
    pub name: String,
    /// Its attribute.
    pub attr: Attr,
    /// Identities of its counters, one per CPU or thread.
    pub ids: Vec<u64>,
}

/// Whether an event of a name is one of single steps, which `fieldline record` makes.
pub fn is_step_event(name: &str) -> bool {
    name.starts_with("step-")
}

/// Whether an event of a name is of accesses in an emulator, which `fieldline guest record` makes: the levels that served
/// them are those of a model.
pub fn is_modelled_event(name: &str) -> bool {
    name.starts_with("qemu/")
}

/// A build id: 20 bytes as a rule, 16 by some linkers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId {
    /// Zeros behind the id.
    pub(crate) bytes: [u8; 20],
    pub(crate) length: u8,
}

impl BuildId {
    /// The build id in the first 20 of `bytes`; `None` if there are none or only zeros.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut id = Self { bytes: [0; 20], length: bytes.len().min(20) as u8 };
        for (to, from) in id.bytes.iter_mut().zip(bytes) {
            *to = *from;
        }
        (id.bytes != [0; 20]).then_some(id)
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&self.bytes)
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The build id of one object, from the feature section or a record of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DsoBuildId {
    /// Path of the object, or `[kernel.kallsyms]`.
    pub filename: String,
    /// The id.
    pub build_id: BuildId,
    /// Kernel for the kernel and its modules, user for programs, and a guest's.
    pub cpu_mode: CpuMode,
}

impl DsoBuildId {
    /// The id is that of the recorded machine's kernel and not of a module.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        self.cpu_mode == CpuMode::Kernel && is_kernel_image(&self.filename)
    }
}

/// The name that perf gives to the kernel image: in brackets, or the file it took the symbols from.
pub fn is_kernel_image(filename: &str) -> bool {
    let base = filename.rsplit('/').next().unwrap_or(filename);
    filename.starts_with("[kernel") || base.starts_with("vmlinu") || base == "kcore"
}

impl RecordingFacts {
    /// The event at `index`.
    #[must_use]
    pub fn event(&self, index: EventIndex) -> Option<&Event> {
        self.events.get(index.index())
    }

    /// The build id of the recorded kernel, from the features.
    #[must_use]
    pub fn kernel_build_id(&self) -> Option<BuildId> {
        self.build_ids.iter().find(|entry| entry.is_kernel()).map(|entry| entry.build_id)
    }

    /// The name of the PMU with this number.
    #[must_use]
    pub fn pmu_name(&self, number: u32) -> Option<&str> {
        self.pmus.iter().find(|(pmu, _)| *pmu == number).map(|(_, name)| name.as_str())
    }

    /// Names the events that the recording left without.
    pub(crate) fn name_events(&mut self) {
        let name = |event: &Event| event_name(&event.attr, self.pmu_name(event.attr.kind));
        let names: Vec<_> = self.events.iter().map(name).collect();
        let nameless = self.events.iter_mut().zip(names).filter(|(event, _)| event.name.is_empty());
        nameless.for_each(|(event, name)| event.name = name);
    }
}

/// `enum perf_hw_id`, as `perf list` prints them.
const HARDWARE_EVENTS: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

/// `enum perf_sw_ids`, as `perf list` prints them.
const SOFTWARE_EVENTS: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

/// A name for the event that `attr` asks for, in the form `perf record -e` takes where there is one.
fn event_name(attr: &Attr, pmu: Option<&str>) -> String {
    // Hybrid processors put the PMU's number into the upper half of the configuration.
    let generic = usize::try_from(attr.config & 0xffff_ffff).unwrap_or(usize::MAX);
    let name = match attr.kind {
        0 => HARDWARE_EVENTS.get(generic).map(|&name| name.to_owned()),
        1 => SOFTWARE_EVENTS.get(generic).map(|&name| name.to_owned()),
        2 => Some(format!("tracepoint:{}", attr.config)),
        4 => Some(format!("r{:x}", attr.config)),
        5 => Some(format!("mem:{:#x}", attr.config1)),
        _ => None,
    };
    name.unwrap_or_else(|| match pmu {
        Some(pmu) => format!("{pmu}/config={:#x}/", attr.config),
        None => format!("type {} config {:#x}", attr.kind, attr.config),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_differ_from_their_modules_and_guests() {
        let entry = |filename: &str, cpu_mode| DsoBuildId {
            filename: filename.to_owned(),
            build_id: BuildId::new(&[1; 20]).unwrap(),
            cpu_mode,
        };
        for name in ["[kernel.kallsyms]", "/usr/lib/debug/boot/vmlinux-6.12", "/proc/kcore", "[kernel]"] {
            assert!(entry(name, CpuMode::Kernel).is_kernel(), "{name}");
            assert!(!entry(name, CpuMode::GuestKernel).is_kernel(), "{name}");
        }
        for name in ["[xfs]", "/lib/modules/6.12/kernel/fs/xfs/xfs.ko.xz", "/usr/bin/cat"] {
            assert!(!entry(name, CpuMode::Kernel).is_kernel(), "{name}");
        }
    }

    #[test]
    fn build_ids_print_as_hex_of_their_own_length() {
        assert_eq!(BuildId::new(&[0xab, 0x01]).unwrap().to_string(), "ab01");
        assert_eq!(BuildId::new(&[7; 32]).unwrap().as_bytes().len(), 20);
        assert_eq!(BuildId::new(&[0; 20]), None);
        assert_eq!(BuildId::new(&[]), None);
    }

    #[test]
    fn names_by_kind() {
        let name = |kind, config, pmu| event_name(&Attr { kind, config, ..Attr::default() }, pmu);
        assert_eq!(name(0, 1, None), "instructions");
        assert_eq!(name(0, 4 << 32, None), "cycles");
        assert_eq!(name(1, 9, None), "dummy");
        assert_eq!(name(4, 0x1cd, Some("cpu")), "r1cd");
        assert_eq!(name(11, 0, Some("ibs_op")), "ibs_op/config=0x0/");
        assert_eq!(name(1, 999, None), "type 1 config 0x3e7");
    }
}
