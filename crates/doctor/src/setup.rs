//! What of a machine's settings stands in the way of a recording.
//!
//! `Documentation/admin-guide/sysctl/kernel.rst` and `Documentation/admin-guide/perf-security.rst` of the kernel say what
//! `perf_event_paranoid`, `kptr_restrict` and `perf_event_max_sample_rate` do.

use crate::advice::Advice;
use crate::finding::{DoctorFinding, Severity};
use crate::machine::{Machine, MachineSettings};
use crate::unread::unread;

/// Samples a second that `perf record` asks for by itself (`tools/perf/builtin-record.c`).
const DEFAULT_RATE: i64 = 4000;

/// Findings about a machine that was looked at; the gravest first.
#[must_use]
pub fn setup(machine: &Machine, advice: &Advice) -> Vec<DoctorFinding> {
    let mut found: Vec<DoctorFinding> = cannot(machine, advice).into_iter().collect();
    found.extend(unread(machine, Severity::Limits));
    if let Some(settings) = &machine.settings {
        found.extend(paranoid(settings, advice));
        found.extend(hidden_kernel(settings, advice));
        found.extend(slow_rate(settings));
        found.extend(no_debug_info(machine, settings));
    }
    found.sort_by_key(|finding| finding.severity);
    found
}

fn cannot(machine: &Machine, advice: &Advice) -> Option<DoctorFinding> {
    if advice.can_answer {
        return None;
    }
    let names: Vec<&str> = machine.pmus.iter().flatten().map(|pmu| pmu.name.as_str()).collect();
    let guest =
        machine.guest.as_deref().map(|guest| format!("; virtual machine: {guest}")).unwrap_or_default();
    Some(DoctorFinding {
        key: "no-access-sampling".to_owned(),
        severity: Severity::CannotAnswer,
        what: "no recording made here can say which members are touched".to_owned(),
        why: format!("/sys/bus/event_source/devices has {}{guest}", names.join(", ")),
        remedy: advice.instead.first().cloned().unwrap_or_default(),
        command: None,
    })
}

fn paranoid(settings: &MachineSettings, advice: &Advice) -> Option<DoctorFinding> {
    let level = settings.paranoid.filter(|level| *level > -1 && advice.can_answer)?;
    let kernel = if level >= 2 { "system-wide, and kernel code at all" } else { "system-wide" };
    Some(DoctorFinding {
        key: "needs-privilege".to_owned(),
        severity: Severity::Note,
        what: format!("only root and who has CAP_PERFMON may record {kernel}"),
        why: format!("/proc/sys/kernel/perf_event_paranoid is {level}"),
        remedy: "record as root, or let everybody".to_owned(),
        command: Some("sysctl kernel.perf_event_paranoid=-1".to_owned()),
    })
}

fn hidden_kernel(settings: &MachineSettings, advice: &Advice) -> Option<DoctorFinding> {
    let level = settings.kptr_restrict.filter(|level| *level > 0 && advice.can_answer)?;
    let (severity, who) = match level {
        1 => (Severity::Note, "whoever is not root"),
        _ => (Severity::Limits, "everybody, root too"),
    };
    Some(DoctorFinding {
        key: "kernel-hidden".to_owned(),
        severity,
        what: "a recording won't say where the kernel lay, so its addresses can't be matched with vmlinux"
            .to_owned(),
        why: format!("/proc/sys/kernel/kptr_restrict is {level}: /proc/kallsyms shows {who} zeros"),
        remedy: "show addresses while recording".to_owned(),
        command: Some("sysctl kernel.kptr_restrict=0".to_owned()),
    })
}

fn slow_rate(settings: &MachineSettings) -> Option<DoctorFinding> {
    let rate = settings.max_sample_rate.filter(|rate| *rate < DEFAULT_RATE)?;
    Some(DoctorFinding {
        key: "rate-limited".to_owned(),
        severity: Severity::Note,
        what: format!("perf gets {rate} samples a second of a CPU at most, less than it asks for by itself"),
        why: format!(
            "/proc/sys/kernel/perf_event_max_sample_rate is {rate}; the kernel lowers it when sampling takes long"
        ),
        remedy: "raise it, or record longer".to_owned(),
        command: Some("sysctl kernel.perf_event_max_sample_rate=100000".to_owned()),
    })
}

fn no_debug_info(machine: &Machine, settings: &MachineSettings) -> Option<DoctorFinding> {
    if settings.vmlinux.is_some() {
        return None;
    }
    let release = machine.release.as_deref().unwrap_or("RELEASE");
    let btf = match settings.has_btf {
        true => "/sys/kernel/btf/vmlinux shows layouts, not what code touches",
        false => "/sys/kernel/btf/vmlinux is not there either",
    };
    Some(DoctorFinding {
        key: "no-debug-info".to_owned(),
        severity: Severity::Note,
        what: "attribution needs the kernel's vmlinux with DWARF, which is not where debug packages put it".to_owned(),
        why: format!("no /usr/lib/debug/boot/vmlinux-{release} and no vmlinux of a build folder; {btf}"),
        remedy: "install the distribution's debug package of this kernel (linux-image-…-dbg, kernel-debuginfo), or keep the \
                 vmlinux of your build"
            .to_owned(),
        command: None,
    })
}
