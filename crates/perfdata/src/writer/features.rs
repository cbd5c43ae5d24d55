//! The feature sections of a recording under construction.

use super::bytes::Bytes;
use super::recording::RecordingWriter;
use crate::perf_data::{BuildId, NotedAllocation, allocations, feature, kind};
use crate::sample::CpuMode;

/// `PERF_RECORD_MISC_BUILD_ID_SIZE`.
const MISC_BUILD_ID_SIZE: u16 = 1 << 15;

impl RecordingWriter {
    /// Adds a section, or replaces the one of the same feature.
    pub fn feature(&mut self, number: u32, section: Vec<u8>) {
        self.features.retain(|(other, _)| *other != number);
        self.features.push((number, section));
        self.features.sort_by_key(|(number, _)| *number);
    }

    fn string_feature(&mut self, number: u32, text: &str) {
        let mut section = self.bytes();
        section.string(text);
        self.feature(number, section.into_vec());
    }

    /// A section of items behind their number.
    fn list_feature<T>(&mut self, number: u32, items: &[T], mut put: impl FnMut(&mut Bytes, &T)) {
        let mut section = self.bytes();
        section.u32(u32::try_from(items.len()).unwrap_or(u32::MAX));
        items.iter().for_each(|item| put(&mut section, item));
        self.feature(number, section.into_vec());
    }

    /// Name of the machine.
    pub fn hostname(&mut self, name: &str) {
        self.string_feature(feature::HOSTNAME, name);
    }

    /// Release of its kernel.
    pub fn os_release(&mut self, release: &str) {
        self.string_feature(feature::OSRELEASE, release);
    }

    /// Its architecture.
    pub fn arch(&mut self, arch: &str) {
        self.string_feature(feature::ARCH, arch);
    }

    /// Name of its processor.
    pub fn cpu_description(&mut self, name: &str) {
        self.string_feature(feature::CPUDESC, name);
    }

    /// Vendor, family, model and stepping of its processor.
    pub fn cpu_id(&mut self, id: &str) {
        self.string_feature(feature::CPUID, id);
    }

    /// Numbers and names of its PMUs.
    pub fn pmus(&mut self, pmus: &[(u32, &str)]) {
        self.list_feature(feature::PMU_MAPPINGS, pmus, |section, (number, name)| {
            section.u32(*number).string(name);
        });
    }

    /// The kinds of cores: PMU and list of CPUs.
    pub fn hybrid_cpus(&mut self, kinds: &[(&str, &str)]) {
        self.list_feature(feature::HYBRID_TOPOLOGY, kinds, |section, (pmu, cpus)| {
            section.string(pmu).string(cpus);
        });
    }

    /// A capability of a PMU; the last call counts.
    pub fn pmu_cap(&mut self, pmu: &str, name: &str, value: &str) {
        let mut section = self.bytes();
        section.u32(1).u32(1).string(name).string(value).string(pmu);
        self.feature(feature::PMU_CAPS, section.into_vec());
    }

    /// CPUs online and available.
    pub fn cpus(&mut self, online: u32, available: u32) {
        let mut section = self.bytes();
        section.u32(available).u32(online);
        self.feature(feature::NRCPUS, section.into_vec());
    }

    /// One NUMA node with all memory, total and free in KiB, and all CPUs (`HEADER_NUMA_TOPOLOGY` of perf's
    /// header.c).
    pub fn one_numa_node(&mut self, (total, free): (u64, u64), cpus: u32) {
        let mut section = self.bytes();
        let last = cpus.saturating_sub(1);
        section.u32(1).u32(0).u64(total).u64(free).string(&format!("0-{last}"));
        self.feature(feature::NUMA_TOPOLOGY, section.into_vec());
    }

    /// The command that recorded.
    pub fn command_line(&mut self, words: &[&str]) {
        self.list_feature(feature::CMDLINE, words, |section, word| {
            section.string(word);
        });
    }

    /// One first-level data cache with this size of lines.
    pub fn cacheline_size(&mut self, bytes: u32) {
        let mut section = self.bytes();
        section.u32(1).u32(1).u32(1).u32(bytes).u32(64).u32(8);
        section.string("Data").string("32K").string("0");
        self.feature(feature::CACHE, section.into_vec());
    }

    /// The build id of an object, by its file name or the kernel's name in brackets.
    pub fn build_id(&mut self, filename: &str, cpu_mode: CpuMode, build_id: BuildId) {
        let mut body = self.bytes();
        body.u32(u32::MAX).bytes(&build_id.bytes).bytes(&[build_id.length, 0, 0, 0]);
        // Header and body together end on eight bytes.
        body.name(filename);
        let mut out = self.bytes();
        out.record(kind::HEADER_BUILD_ID, cpu_mode as u16 | MISC_BUILD_ID_SIZE, &body.into_vec());
        self.build_ids.extend(out.into_vec());
    }

    /// Memory that was seen allocated and freed.
    pub fn allocations(&mut self, all: &[NotedAllocation]) {
        let mut section = self.bytes();
        section.u32(allocations::VERSION).u32(u32::try_from(all.len()).unwrap_or(u32::MAX));
        for noted in all {
            section.u32(noted.pid).u32(0).u64(noted.address).u64(noted.size);
            section.u64(noted.begin).u64(noted.end.unwrap_or(u64::MAX));
        }
        self.feature(feature::ALLOCATIONS, section.into_vec());
    }

    /// All sections in the order of their numbers.
    pub(crate) fn sections(&self) -> Vec<(u32, Vec<u8>)> {
        let mut sections = self.sections_without_build_ids();
        if !self.build_ids.is_empty() {
            sections.push((feature::BUILD_ID, self.build_ids.clone()));
        }
        sections.sort_by_key(|(number, _)| *number);
        sections
    }

    /// The sections that pipe mode has as features too.
    pub(super) fn sections_without_build_ids(&self) -> Vec<(u32, Vec<u8>)> {
        let mut sections = self.features.clone();
        if self.events.iter().any(|event| !event.name.is_empty()) {
            sections.push((feature::EVENT_DESC, self.event_descriptions()));
        }
        if self.packing.is_packed() {
            let mut section = self.bytes();
            // Version, zstd, level, ratio, bytes of the kernel's buffer.
            section.u32(1).u32(1).u32(1).u32(1).u32(1 << 20);
            sections.push((feature::COMPRESSED, section.into_vec()));
        }
        sections.sort_by_key(|(number, _)| *number);
        sections
    }

    fn event_descriptions(&self) -> Vec<u8> {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut section: Bytes = self.bytes();
        section.u32(count(self.events.len())).u32(self.written_attr_size());
        for event in &self.events {
            section.bytes(&self.attr_bytes(&event.attr)).u32(count(event.ids.len()));
            section.string(&event.name).words(&event.ids);
        }
        section.into_vec()
    }
}
