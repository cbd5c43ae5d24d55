//! Machines that can't sample memory accesses: the missing feature, and alternatives.
//!
//! That a timer's samples miss code that runs with interrupts off: `perf_swevent_hrtimer` in
//! `kernel/events/core.c` runs in the timer's interrupt. That KVM hands PEBS to guests: `vmx_pebs_supported`
//! in `arch/x86/kvm/vmx/capabilities.h` (Linux 6.0, Ice Lake servers and newer). That guests see no IBS and
//! no SPE: neither has a counterpart in `arch/x86/kvm/svm` and `arch/arm64/kvm` of Linux 6.12.

use super::commands::{Advice, AdvisedCommand, WORKLOAD, to_strings};
use crate::machine::Machine;

/// For machines whose counters know no addresses, but which keep the branches they took last, by the
/// capability `branches` (`branches_show` in `arch/x86/events/{intel,amd}/core.c`, and of Arm's BRBE in
/// `drivers/perf/arm_pmuv3.c` since Linux 6.17). AMD's older BRS works with one event only
/// (`amd_brs_hw_config` in `arch/x86/events/amd/brs.c`), by whose presence it is recognized.
fn branch_advice(machine: &Machine, pmus: &[String]) -> Option<Advice> {
    let (pmu, kept) = pmus.iter().filter_map(|name| machine.pmu(name)).find_map(|pmu| {
        let kept: u32 = pmu.cap("branches")?.trim().parse().ok()?;
        (kept > 0).then_some((pmu, kept))
    })?;
    let summary = format!(
        "counters without data addresses ({}), and the last {kept} branches (caps/branches of {})",
        pmus.join(", "),
        pmu.name
    );
    let event = if pmu.has_event("branch-brs") == Some(true) { "branch-brs" } else { "cycles" };
    let mut commands = vec![AdvisedCommand::new(
        format!("perf record -b -a -e {event} {WORKLOAD}"),
        "the branches taken last: every instruction between two of them ran, so its accesses are counted",
    )];
    commands.extend(breakpoint_command(machine));
    let cannot_show = [
        "no addresses: which object was touched, so no false sharing, and members that only an address tells",
        "no caches and no latencies",
    ];
    Some(Advice { instead: alternatives(machine), ..Advice::with_commands(summary, commands, &cannot_show) })
}

/// For machines whose counters know no addresses.
pub(super) fn counter_advice(machine: &Machine, pmus: &[String]) -> Advice {
    if let Some(advice) = branch_advice(machine, pmus) {
        return advice;
    }
    let summary = format!(
        "counters without data addresses ({}): {}",
        pmus.join(", "),
        missing_pmu(machine).unwrap_or("no PMU samples loads and stores")
    );
    let mut commands = vec![AdvisedCommand::new(
        format!("perf record -a -e instructions {WORKLOAD}"),
        "second best: which functions run, not which members they touch",
    )];
    commands.extend(breakpoint_command(machine));
    let cannot_show = [
        "no addresses, no loads and stores, no caches: objects, visits and false sharing stay hidden",
        "a sample names an instruction behind the one that caused it, so the member is a guess",
    ];
    unable(machine, &summary, commands, &cannot_show)
}

/// For machines with timers only.
pub(super) fn timer_advice(machine: &Machine) -> Advice {
    let summary = match machine.guest {
        Some(_) => "a virtual machine without a PMU: only timers (cpu-clock) sample here",
        None => "no PMU: only timers (cpu-clock) sample here",
    };
    let cannot_show = "cpu-clock can't attribute kernel data: its samples have no addresses, and the timer waits while interrupts are off, \
         so code under spinlocks shows where interrupts are turned on again";
    unable(machine, summary, breakpoint_command(machine).into_iter().collect(), &[cannot_show])
}

fn unable(machine: &Machine, summary: &str, commands: Vec<AdvisedCommand>, cannot_show: &[&str]) -> Advice {
    let advice = Advice::with_commands(summary, commands, cannot_show);
    Advice { can_answer: false, instead: alternatives(machine), ..advice }
}

