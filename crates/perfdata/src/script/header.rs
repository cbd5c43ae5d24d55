//! Facts of the text: the comments of `perf script --header`, and attributes by the names of events.

use crate::perf_data::{Attr, CpuCount, Event, RecordingFacts};
use crate::sample::SampleFields;
use rustc_hash::FxHashMap;

const MAX_ARGUMENTS: usize = 1024;
/// PMUs kept: a large server has a thousand.
const MAX_PMUS: usize = 1 << 14;
const MAX_CORE_KINDS: usize = 64;

/// Parses a comment, `# NAME : VALUE`, into facts.
pub(crate) fn parse_comment(facts: &mut RecordingFacts, line: &str) {
    if let Some(pmus) = line.strip_prefix("# pmu mappings: ") {
        facts.pmus = pmus.split(',').take(MAX_PMUS).filter_map(parse_pmu).collect();
        return;
    }
    let Some((name, value)) = line.strip_prefix('#').and_then(|text| text.split_once(" : ")) else { return };
    let value = value.trim();
    let text = || (!value.is_empty()).then(|| value.to_owned());
    match name.trim() {
        "hostname" => facts.hostname = text(),
        "os release" => facts.os_release = text(),
        "arch" => facts.arch = text(),
        "cpudesc" => facts.cpu_description = text(),
        "cpuid" => facts.cpu_id = text(),
        "cmdline" => {
            facts.command_line = value.split_whitespace().take(MAX_ARGUMENTS).map(str::to_owned).collect();
        }
        "nrcpus online" => set_cpu_count(facts, value, |cpus| &mut cpus.online),
        "nrcpus avail" => set_cpu_count(facts, value, |cpus| &mut cpus.available),
        name => {
            if let Some(pmu) =
                name.strip_suffix(" cpu list").filter(|_| facts.hybrid_cpus.len() < MAX_CORE_KINDS)
            {
                facts.hybrid_cpus.push((pmu.to_owned(), value.to_owned()));
            }
        }
    }
}

/// Bits of `branch_sample_type` by the names perf prints (`__p_branch_sample_type` in
/// `tools/perf/util/perf_event_attr_fprintf.c`), in their order.
const BRANCH_TYPE_NAMES: &str = "USER|KERNEL|HV|ANY|ANY_CALL|ANY_RETURN|IND_CALL|ABORT_TX|IN_TX|NO_TX|COND|CALL_STACK|IND_JUMP|CALL|\
                        NO_FLAGS|NO_CYCLES|TYPE_SAVE|HW_INDEX|PRIV_SAVE|COUNTERS";
/// `PERF_SAMPLE_BRANCH_ANY`.
const ANY_BRANCH: u64 = 1 << 3;

/// Of a comment about an event (`# event : name = cycles, , id = …, branch_sample_type = USER|ANY`) its name,
/// and which branches it recorded.
pub(crate) fn parse_branch_types(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.strip_prefix("# event : name = ")?.split_once(", ")?;
    let (_, chosen) = rest.split_once("branch_sample_type = ")?;
    let words = chosen.split(", ").next()?.trim().split('|');
    let bit = |word| BRANCH_TYPE_NAMES.split('|').position(|known| known == word).map(|bit| 1 << bit);
    Some((name, words.filter_map(bit).fold(0, |all, bit: u64| all | bit)))
}

/// Sets the branch types of events with branch stacks. Returns whether some are unknown.
pub(crate) fn set_branch_types(events: &mut [Event], types_by_event: &FxHashMap<String, u64>) -> bool {
    let mut is_any_unknown = false;
    for event in events.iter_mut().filter(|event| event.attr.sample_type.contains(SampleFields::BRANCH_STACK))
    {
        let known = types_by_event.get(&event.name).copied();
        is_any_unknown |= known.is_none();
        event.attr.branch_sample_type = known.unwrap_or(ANY_BRANCH);
    }
    is_any_unknown
}

/// `NAME = NUMBER`.
fn parse_pmu(text: &str) -> Option<(u32, String)> {
    let (name, number) = text.split_once('=')?;
    Some((number.trim().parse().ok()?, name.trim().to_owned()))
}

fn set_cpu_count(facts: &mut RecordingFacts, value: &str, field: impl Fn(&mut CpuCount) -> &mut u32) {
    if let Ok(count) = value.parse() {
        *field(facts.cpus.get_or_insert(CpuCount { online: 0, available: 0 })) = count;
    }
}

/// `PERF_TYPE_HARDWARE` and `PERF_TYPE_SOFTWARE`; a type that no event has, for names without a known type.
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const UNKNOWN: u32 = u32::MAX;
/// `PERF_TYPE_BREAKPOINT`.
const BREAKPOINT: u32 = 5;

/// Flags as [`Attr::flags`] numbers them.
const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const PRECISE: u64 = 2 << 15;

