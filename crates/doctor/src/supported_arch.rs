//! Machines whose code fieldline doesn't read.

use crate::finding::{DoctorFinding, Severity};
use crate::machine::Machine;

/// Architectures whose machine code `profile` reads.
const SUPPORTED_ARCHS: [&str; 2] = ["x86_64", "amd64"];

/// A finding if fieldline can't attribute the architecture. A recording not made yet may be attributed by
/// perf.
pub(super) fn check_arch(machine: &Machine, severity: Severity) -> Option<DoctorFinding> {
    let arch = machine.arch.as_deref().filter(|arch| !SUPPORTED_ARCHS.contains(arch))?;
    let what = format!(
        "fieldline reads machine code of x86_64 only, so `fieldline profile` attributes nothing of {arch} yet"
    );
    let why = format!("the machine's architecture is {arch}");
    let remedy = "take over perf's own report by type, where this perf makes one, by `fieldline import`";
    let finding = DoctorFinding::new("architecture", severity, what, why, remedy);
    Some(finding.with_command("perf report -s type,typeoff,symbol -n --stdio"))
}
