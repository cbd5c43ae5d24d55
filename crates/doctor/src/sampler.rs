//! Hardware that samples memory accesses on a machine.
//!
//! The choice is the one `perf mem record` makes (`perf_pmu__arch_init` in
//! `tools/perf/arch/{x86,arm64,powerpc}/util/pmu.c`, Linux 6.12): by the presence of PMUs and of their
//! events, never by a list of processors. Only where a recording's header keeps silent about events does the
//! processor decide.

use crate::machine::{CpuModel, Machine, Pmu};
use serde::Serialize;

/// Hardware that samples memory accesses on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampler {
    /// Intel's precise events, on each kind of core.
    IntelPebs(Vec<PebsCore>),
    /// AMD's instruction based sampling.
    AmdIbs(Ibs),
    /// Arm's statistical profiling extension, by the PMUs that have it.
    ArmSpe(Vec<String>),
    /// Power's marked instructions.
    PowerMarked(String),
    /// Counters that know no data addresses, by the PMUs that have them.
    CountersOnly(Vec<String>),
    /// Nothing but timers.
    TimersOnly,
    /// Unknown: a recording without a description of its machine.
    Unknown,
}

/// Cores with Intel's precise events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PebsCore {
    /// Their PMU.
    pub pmu: String,
    /// Loads are sampled only in a group with the event `mem-loads-aux`.
    pub needs_aux: bool,
    /// Stores can be sampled.
    pub has_stores: bool,
    /// The CPUs, where there are several kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
}

/// Features of AMD's IBS on a machine. `None` is for not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ibs {
    /// It can count micro-ops rather than cycles (term `cnt_ctl`).
    pub counts_ops: Option<bool>,
    /// It can restrict itself to L3 misses (Zen 4, term `l3missonly`).
    pub has_l3_filter: Option<bool>,
    /// It can restrict itself to slow loads (Zen 5, capability `ldlat`).
    pub has_latency_filter: Option<bool>,
    /// The kernel can leave out kernel or user code (term `swfilt`).
    pub has_mode_filter: Option<bool>,
    /// Whether loads show that another core had modified the line.
    pub tells_modified: Option<bool>,
}

/// Family 6 models on which the kernel wants the auxiliary event (`PMU_FL_MEM_LOADS_AUX` in `intel_pmu_init`,
/// `arch/x86/events/intel/core.c`): Sapphire and Emerald Rapids, Alder Lake, Raptor Lake.
const AUX_MODELS: [u32; 7] = [143, 207, 151, 154, 183, 186, 191];

impl Sampler {
    /// The sampler of a machine.
    #[must_use]
    pub fn for_machine(machine: &Machine) -> Self {
        match &machine.pmus {
            Some(pmus) => Self::from_pmus(machine, pmus),
            None => Self::from_processor(machine),
        }
    }

    fn from_pmus(machine: &Machine, pmus: &[Pmu]) -> Self {
        if let Some(ibs) = pmus.iter().find(|pmu| pmu.name == "ibs_op") {
            return Self::AmdIbs(Ibs::for_pmu(machine, ibs));
        }
        let spe: Vec<String> = pmus.iter().filter(|pmu| is_spe(pmu)).map(|pmu| pmu.name.clone()).collect();
        if !spe.is_empty() {
            return Self::ArmSpe(spe);
        }
        let cores = pmus.iter().filter(|pmu| pmu.is_core());
        let mut samplers = cores.clone().filter(|pmu| samples_loads(machine, pmu)).peekable();
        match samplers.peek() {
            Some(pmu) if machine.is_arch("ppc") => Self::PowerMarked(pmu.name.clone()),
            Some(_) => Self::IntelPebs(samplers.map(|pmu| PebsCore::for_pmu(machine, pmu)).collect()),
            None => {
                let names: Vec<String> = cores.map(|pmu| pmu.name.clone()).collect();
                if names.is_empty() { Self::TimersOnly } else { Self::CountersOnly(names) }
            }
        }
    }

    fn from_processor(machine: &Machine) -> Self {
        let cpu = Pmu { name: "cpu".to_owned(), ..Pmu::default() };
        if machine.has_vendor("GenuineIntel") {
            Self::IntelPebs(vec![PebsCore::for_pmu(machine, &cpu)])
        } else if is_amd_with_ibs(machine) {
            Self::AmdIbs(Ibs::for_pmu(machine, &cpu))
        } else if machine.is_arch("ppc") {
            Self::PowerMarked(cpu.name)
        } else {
            Self::Unknown
        }
    }
}

/// `arm_spe_0`, one for each kind of core that has it (`drivers/perf/arm_spe_pmu.c`).
fn is_spe(pmu: &Pmu) -> bool {
    pmu.name.starts_with("arm_spe")
}

/// IBS came with family 10h (`arch/x86/events/amd/ibs.c`).
fn is_amd_with_ibs(machine: &Machine) -> bool {
    let is_amd = machine.has_vendor("AuthenticAMD") || machine.has_vendor("HygonGenuine");
    is_amd && machine.model.as_ref().is_some_and(|model| model.family >= 0x10)
}

/// By the event `mem-loads`. A recording names no events: then Intel's cores can, unless the capability
/// `max_precise` is 0 (`arch/x86/events/core.c`), as in guests without PEBS, and so can Power's.
fn samples_loads(machine: &Machine, pmu: &Pmu) -> bool {
    let by_processor = || {
        let is_precise = pmu.cap("max_precise") != Some("0");
        machine.is_arch("ppc") || (machine.has_vendor("GenuineIntel") && is_precise)
    };
    pmu.has_event("mem-loads").unwrap_or_else(by_processor)
}

