//! A machine by the header of a recording made on it.

use crate::machine::{CpuModel, Machine, Pmu, guest};
use fieldline_perfdata::perf_data::RecordingFacts;

impl Machine {
    /// The machine by a recording's header: processor, PMUs and their capabilities, never their events.
    #[must_use]
    pub fn from_recording(facts: &RecordingFacts) -> Self {
        let model = facts.cpu_id.as_deref().and_then(parse_cpu_id);
        let processor = facts.cpu_description.clone();
        Self {
            arch: facts.arch.clone().or_else(|| model.as_ref().map(|_| "x86_64".to_owned())),
            guest: processor.as_deref().and_then(guest::hypervisor_of_processor),
            processor,
            model,
            release: facts.os_release.clone(),
            cpus: facts.cpus.map(|cpus| cpus.online).filter(|online| *online > 0),
            pmus: (!facts.pmus.is_empty()).then(|| pmus(facts)),
            settings: None,
        }
    }
}

fn pmus(facts: &RecordingFacts) -> Vec<Pmu> {
    let caps = |name: &str| {
        let entries = facts.pmu_caps.iter().filter(|entry| entry.pmu == name);
        entries.flat_map(|entry| entry.caps.iter().cloned()).collect()
    };
    let pmu = |(kind, name): &(u32, String)| Pmu {
        name: name.clone(),
        kind: Some(*kind),
        caps: caps(name),
        cpus: facts.hybrid_cpus.iter().find(|(pmu, _)| pmu == name).map(|(_, cpus)| cpus.clone()),
        ..Pmu::default()
    };
    let is_real = |(_, name): &&(u32, String)| name != "cpu" || !is_placeholder(facts);
    let mut all: Vec<Pmu> = facts.pmus.iter().filter(is_real).map(pmu).collect();
    all.sort_by(|left, right| left.name.cmp(&right.name));
    all
}

/// perf lists a PMU `cpu` even where there is none (`perf_pmus__create_placeholder_core_pmu` in
/// `tools/perf/util/pmu.c`), and then records that it has no capabilities; a real one of x86 or Power has
/// some.
fn is_placeholder(facts: &RecordingFacts) -> bool {
    facts.pmu_caps.iter().any(|entry| entry.pmu == "cpu" && entry.caps.is_empty())
}

/// CPUID vendors (`arch/x86/kernel/cpu/{intel,amd,hygon,centaur}.c`). s390 has ids of the same form.
const X86_VENDORS: [&str; 4] = ["GenuineIntel", "AuthenticAMD", "HygonGenuine", "CentaurHauls"];

/// `VENDOR,FAMILY,MODEL,STEPPING` of x86 (`get_cpuid` in `tools/perf/arch/x86/util/header.c`); other
/// architectures write other things.
fn parse_cpu_id(id: &str) -> Option<CpuModel> {
    let mut fields = id.split([',', '-']);
    let vendor = fields.next().filter(|vendor| X86_VENDORS.contains(vendor))?.to_owned();
    Some(CpuModel { vendor, family: fields.next()?.parse().ok()?, model: fields.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::perf_data::PmuCaps;

    #[test]
    fn ids_of_x86_are_read_and_others_are_not() {
        let intel = CpuModel { vendor: "GenuineIntel".to_owned(), family: 6, model: 143 };
        assert_eq!(parse_cpu_id("GenuineIntel,6,143,8"), Some(intel));
        for other in ["0x00000000410fd0c0", "IBM,3906,704,M04,3.6,002f", "004e1202", "78,513", ""] {
            assert_eq!(parse_cpu_id(other), None, "{other}");
        }
    }

    #[test]
    fn pmus_keep_capabilities_and_cpus() {
        let caps = vec![("zen4_ibs_extensions".to_owned(), "1".to_owned())];
        let facts = RecordingFacts {
            pmus: vec![(11, "ibs_op".to_owned()), (4, "cpu".to_owned())],
            pmu_caps: vec![PmuCaps { pmu: "ibs_op".to_owned(), caps }],
            cpu_description: Some("KVM".to_owned()),
            ..RecordingFacts::default()
        };
        let machine = Machine::from_recording(&facts);
        assert_eq!(machine.pmu("ibs_op").and_then(|pmu| pmu.cap("zen4_ibs_extensions")), Some("1"));
        assert_eq!(
            (machine.pmu("cpu").and_then(|pmu| pmu.has_event("mem-loads")), machine.guest.is_some()),
            (None, true)
        );
        assert_eq!(Machine::from_recording(&RecordingFacts::default()), Machine::default());
    }

    #[test]
    fn a_cpu_without_capabilities_is_perfs_placeholder() {
        let mut facts = RecordingFacts {
            pmus: vec![(4, "cpu".to_owned()), (1, "software".to_owned())],
            ..RecordingFacts::default()
        };
        let has_cpu = |facts: &RecordingFacts| Machine::from_recording(facts).pmu("cpu").is_some();
        assert!(has_cpu(&facts));
        facts.pmu_caps.push(PmuCaps { pmu: "cpu".to_owned(), caps: Vec::new() });
        assert!(!has_cpu(&facts));
        assert!(Machine::from_recording(&facts).pmu("software").is_some());
    }
}
