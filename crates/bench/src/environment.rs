//! Facts on this machine, as lines `name: value` that `compare` reads.

use std::fs;

/// The facts that are known, a line each.
#[must_use]
pub fn machine_facts() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = |names: &[&str]| names.iter().find_map(|name| cpu_field(&cpuinfo, name));
    let cpus = crate::statistics::online_cpus().len().to_string();
    let facts = [
        ("cpu", cpu(&["model name", "CPU implementer"])),
        ("cpus", Some(cpus)),
        ("architecture", Some(std::env::consts::ARCH.to_owned())),
        ("host", first_line("/proc/sys/kernel/hostname")),
        ("kernel", first_line("/proc/sys/kernel/osrelease")),
        ("arguments", first_line("/proc/cmdline")),
        ("governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        ("boost", first_line("/sys/devices/system/cpu/cpufreq/boost")),
        ("microcode", cpu(&["microcode"])),
    ];
    let lines = facts.iter().filter_map(|(name, value)| Some(format!("{name}: {}\n", value.as_ref()?)));
    lines.collect()
}

fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}

fn cpu_field(cpuinfo: &str, name: &str) -> Option<String> {
    let value = |line: &str| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    };
    cpuinfo.lines().find_map(value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_compare::environment::{EnvironmentFacts, EnvironmentKey};

    #[test]
    fn compare_reads_the_facts() {
        let facts = EnvironmentFacts::read(&machine_facts());
        for key in [EnvironmentKey::Cpus, EnvironmentKey::Kernel, EnvironmentKey::Architecture] {
            assert!(facts.value(key).is_some(), "{key:?}");
        }
    }
}
