//! Power: marked loads and stores.
//!
//! Events: `perf_mem_events_power` in `tools/perf/arch/powerpc/util/mem-events.c`, `MEM_LOADS` and `MEM_STORES` of
//! `arch/powerpc/perf/power9-events-list.h` and `power10-events-list.h`. What samples tell: `isa207_get_mem_data_src` and
//! `isa207_get_mem_weight` in `arch/powerpc/perf/isa207-common.c`.

use super::answer::{Advice, AdviceStep, LOAD};

pub(super) fn advice(pmu: &str) -> Advice {
    let commands = vec![
        AdviceStep::new(
            format!("perf mem record -a {LOAD}"),
            "loads and stores, of kernel and programs on all CPUs; there is no latency threshold to lower",
        ),
        AdviceStep::new(
            format!("perf record -W -d -a -e {pmu}/mem-loads/ -e {pmu}/mem-stores/ {LOAD}"),
            "the same spelled out",
        ),
    ];
    let cannot_show = vec![
        "latencies are a mantissa times a power of four, so long ones are rough".to_owned(),
        "samples of instructions that were neither a load nor a store when they finished have no data source"
            .to_owned(),
    ];
    Advice::records("Power's marked loads and stores".to_owned(), commands, cannot_show)
}
