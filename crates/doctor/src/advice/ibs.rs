//! AMD: instruction based sampling of micro-ops.
//!
//! Events and terms: `tools/perf/Documentation/perf-amd-ibs.txt`, `perf_mem_events_amd` in
//! `tools/perf/arch/x86/util/mem-events.c` and, for `ldlat` (128 to 2048 cycles, Linux 6.15, Zen 5; it implies
//! `l3missonly` there) and `swfilt` (Linux 6.14), `arch/x86/events/amd/ibs.c`. What samples tell:
//! `perf_ibs_get_mem_lvl` and `perf_ibs_get_mem_snoop` there: data sources beyond L2 are of loads alone, latencies are those of
//! loads that missed L1.

use super::answer::{Advice, AdviceStep, LOAD};
use crate::sampler::Ibs;

/// Advice for IBS that can do this.
pub(super) fn advice(ibs: &Ibs) -> Advice {
    let by_ops = AdviceStep::new(
        format!("perf record -W -d -a -e ibs_op/cnt_ctl=1/ {LOAD}"),
        "every so many micro-ops, so that each access is as likely as any other, of kernel and programs on all CPUs",
    );
    let by_cycles = |purpose: &str| AdviceStep::new(format!("perf mem record -a {LOAD}"), purpose);
    let commands = match ibs.counts_ops {
        Some(false) => vec![by_cycles("every so many cycles, of kernel and programs on all CPUs")],
        _ => vec![
            by_ops,
            by_cycles("or, every so many cycles, which prefers what waits (needs perf 6.1 or newer)"),
        ],
    };
    Advice::records("AMD instruction based sampling (IBS)".to_owned(), commands, cannot_show(ibs))
}

fn cannot_show(ibs: &Ibs) -> Vec<String> {
    let mut list = vec![
        "IBS can't pick loads and stores: most samples are of instructions that touch no memory, so record several times as \
         long, or more often (-F)"
            .to_owned(),
        "a store says whether L1 or L2 had the line, and nothing beyond; latencies are those of loads that missed L1"
            .to_owned(),
    ];
    if ibs.tells_modified == Some(false) {
        list.push(
            "on this processor (Zen 3) loads don't say that another core had modified the line (HITM), so false sharing \
             shows by the CPUs that touch a member alone"
                .to_owned(),
        );
    }
    if ibs.has_l3_filter != Some(false) {
        list.push(
            "leave out l3missonly=1 (Zen 4 and newer): with it only accesses that missed L3 are sampled, and members served \
             by caches look untouched"
                .to_owned(),
        );
    }
    if ibs.has_latency_filter == Some(true) {
        list.push(
            "leave out ldlat= (128 to 2048 cycles): with it only slow loads that missed L3 are sampled, and no stores"
                .to_owned(),
        );
    }
    list.push(match ibs.has_mode_filter {
        Some(true) => {
            "kernel or user code alone (:k, :u) needs the term swfilt=1, by which the kernel drops samples after they were \
             taken"
                .to_owned()
        }
        _ => "kernel or user code alone (:k, :u) can't be sampled: IBS has no such filter".to_owned(),
    });
    list
}