/// As much of an event's attribute as its name gives: whether a timer drives it, which code it excludes,
/// whether it is precise.
pub(crate) fn attr_from_name(name: &str) -> Attr {
    if let Some(attr) = name.strip_prefix("mem:").and_then(parse_breakpoint) {
        return attr;
    }
    let (base, modifiers) = split_modifiers(name);
    let (kind, config) = match base {
        "cpu-clock" => (SOFTWARE, 0),
        "task-clock" => (SOFTWARE, 1),
        "dummy" => (SOFTWARE, 9),
        "cycles" | "cpu-cycles" => (HARDWARE, 0),
        "instructions" => (HARDWARE, 1),
        _ => (UNKNOWN, 0),
    };
    let has = |letter: char| modifiers.contains(letter);
    let mut flags = exclude_flags(modifiers);
    if has('p') || has('P') {
        flags |= PRECISE;
    }
    Attr { kind, config, flags, ..Attr::default() }
}

fn exclude_flags(modifiers: &str) -> u64 {
    match (modifiers.contains('u'), modifiers.contains('k')) {
        (true, false) => EXCLUDE_KERNEL,
        (false, true) => EXCLUDE_USER,
        _ => 0,
    }
}

/// `ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]` of `mem:`, where ACCESS is `rw` unless given and LENGTH 4
/// (`tools/perf/Documentation/perf-record.txt`).
fn parse_breakpoint(text: &str) -> Option<Attr> {
    let mut words = text.split(':');
    let range = words.next()?;
    let (address, length) = range.split_once('/').unwrap_or((range, "4"));
    let config1 = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    let access = words.clone().next().filter(|word| word.chars().all(|letter| "rwx".contains(letter)));
    let kinds = access.map_or("rw", |access| {
        words.next();
        access
    });
    let bit = |letter, bit| if kinds.contains(letter) { bit } else { 0 };
    let breakpoint_kind = bit('r', 1) | bit('w', 2) | bit('x', 4);
    let (config2, flags) = (length.parse().ok()?, exclude_flags(words.next().unwrap_or_default()));
    Some(Attr { kind: BREAKPOINT, breakpoint_kind, config1, config2, flags, ..Attr::default() })
}

/// `EVENT:MODIFIERS` or `PMU/TERMS/MODIFIERS`.
fn split_modifiers(name: &str) -> (&str, &str) {
    let cut = name.rsplit_once('/').filter(|(base, _)| base.contains('/'));
    let (base, modifiers) = cut.or_else(|| name.rsplit_once(':')).unwrap_or((name, ""));
    let is_modifier = |letter: char| "ukhGHpPDSWeI".contains(letter);
    if modifiers.chars().all(is_modifier) { (base, modifiers) } else { (name, "") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_data::DataBreakpoint;

    #[test]
    fn comments_describe_the_recording() {
        let mut facts = RecordingFacts::default();
        for line in
            ["# hostname : box", "# cmdline : /usr/bin/perf mem record -a ", "# nrcpus online : 8", "# ==="]
        {
            parse_comment(&mut facts, line);
        }
        assert_eq!(facts.hostname.as_deref(), Some("box"));
        assert_eq!(facts.command_line.join(" "), "/usr/bin/perf mem record -a");
        assert_eq!(facts.cpus.map(|cpus| cpus.online), Some(8));
        parse_comment(&mut facts, "# pmu mappings: cpu_core = 4, cpu_atom = 10, nonsense, breakpoint = 5");
        parse_comment(&mut facts, "# cpu_atom cpu list : 16-23");
        assert_eq!((facts.pmu_name(10), facts.pmus.len()), (Some("cpu_atom"), 3));
        assert_eq!(facts.hybrid_cpus, [("cpu_atom".to_owned(), "16-23".to_owned())]);
    }

    #[test]
    fn names_give_timers_exclusions_and_precision() {
        let clock = attr_from_name("cpu-clock:u");
        assert_eq!(
            (clock.kind, clock.config, clock.excludes_kernel(), clock.excludes_user()),
            (1, 0, true, false)
        );
        assert!(attr_from_name("dummy:HG").is_dummy());
        assert!(attr_from_name("cycles:P").precise_ip() > 0 && attr_from_name("cycles").precise_ip() == 0);
        assert!(attr_from_name("cpu/mem-loads,ldlat=3/Pk").excludes_user());
        assert!(!attr_from_name("cpu/mem-loads,ldlat=3/P").excludes_user());
        assert_eq!(attr_from_name("sched:sched_switch").kind, UNKNOWN);
        assert!(!attr_from_name("mem:0x1000:rw").excludes_kernel());
        let breakpoint = |name| attr_from_name(name).data_breakpoint();
        let expected = |length, is_of_writes| {
            Some(DataBreakpoint { address: 0x1000, length, is_write_only: is_of_writes })
        };
        assert_eq!(
            (breakpoint("mem:0x1000/8:rw"), breakpoint("mem:0x1000:w:u")),
            (expected(8, false), expected(4, true))
        );
        assert_eq!(
            (breakpoint("mem:0x1000:k"), breakpoint("mem:0x1000:x"), breakpoint("mem:here")),
            (expected(4, false), None, None)
        );
        assert!(
            attr_from_name("mem:0x1000:u").excludes_kernel()
                && attr_from_name("mem:0x1000:rw:k").excludes_user()
        );
    }
}
