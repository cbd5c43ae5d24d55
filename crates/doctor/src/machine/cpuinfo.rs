//! The processor by `/proc/cpuinfo`, whose form differs by architecture.
//!
//! `show_cpuinfo` of `arch/x86/kernel/cpu/proc.c`, `c_show` of `arch/arm64/kernel/cpuinfo.c`, `show_cpuinfo`
//! of `arch/powerpc/kernel/setup-common.c`, `show_cpu_summary` of `arch/s390/kernel/processor.c`.

use crate::machine::CpuModel;

/// The first CPU's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuInfo {
    pub(super) arch: Option<&'static str>,
    pub(super) processor: Option<String>,
    /// Of x86.
    pub(super) model: Option<CpuModel>,
    /// x86's flag `hypervisor`.
    pub(super) has_hypervisor_flag: bool,
    /// Power's `model`, which names the machine.
    pub(super) board: Option<String>,
    pub(super) cpus: u32,
}

impl CpuInfo {
    pub(super) fn parse(text: &str) -> Self {
        let value = |key: &str| {
            let mut values = text.lines().filter_map(|line| line.split_once(':'));
            values.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
        };
        let number = |key: &str| value(key).and_then(|value| value.parse().ok());
        let processors = text.lines().filter(|line| line.starts_with("processor"));
        let mut info =
            Self { cpus: u32::try_from(processors.count()).unwrap_or(u32::MAX), ..Self::default() };
        if let (Some(vendor), Some(family), Some(model)) =
            (value("vendor_id"), number("cpu family"), number("model"))
        {
            info.arch = Some("x86_64");
            info.model = Some(CpuModel { vendor: vendor.to_owned(), family, model });
            info.processor = value("model name").map(str::to_owned);
            info.has_hypervisor_flag =
                value("flags").is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
        } else if let Some(implementer) = value("CPU implementer") {
            info.arch = Some("aarch64");
            info.processor = Some(arm_name(implementer, value("CPU part").unwrap_or_default()));
        } else if let Some(cpu) = value("cpu").filter(|cpu| cpu.starts_with("POWER")) {
            info.arch = Some("ppc64le");
            info.processor = cpu.split([',', ' ']).next().map(str::to_owned);
            info.board = value("model").or_else(|| value("machine")).map(str::to_owned);
        } else if value("vendor_id") == Some("IBM/S390") {
            info.arch = Some("s390x");
        }
        info
    }
}

/// Cores whose data sources perf decodes (`common_ds_encoding_cpus` in `tools/perf/util/arm-spe.c`) and their
/// followers; numbers of `arch/arm64/include/asm/cputype.h`.
const ARM_CORES: [(&str, &str); 8] = [
    ("0xd0c", "Neoverse N1"),
    ("0xd49", "Neoverse N2"),
    ("0xd8e", "Neoverse N3"),
    ("0xd40", "Neoverse V1"),
    ("0xd4f", "Neoverse V2"),
    ("0xd84", "Neoverse V3"),
    ("0xac3", "AmpereOne"),
    ("0xac4", "AmpereOne"),
];

fn arm_name(implementer: &str, part: &str) -> String {
    let known = ARM_CORES.iter().find(|(number, name)| {
        let maker = if *name == "AmpereOne" { "0xc0" } else { "0x41" };
        *number == part && maker == implementer
    });
    match known {
        Some((_, name)) => (*name).to_owned(),
        None => format!("Arm implementer {implementer} part {part}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_architecture_and_processor() {
        let x86 = CpuInfo::parse(
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n\
             model name\t: A Processor\nflags\t\t: fpu hypervisor ibs\n\nprocessor\t: 1\nmodel\t\t: 99\n",
        );
        let model = CpuModel { vendor: "AuthenticAMD".to_owned(), family: 25, model: 17 };
        assert_eq!((x86.arch, x86.model, x86.cpus), (Some("x86_64"), Some(model), 2));
        assert_eq!((x86.processor.as_deref(), x86.has_hypervisor_flag), (Some("A Processor"), true));
        let arm = CpuInfo::parse("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
        assert_eq!((arm.arch, arm.processor.as_deref()), (Some("aarch64"), Some("Neoverse V1")));
        let power =
            CpuInfo::parse("processor : 0\ncpu\t: POWER9 (raw), altivec supported\nmodel : 9009-41A\n");
        assert_eq!((power.arch, power.processor.as_deref()), (Some("ppc64le"), Some("POWER9")));
        let z = CpuInfo::parse("vendor_id       : IBM/S390\n# processors    : 2\n");
        assert_eq!((z.arch, z.model), (Some("s390x"), None));
        assert_eq!(CpuInfo::parse("nothing of it"), CpuInfo::default());
    }

    #[test]
    fn flags_are_whole_words_and_unknown_cores_keep_their_numbers() {
        let text = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nflags : hypervisors\n";
        assert!(!CpuInfo::parse(text).has_hypervisor_flag);
        assert_eq!(arm_name("0x46", "0x001"), "Arm implementer 0x46 part 0x001");
        assert_eq!(arm_name("0x46", "0xd40"), "Arm implementer 0x46 part 0xd40");
    }
}
