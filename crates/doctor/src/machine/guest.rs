//! Whether a machine is virtual.

use crate::machine::root::Root;

/// Words of firmware that only virtual machines have, and what to call these. They are what the hypervisors
/// put into their SMBIOS tables; those of clouds count only without the word `metal`.
const VIRTUAL_BOARDS: [(&str, &str); 10] = [
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("Amazon EC2", "Amazon EC2"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Xen", "Xen"),
    ("Virtual Machine", "Hyper-V"),
    ("OpenStack", "OpenStack"),
    ("BHYVE", "bhyve"),
];

/// Whose guest the machine is, by firmware, hypervisor files and the processor's flag.
pub(super) fn find_hypervisor(root: &Root, has_flag: bool, board: Option<&str>) -> Option<String> {
    let dmi = ["sys_vendor", "product_name"].map(|file| root.text(&format!("sys/class/dmi/id/{file}")));
    let dmi: Vec<String> = dmi.into_iter().flatten().chain(board.map(str::to_owned)).collect();
    if let Some(name) = virtual_board(&dmi) {
        return Some(name.to_owned());
    }
    // Xen's first domain is the host's own.
    let is_host = root.text("proc/xen/capabilities").is_some_and(|text| text.contains("control_d"));
    match root.text("sys/hypervisor/type") {
        Some(kind) if !is_host && !kind.is_empty() => Some(kind),
        _ => has_flag.then(|| "by the processor's flag hypervisor".to_owned()),
    }
}

/// The hypervisor that a processor's name contains.
pub(super) fn hypervisor_of_processor(name: &str) -> Option<String> {
    ["QEMU", "KVM"].into_iter().find(|word| name.contains(word)).map(str::to_owned)
}

fn virtual_board(words: &[String]) -> Option<&'static str> {
    let is_metal = words.iter().any(|word| word.to_lowercase().contains("metal"));
    let known = VIRTUAL_BOARDS.iter().find(|(sign, _)| words.iter().any(|word| word.contains(sign)));
    known.filter(|_| !is_metal).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_of_hypervisors_are_known_and_metal_of_clouds_is_none() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(virtual_board(&words(&["QEMU", "Standard PC (Q35 + ICH9, 2009)"])), Some("QEMU"));
        assert_eq!(virtual_board(&words(&["Amazon EC2", "m7i.large"])), Some("Amazon EC2"));
        assert_eq!(virtual_board(&words(&["Amazon EC2", "m7i.metal-24xl"])), None);
        assert_eq!(virtual_board(&words(&["Microsoft Corporation", "Virtual Machine"])), Some("Hyper-V"));
        assert_eq!(virtual_board(&words(&["Dell Inc.", "PowerEdge R760"])), None);
        assert_eq!(hypervisor_of_processor("QEMU Virtual CPU").as_deref(), Some("QEMU"));
        assert_eq!(hypervisor_of_processor("AMD EPYC 9654"), None);
    }
}
