//! Machines whose code fieldline doesn't read.

use crate::finding::{DoctorFinding, Severity};
use crate::machine::Machine;

/// Architectures whose machine code `profile` reads, as `uname -m` names them: those of `machinecode`.
const SUPPORTED_ARCHS: [&str; 4] = ["x86_64", "amd64", "aarch64", "arm64"];

/// A finding if fieldline can't attribute the architecture. A recording not made yet may be attributed by
/// perf.
pub(super) fn check_arch(machine: &Machine, severity: Severity) -> Option<DoctorFinding> {
    let arch = machine.arch.as_deref().filter(|arch| !SUPPORTED_ARCHS.contains(arch))?;
    let what = format!(
        "fieldline reads machine code of x86_64 and aarch64, so `fieldline profile` attributes nothing of {arch}"
    );
    let why = format!("the machine's architecture is {arch}");
    let remedy = "take over perf's own report by type, where this perf makes one, by `fieldline import`";
    let finding = DoctorFinding::new("architecture", severity, what, why, remedy);
    Some(finding.with_command("perf report -s type,typeoff,symbol -n --stdio"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_processors_that_are_read_have_no_finding() {
        let check = |arch: &str| {
            let machine = Machine { arch: Some(arch.to_owned()), ..Machine::default() };
            check_arch(&machine, Severity::Limits)
        };
        for arch in ["x86_64", "aarch64", "arm64"] {
            assert!(check(arch).is_none(), "{arch}");
        }
        for arch in ["armv7l", "aarch64_be", "i686", "ppc64le", "s390x", "riscv64"] {
            assert!(check(arch).is_some(), "{arch}");
        }
    }
}
