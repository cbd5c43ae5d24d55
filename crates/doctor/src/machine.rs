//! Machines, as far as it matters for recording memory accesses on them: processor, PMUs, settings, guest or
//! host.
//!
//! * `root`: small files below a root folder, so that any machine's `/proc` and `/sys` can be read.
//! * `cpuinfo`: the processor by `/proc/cpuinfo`.
//! * `pmu`: the PMUs by `/sys/bus/event_source/devices`.
//! * `guest`: whether it is a virtual machine.
//! * `live`: all of that put together.
//! * `recorded`: the same as far as the header of a recording has it.

mod cpuinfo;
mod guest;
mod live;
mod pmu;
mod recorded;
mod root;

pub use live::UnreadableMachine;
pub use pmu::Pmu;

use serde::Serialize;

/// A machine. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Architecture as `uname -m` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Name of the processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// Vendor, family and model, of x86.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<CpuModel>,
    /// Release of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// CPUs that are online.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// It is a virtual machine: the hypervisor, or the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest: Option<String>,
    /// Its PMUs by name; `None` if it is not known which it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmus: Option<Vec<Pmu>>,
    /// Settings of a machine that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<MachineSettings>,
}

/// The processor of an x86 machine, as CPUID numbers it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CpuModel {
    /// `GenuineIntel`, `AuthenticAMD`, `HygonGenuine`, …
    pub vendor: String,
    /// Family.
    pub family: u32,
    /// Model.
    pub model: u32,
}

/// Limits that the system sets, and its sources of types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineSettings {
    /// `kernel.perf_event_paranoid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paranoid: Option<i64>,
    /// `kernel.kptr_restrict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kptr_restrict: Option<i64>,
    /// `kernel.perf_event_max_sample_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_sample_rate: Option<i64>,
    /// The kernel's BTF is at `/sys/kernel/btf/vmlinux`.
    pub has_btf: bool,
    /// A vmlinux of the running release, where debug packages put it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vmlinux: Option<String>,
}

impl Machine {
    /// The PMU of this name.
    #[must_use]
    pub fn pmu(&self, name: &str) -> Option<&Pmu> {
        self.pmus.iter().flatten().find(|pmu| pmu.name == name)
    }

    /// The vendor is this.
    #[must_use]
    pub fn has_vendor(&self, vendor: &str) -> bool {
        self.model.as_ref().is_some_and(|model| model.vendor == vendor)
    }

    /// The architecture begins with this prefix.
    #[must_use]
    pub fn is_arch(&self, prefix: &str) -> bool {
        self.arch.as_deref().is_some_and(|arch| arch.starts_with(prefix))
    }
}
