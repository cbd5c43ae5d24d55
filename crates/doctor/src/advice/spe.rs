//! Arm: the statistical profiling extension, a hardware trace that perf makes samples of afterwards.
//!
//! Terms: `drivers/perf/arm_spe_pmu.c` and `tools/perf/Documentation/perf-arm-spe.txt`; `min_latency` of 0 filters nothing,
//! while `perf mem record` asks for 30 (`perf_mem_events_arm`). One sample an access: `--itrace=i1i`, by
//! `arm_spe__synth_instruction_sample` in `tools/perf/util/arm-spe.c`. What stores and other cores tell:
//! `arm_spe__synth_data_source_common` and `_generic` there.

use super::answer::{Advice, AdviceStep, LOAD};

/// Advice for these PMUs, one for each kind of core.
pub(super) fn advice(pmus: &[String]) -> Advice {
    let event = |pmu: &String| format!("-e {pmu}/ts_enable=1,load_filter=1,store_filter=1/");
    let events: Vec<String> = pmus.iter().map(event).collect();
    let commands = vec![
        AdviceStep::new(
            format!("perf record -a {} {LOAD}", events.join(" ")),
            "a trace of sampled loads and stores without a latency threshold, of kernel and programs on all CPUs",
        ),
        AdviceStep::new(
            "perf inject --itrace=i1i -i perf.data -o samples.perf.data",
            "makes one sample of each traced access; without i1i an access counts once for each cache and TLB it met",
        ),
        AdviceStep::new(
            "perf report --mem-mode -i samples.perf.data",
            "or looks at them with perf itself; `fieldline profile` reads samples.perf.data",
        ),
    ];
    let cannot_show = vec![
        "`perf mem record` asks for min_latency=30, which hides accesses of the nearest cache; --ldlat=0 turns that off"
            .to_owned(),
        "a store doesn't say where it was served; a load says so on cores whose codes perf knows (Neoverse), else only \
         whether it missed L1 or the last level"
            .to_owned(),
        "latencies count from where the instruction was chosen, waiting included".to_owned(),
        "samples that meet another one in flight are dropped; the event sample_collision counts them".to_owned(),
    ];
    Advice::records("Arm Statistical Profiling Extension (SPE)".to_owned(), commands, cannot_show)
}