impl PebsCore {
    fn for_pmu(machine: &Machine, pmu: &Pmu) -> Self {
        let is_aux_model = || {
            let model = machine.model.as_ref();
            let is_listed = model.is_some_and(|model| model.family == 6 && AUX_MODELS.contains(&model.model));
            is_listed && pmu.name != "cpu_atom"
        };
        Self {
            pmu: pmu.name.clone(),
            needs_aux: pmu.has_event("mem-loads-aux").unwrap_or_else(is_aux_model),
            has_stores: pmu.has_event("mem-stores").unwrap_or(true),
            cpus: pmu.cpus.clone().filter(|_| pmu.name != "cpu"),
        }
    }
}

impl Ibs {
    /// Terms and capabilities are those of `arch/x86/events/amd/ibs.c`. Of families 19h models 0h to Fh and
    /// 20h to 5Fh (Zen 3) `perf_ibs_cache_hit_st_valid` there says that loads don't show modified lines.
    fn for_pmu(machine: &Machine, pmu: &Pmu) -> Self {
        let has_cap = |name: &str| match pmu.caps.is_empty() && pmu.terms.is_none() {
            true => None,
            false => Some(pmu.cap(name) == Some("1")),
        };
        let is_zen3 = |cpu: &CpuModel| cpu.family == 0x19 && matches!(cpu.model, 0..=0xf | 0x20..=0x5f);
        Self {
            counts_ops: pmu.has_term("cnt_ctl"),
            has_l3_filter: pmu.has_term("l3missonly").or_else(|| has_cap("zen4_ibs_extensions")),
            has_latency_filter: has_cap("ldlat"),
            has_mode_filter: pmu.has_term("swfilt"),
            tells_modified: machine.model.as_ref().map(|model| !is_zen3(model)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(vendor: &str, family: u32, model: u32, pmus: Option<&[&str]>) -> Machine {
        let pmu = |name: &&str| Pmu { name: (*name).to_owned(), ..Pmu::default() };
        Machine {
            model: Some(CpuModel { vendor: vendor.to_owned(), family, model }),
            pmus: pmus.map(|names| names.iter().map(pmu).collect()),
            ..Machine::default()
        }
    }

    #[test]
    fn a_recording_without_a_list_of_pmus_is_judged_by_its_processor() {
        let Sampler::IntelPebs(cores) = Sampler::for_machine(&recorded("GenuineIntel", 6, 143, None)) else {
            panic!()
        };
        assert!(matches!(cores.as_slice(), [core] if core.pmu == "cpu" && core.needs_aux && core.has_stores));
        let Sampler::IntelPebs(cores) = Sampler::for_machine(&recorded("GenuineIntel", 6, 106, None)) else {
            panic!()
        };
        assert!(!cores[0].needs_aux);
        let Sampler::AmdIbs(ibs) = Sampler::for_machine(&recorded("AuthenticAMD", 0x19, 0x21, None)) else {
            panic!()
        };
        assert_eq!((ibs.tells_modified, ibs.has_l3_filter), (Some(false), None));
        assert_eq!(Sampler::for_machine(&recorded("AuthenticAMD", 6, 6, None)), Sampler::Unknown);
        assert_eq!(Sampler::for_machine(&Machine::default()), Sampler::Unknown);
        let power = Machine { arch: Some("ppc64le".to_owned()), ..Machine::default() };
        assert_eq!(Sampler::for_machine(&power), Sampler::PowerMarked("cpu".to_owned()));
    }

    #[test]
    fn names_of_pmus_decide_where_a_recording_lists_them() {
        let sampler = |vendor, pmus: &[&str]| Sampler::for_machine(&recorded(vendor, 0x19, 0x11, Some(pmus)));
        assert!(
            matches!(sampler("AuthenticAMD", &["cpu", "ibs_op"]), Sampler::AmdIbs(ibs) if ibs.tells_modified == Some(true))
        );
        assert_eq!(sampler("AuthenticAMD", &["cpu", "msr"]), Sampler::CountersOnly(vec!["cpu".to_owned()]));
        assert_eq!(sampler("GenuineIntel", &["msr", "software"]), Sampler::TimersOnly);
        let hybrid = Sampler::for_machine(&recorded("GenuineIntel", 6, 154, Some(&["cpu_atom", "cpu_core"])));
        let Sampler::IntelPebs(cores) = hybrid else { panic!() };
        assert_eq!(cores.iter().map(|core| core.needs_aux).collect::<Vec<_>>(), [false, true]);
        let spe = sampler("", &["arm_spe_0", "armv8_pmuv3_0", "arm_spe_1"]);
        assert_eq!(spe, Sampler::ArmSpe(vec!["arm_spe_0".to_owned(), "arm_spe_1".to_owned()]));
    }

    #[test]
    fn a_guest_without_precise_events_has_no_pebs() {
        let mut guest = recorded("GenuineIntel", 6, 106, Some(&["cpu"]));
        assert!(matches!(Sampler::for_machine(&guest), Sampler::IntelPebs(_)));
        for pmu in guest.pmus.iter_mut().flatten() {
            pmu.caps.insert("max_precise".to_owned(), "0".to_owned());
        }
        assert_eq!(Sampler::for_machine(&guest), Sampler::CountersOnly(vec!["cpu".to_owned()]));
    }
}