/// Breakpoints need no PMU (`tools/perf/Documentation/perf-record.txt`, `mem:`); x86 has four (`HBP_NUM` in
/// `arch/x86/include/asm/hw_breakpoint.h`).
fn breakpoint_command(machine: &Machine) -> Option<AdvisedCommand> {
    let has_breakpoints = machine.is_arch("x86") && machine.pmu("breakpoint").is_some();
    has_breakpoints.then(|| {
        AdvisedCommand::new(
            format!("perf record -d -a -e mem:0xADDRESS/8:rw {WORKLOAD}"),
            "every access to eight bytes at an address you know (four such events at once), so the members there and no others",
        )
    })
}

/// The PMU that a bare-metal machine of this kind would have.
fn missing_pmu(machine: &Machine) -> Option<&'static str> {
    if machine.has_vendor("GenuineIntel") {
        Some("the event mem-loads is missing, so there is no PEBS")
    } else if machine.has_vendor("AuthenticAMD") || machine.has_vendor("HygonGenuine") {
        Some("the PMU ibs_op is missing")
    } else if machine.is_arch("aarch64") {
        Some(
            "the PMU arm_spe_0 is missing: the processor may lack SPE, its driver may not be loaded (arm_spe_pmu), the \
              kernel may need kpti=off, or the firmware may not describe it",
        )
    } else {
        None
    }
}

fn alternatives(machine: &Machine) -> Vec<String> {
    let mut list = Vec::new();
    // Single steps and breakpoints need no PMU.
    if machine.is_arch("x86") {
        list.push(
            "for a program: `fieldline record -o perf.data -- PROGRAM` steps it in bursts and writes down each access with \
             its address, slowly; with --object it watches objects by breakpoints, also the kernel's",
        );
    }
    list.push(
        "for a kernel: `fieldline guest record --kernel IMAGE --vmlinux VMLINUX` boots it in QEMU and records every access of \
         the code you choose, with objects; no PMU and no root (docs/guest.md)",
    );
    list.push(
        "record on a machine that can, booted with the same kernel build under the same load (the host of this virtual \
         machine, a bare-metal instance): layouts and code are the build's, so its profile holds here",
    );
    if machine.guest.is_some() && machine.has_vendor("GenuineIntel") {
        list.push(
            "or give the virtual machine a PMU: KVM hands PEBS to guests on Ice Lake servers and newer since Linux 6.0 (QEMU: \
             -cpu host,pmu=on); `fieldline doctor` inside shows whether it came through",
        );
    }
    list.push("or do without a recording: `fieldline plan --static` packs holes by size alone");
    to_strings(&list)
}

#[cfg(test)]
mod tests {
    use crate::advice::Advice;
    use crate::machine::{Machine, Pmu};

    fn machine(caps: &[(&str, &str)], events: &[&str]) -> Machine {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let pmu = Pmu {
            name: "cpu".to_owned(),
            events: Some(events.iter().map(|event| (*event).to_owned()).collect()),
            caps: caps.iter().map(text).collect(),
            ..Pmu::default()
        };
        Machine { arch: Some("x86_64".to_owned()), pmus: Some(vec![pmu]), ..Machine::default() }
    }

    #[test]
    fn branches_are_recorded_where_a_pmu_keeps_some_and_samples_no_accesses() {
        let command = |caps: &[(&str, &str)], events: &[&str]| {
            Advice::for_machine(&machine(caps, events)).command().map(str::to_owned)
        };
        let some = |command: &str| Some(format!("{command} -- sleep 10"));
        let kept = [("branches", "32")];
        assert_eq!(command(&kept, &["cpu-cycles"]), some("perf record -b -a -e cycles"));
        assert_eq!(command(&kept, &["branch-brs"]), some("perf record -b -a -e branch-brs"));
        assert_eq!(command(&[("branches", "0")], &["cpu-cycles"]), None);
        assert_eq!(command(&[], &["cpu-cycles"]), None);
        let advice = Advice::for_machine(&machine(&kept, &[]));
        assert!(advice.can_answer && advice.cannot_show.iter().any(|line| line.contains("false sharing")));
        assert!(
            Advice::for_machine(&machine(&kept, &["mem-loads"]))
                .command()
                .unwrap()
                .starts_with("perf mem record")
        );
    }
}
