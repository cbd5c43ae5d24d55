//! Load latency thresholds: requested, or observed in the loads.

use fieldline_perfdata::perf_data::{Event, RecordingFacts, SampleCounts};

/// Samples from which on the absence of something is no accident.
pub(super) const ENOUGH_SAMPLES: u64 = 50;
/// Cycles a load takes that hits the first-level cache, 4 or 5 on every processor with load sampling. A
/// threshold up to here hides nothing.
const MAX_L1_HIT_CYCLES: u64 = 5;

/// Event and unit mask of Intel's load latency events: `MEM_TRANS_RETIRED.LOAD_LATENCY` of the large
/// cores and `MEM_UOPS_RETIRED.LOAD_LATENCY` of the small ones. `config1` holds their threshold
/// (`arch/x86/events/intel/core.c`, `ldlat` format).
const INTEL_LOAD_LATENCY: [u64; 2] = [0x1cd, 0x5d0];
/// `PERF_TYPE_RAW`, which is also the number of Intel's `cpu` PMU.
const RAW: u32 = 4;

/// The threshold in cycles that the event was asked to have.
fn requested_threshold(facts: &RecordingFacts, event: &Event) -> Option<u64> {
    let is_core_pmu =
        event.attr.kind == RAW || facts.pmu_name(event.attr.kind).is_some_and(|pmu| pmu.starts_with("cpu"));
    if is_core_pmu && INTEL_LOAD_LATENCY.contains(&(event.attr.config & 0xffff)) {
        return Some(event.attr.config1);
    }
    ["ldlat=", "min_latency="].into_iter().find_map(|term| parse_event_term(&event.name, term))
}

/// The number behind `term` in a name like `ibs_op/ldlat=128/`.
fn parse_event_term(name: &str, term: &str) -> Option<u64> {
    let value = name.split(['/', ',']).find_map(|part| part.strip_prefix(term))?;
    match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    }
}

/// The threshold in cycles if it hides loads, requested or observed; and whether it was requested.
pub(super) fn find_load_threshold(
    facts: &RecordingFacts,
    event: &Event,
    counts: &SampleCounts,
) -> Option<(u64, bool)> {
    let requested = requested_threshold(facts, event);
    let cycles = requested.or_else(|| observed_threshold(counts))?;
    (cycles > MAX_L1_HIT_CYCLES).then_some((cycles, requested.is_some()))
}

/// The smallest latency, where there are many loads with a level and none of them hit the first one.
fn observed_threshold(counts: &SampleCounts) -> Option<u64> {
    let is_significant = counts.loads >= ENOUGH_SAMPLES && counts.with_level > 0 && counts.l1_load_hits == 0;
    counts.min_load_latency.filter(|_| is_significant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::perf_data::Attr;

    fn threshold(kind: u32, config: u64, config1: u64, name: &str) -> Option<u64> {
        let facts = RecordingFacts {
            pmus: vec![(10, "cpu_atom".into()), (12, "ibs_op".into())],
            ..RecordingFacts::default()
        };
        let attr = Attr { kind, config, config1, ..Attr::default() };
        requested_threshold(&facts, &Event { name: name.to_owned(), attr, ids: Vec::new() })
    }

    #[test]
    fn the_attribute_knows_better_than_the_name() {
        assert_eq!(threshold(RAW, 0x1cd, 30, "cpu/mem-loads,ldlat=3/P"), Some(30));
        assert_eq!(threshold(10, 0x5d0, 64, ""), Some(64));
        assert_eq!(threshold(12, 0x1cd, 64, ""), None);
        assert_eq!(threshold(RAW, 0x82d0, 0, "cpu/mem-stores/P"), None);
    }

    #[test]
    fn the_name_helps_where_the_attribute_is_opaque() {
        assert_eq!(threshold(12, 0, 0, "ibs_op/l3missonly=1,ldlat=128/"), Some(128));
        assert_eq!(threshold(12, 0, 0, "arm_spe_0/load_filter=1,min_latency=0x1e/"), Some(30));
        assert_eq!(threshold(12, 0, 0, "ibs_op/ldlat=many/"), None);
    }

    #[test]
    fn many_loads_without_a_first_level_hit_betray_a_threshold() {
        let counts = SampleCounts {
            loads: 1000,
            with_level: 1000,
            min_load_latency: Some(31),
            ..SampleCounts::default()
        };
        assert_eq!(observed_threshold(&counts), Some(31));
        assert_eq!(observed_threshold(&SampleCounts { l1_load_hits: 1, ..counts }), None);
        assert_eq!(observed_threshold(&SampleCounts { loads: 3, ..counts }), None);
        assert_eq!(observed_threshold(&SampleCounts { with_level: 0, ..counts }), None);
    }
}
