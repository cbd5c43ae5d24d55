//! Intel: `mem-loads` and `mem-stores` of the core PMU, one kind of core or several.
//!
//! Events: `perf_mem_events_intel` and `perf_mem_events_intel_aux` in `tools/perf/arch/x86/util/mem-events.c`; options as
//! `__cmd_record` of `tools/perf/builtin-mem.c` hands them on (`-W -d`). Thresholds: `MSR_PEBS_LD_LAT_THRESHOLD`, of which 3
//! is the least (Intel SDM volume 3B, "Load Latency Performance Monitoring Facility"). What stores tell:
//! `precise_datala_hsw` and `store_latency_data` in `arch/x86/events/intel/ds.c`.

use super::answer::{Advice, AdviceStep, LOAD};
use crate::sampler::PebsCore;

pub(super) fn advice(cores: &[PebsCore]) -> Advice {
    let is_hybrid = cores.len() > 1 || cores.iter().any(|core| core.pmu != "cpu");
    let summary = match is_hybrid {
        true => format!("Intel PEBS on {} kinds of cores: {}", cores.len(), kinds(cores)),
        false => "Intel PEBS".to_owned(),
    };
    let events: Vec<String> = cores.iter().map(loads).chain(cores.iter().filter_map(stores)).collect();
    let commands = vec![
        AdviceStep::new(
            format!("perf mem record --ldlat=3 -a {LOAD}"),
            "loads from 3 cycles on, which is all of them, and stores, of kernel and programs on all CPUs",
        ),
        AdviceStep::new(format!("perf record -W -d -a {} {LOAD}", events.join(" ")), "the same spelled out"),
    ];
    Advice::records(summary, commands, cannot_show(cores, is_hybrid))
}

fn kinds(cores: &[PebsCore]) -> String {
    let kind = |core: &PebsCore| match &core.cpus {
        Some(cpus) => format!("{} (CPUs {cpus})", core.pmu),
        None => core.pmu.clone(),
    };
    cores.iter().map(kind).collect::<Vec<_>>().join(", ")
}

/// The kernel refuses `mem-loads` alone where there is an auxiliary event (`intel_pmu_hw_config`).
fn loads(core: &PebsCore) -> String {
    let pmu = &core.pmu;
    match core.needs_aux {
        true => format!("-e '{{{pmu}/mem-loads-aux/,{pmu}/mem-loads,ldlat=3/}}:P'"),
        false => format!("-e {pmu}/mem-loads,ldlat=3/P"),
    }
}

fn stores(core: &PebsCore) -> Option<String> {
    core.has_stores.then(|| format!("-e {}/mem-stores/P", core.pmu))
}

fn cannot_show(cores: &[PebsCore], is_hybrid: bool) -> Vec<String> {
    let mut list = vec![
        "without --ldlat=3 perf records only loads of 30 cycles and more, so members served by the nearest cache look \
         unread"
            .to_owned(),
    ];
    if cores.iter().all(|core| core.has_stores) {
        list.push(
            "stores are an event of their own with a period of its own: compare loads with stores by period, not by \
             samples; before Sapphire Rapids and Alder Lake a store says only whether it hit the first-level cache"
                .to_owned(),
        );
    } else {
        let without = cores.iter().filter(|core| !core.has_stores).map(|core| core.pmu.as_str());
        list.push(format!(
            "no stores on {}: written members and false sharing stay hidden there",
            without.collect::<Vec<_>>().join(", ")
        ));
    }
    if is_hybrid {
        list.push("latencies and levels differ between kinds of cores; a member's are a mixture".to_owned());
    }
    list
}
