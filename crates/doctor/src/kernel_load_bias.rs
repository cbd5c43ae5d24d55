//! Whether a recording has the kernel's load bias (KASLR offset).

use crate::ExaminedProgram;
use crate::finding::{DoctorFinding, Severity};
use crate::recording_summary::RecordingSummary;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::script::AddressSpace;

/// Reports a recording without it that has samples of kernel code.
pub(super) fn check_kernel_load_bias(
    file: &SampleFile,
    summary: &RecordingSummary,
    program: Option<&ExaminedProgram>,
) -> Option<DoctorFinding> {
    let ip = summary.kernel_ip?;
    let has_map = summary.counts.kernel_image().and_then(|map| map.reference_symbol()).is_some();
    let has_symbols = file.symbol_addresses().is_some_and(|map| map.contains_key(&AddressSpace::Kernel));
    if has_map || has_symbols || program.is_some_and(|program| !program.is_kernel) {
        return None;
    }
    let seen = match summary.counts.kernel_image() {
        Some(map) => format!("the mapping {} names no symbol with its address", map.filename),
        None => "no MMAP record of the kernel image".to_owned(),
    };
    let (severity, fit) = match program {
        Some(_) if summary.samples_in_text == 0 => (
            Severity::CannotAnswer,
            format!("; no sample of kernel code lies in vmlinux's text as linked, {ip:#x} for one"),
        ),
        Some(_) => (
            Severity::Limits,
            format!("; {} samples lie in vmlinux's text as linked", summary.samples_in_text),
        ),
        None => (Severity::Limits, format!("; {ip:#x} is an address of its code")),
    };
    let finding = DoctorFinding::new(
        "kernel-not-placed",
        severity,
        "the recording has no load bias (KASLR offset) of the kernel: unless it ran where it is linked (nokaslr), \
         its addresses can't be matched with vmlinux",
        format!("{seen}{fit}"),
        "record as root while /proc/kallsyms shows addresses; a text: perf script -F +symoff",
    );
    Some(finding.with_command("sysctl kernel.kptr_restrict=0"))
}
