//! Whether a recording says where the kernel lay.

use crate::ExaminedProgram;
use crate::finding::{DoctorFinding, Severity};
use crate::survey::RecordingSurvey;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::script::AddressSpace;

/// Says so if it does not, and there is code of the kernel to be placed.
pub(super) fn unplaced(
    file: &SampleFile,
    survey: &RecordingSurvey,
    program: Option<&ExaminedProgram>,
) -> Option<DoctorFinding> {
    let ip = survey.kernel_ip?;
    let by_map = survey.tally.kernel_image().and_then(|map| map.reference_symbol()).is_some();
    let by_symbols = file.landmarks().is_some_and(|landmarks| landmarks.contains_key(&AddressSpace::Kernel));
    if by_map || by_symbols || program.is_some_and(|program| !program.is_kernel) {
        return None;
    }
    let seen = match survey.tally.kernel_image() {
        Some(map) => format!("the mapping {} names no symbol with its address", map.filename),
        None => "no MMAP record of the kernel image".to_owned(),
    };
    let (severity, fit) = match program {
        Some(_) if survey.in_text == 0 => (
            Severity::CannotAnswer,
            format!("; no sample of kernel code lies in vmlinux's text as linked, {ip:#x} for one"),
        ),
        Some(_) => {
            (Severity::Limits, format!("; {} samples lie in vmlinux's text as linked", survey.in_text))
        }
        None => (Severity::Limits, format!("; {ip:#x} is an address of its code")),
    };
    let finding = DoctorFinding::new(
        "kernel-not-placed",
        severity,
        "the recording doesn't say where the kernel lay: unless it ran where it is linked (nokaslr), its addresses can't be \
         matched with vmlinux",
        format!("{seen}{fit}"),
        "record as root while /proc/kallsyms shows addresses; a text: perf script -F +symoff",
    );
    Some(finding.with_command("sysctl kernel.kptr_restrict=0"))
}
