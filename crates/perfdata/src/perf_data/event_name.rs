//! Names for events that a recording gives no name.

use super::attr::Attr;

/// `enum perf_hw_id`, as `perf list` prints them.
const HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

/// `enum perf_sw_ids`, as `perf list` prints them.
const SOFTWARE: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

/// A name for the event that `attr` asks for, in the form `perf record -e` takes where there is one.
pub(crate) fn of_attr(attr: &Attr, pmu: Option<&str>) -> String {
    // Hybrid processors put the PMU's number into the upper half of the configuration.
    let generic = usize::try_from(attr.config & 0xffff_ffff).unwrap_or(usize::MAX);
    let name = match attr.kind {
        0 => HARDWARE.get(generic).map(|&name| name.to_owned()),
        1 => SOFTWARE.get(generic).map(|&name| name.to_owned()),
        2 => Some(format!("tracepoint:{}", attr.config)),
        4 => Some(format!("r{:x}", attr.config)),
        5 => Some(format!("mem:{:#x}", attr.config1)),
        _ => None,
    };
    name.unwrap_or_else(|| match pmu {
        Some(pmu) => format!("{pmu}/config={:#x}/", attr.config),
        None => format!("type {} config {:#x}", attr.kind, attr.config),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_kind() {
        let name = |kind, config, pmu| of_attr(&Attr { kind, config, ..Attr::default() }, pmu);
        assert_eq!(name(0, 1, None), "instructions");
        assert_eq!(name(0, 4 << 32, None), "cycles");
        assert_eq!(name(1, 9, None), "dummy");
        assert_eq!(name(4, 0x1cd, Some("cpu")), "r1cd");
        assert_eq!(name(11, 0, Some("ibs_op")), "ibs_op/config=0x0/");
        assert_eq!(name(1, 999, None), "type 1 config 0x3e7");
    }
}
