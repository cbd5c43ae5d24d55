//! Settings of a machine that prevent or limit a recording.
//!
//! `Documentation/admin-guide/sysctl/kernel.rst` and `Documentation/admin-guide/perf-security.rst` of the
//! kernel say what `perf_event_paranoid`, `kptr_restrict` and `perf_event_max_sample_rate` do.

use crate::advice::Advice;
use crate::finding::{DoctorFinding, Severity};
use crate::machine::{Machine, MachineSettings};
use crate::supported_arch::check_arch;

/// Samples a second that `perf record` asks for by itself (`tools/perf/builtin-record.c`).
const DEFAULT_RATE: i64 = 4000;

/// Findings about a machine's settings; the gravest first.
#[must_use]
pub fn check_setup(machine: &Machine, advice: &Advice) -> Vec<DoctorFinding> {
    let mut found: Vec<DoctorFinding> = check_access_sampling(machine, advice).into_iter().collect();
    found.extend(check_arch(machine, Severity::Limits));
    if let Some(settings) = &machine.settings {
        found.extend(check_paranoid(settings, advice));
        found.extend(check_kptr_restrict(settings, advice));
        found.extend(check_sample_rate(settings));
        found.extend(check_debug_info(machine, settings));
    }
    found.sort_by_key(|finding| finding.severity);
    found
}

fn check_access_sampling(machine: &Machine, advice: &Advice) -> Option<DoctorFinding> {
    if advice.can_answer {
        return None;
    }
    let names: Vec<&str> = machine.pmus.iter().flatten().map(|pmu| pmu.name.as_str()).collect();
    let guest = machine.guest.as_deref().map(|name| format!("; virtual machine: {name}")).unwrap_or_default();
    Some(DoctorFinding::new(
        "no-access-sampling",
        Severity::CannotAnswer,
        "no recording made here can say which members are touched",
        format!("/sys/bus/event_source/devices has {}{guest}", names.join(", ")),
        advice.instead.first().cloned().unwrap_or_default(),
    ))
}

fn check_paranoid(settings: &MachineSettings, advice: &Advice) -> Option<DoctorFinding> {
    let level = settings.paranoid.filter(|level| *level > -1 && advice.can_answer)?;
    let kernel = if level >= 2 { "system-wide, and kernel code at all" } else { "system-wide" };
    let what = format!("only root and who has CAP_PERFMON may record {kernel}");
    let why = format!("/proc/sys/kernel/perf_event_paranoid is {level}");
    let remedy = "record as root, or let everybody";
    let finding = DoctorFinding::new("needs-privilege", Severity::Note, what, why, remedy);
    Some(finding.with_command("sysctl kernel.perf_event_paranoid=-1"))
}

fn check_kptr_restrict(settings: &MachineSettings, advice: &Advice) -> Option<DoctorFinding> {
    let level = settings.kptr_restrict.filter(|level| *level > 0 && advice.can_answer)?;
    let (severity, who) = match level {
        1 => (Severity::Note, "whoever is not root"),
        _ => (Severity::Limits, "everybody, root too"),
    };
    let what = "recordings won't have the kernel's load bias (KASLR offset), so addresses can't be matched with vmlinux";
    let why = format!("/proc/sys/kernel/kptr_restrict is {level}: /proc/kallsyms shows {who} zeros");
    let finding = DoctorFinding::new("kernel-hidden", severity, what, why, "show addresses while recording");
    Some(finding.with_command("sysctl kernel.kptr_restrict=0"))
}

fn check_sample_rate(settings: &MachineSettings) -> Option<DoctorFinding> {
    let rate = settings.max_sample_rate.filter(|rate| *rate < DEFAULT_RATE)?;
    let finding = DoctorFinding::new(
        "rate-limited",
        Severity::Note,
        format!("perf gets {rate} samples a second of a CPU at most, less than it asks for by itself"),
        format!(
            "/proc/sys/kernel/perf_event_max_sample_rate is {rate}; the kernel lowers it if sampling takes long"
        ),
        "raise it, or record longer",
    );
    Some(finding.with_command("sysctl kernel.perf_event_max_sample_rate=100000"))
}

fn check_debug_info(machine: &Machine, settings: &MachineSettings) -> Option<DoctorFinding> {
    if settings.vmlinux.is_some() {
        return None;
    }
    let release = machine.release.as_deref().unwrap_or("RELEASE");
    let btf = match settings.has_btf {
        true => "/sys/kernel/btf/vmlinux shows layouts, not what code touches",
        false => "/sys/kernel/btf/vmlinux is not there either",
    };
    Some(DoctorFinding::new(
        "no-debug-info",
        Severity::Note,
        "attribution needs the kernel's vmlinux with DWARF, which is not where debug packages put it",
        format!("no /usr/lib/debug/boot/vmlinux-{release} and no vmlinux of a build folder; {btf}"),
        "install the distribution's debug package of this kernel (linux-image-…-dbg, kernel-debuginfo), or keep the vmlinux \
         of your build",
    ))
}
