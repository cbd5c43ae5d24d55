//! Commands for each PMU that samples memory accesses, and the limits of its samples.

use super::commands::{Advice, AdvisedCommand, WORKLOAD};
use crate::sampler::{Ibs, PebsCore};

/// Intel: `mem-loads` and `mem-stores` of the core PMU, one kind of core or several.
///
/// Events: `perf_mem_events_intel` and `perf_mem_events_intel_aux` in
/// `tools/perf/arch/x86/util/mem-events.c`; options as `__cmd_record` of `tools/perf/builtin-mem.c` hands
/// them on (`-W -d`). Thresholds: `MSR_PEBS_LD_LAT_THRESHOLD`, of which 3 is the least (Intel SDM volume 3B,
/// "Load Latency Performance Monitoring Facility"). Fields of stores: `precise_datala_hsw` and
/// `store_latency_data` in `arch/x86/events/intel/ds.c`.
pub(super) fn pebs(cores: &[PebsCore]) -> Advice {
    let is_hybrid = cores.len() > 1 || cores.iter().any(|core| core.pmu != "cpu");
    let kind = |core: &PebsCore| match &core.cpus {
        Some(cpus) => format!("{} (CPUs {cpus})", core.pmu),
        None => core.pmu.clone(),
    };
    let kinds: Vec<String> = cores.iter().map(kind).collect();
    let summary = match is_hybrid {
        true => format!("Intel PEBS on {} kinds of cores: {}", kinds.len(), kinds.join(", ")),
        false => "Intel PEBS".to_owned(),
    };
    // The kernel refuses `mem-loads` alone where there is an auxiliary event (`intel_pmu_hw_config`).
    let loads = |PebsCore { pmu, needs_aux, .. }: &PebsCore| match needs_aux {
        true => format!("-e '{{{pmu}/mem-loads-aux/,{pmu}/mem-loads,ldlat=3/}}:P'"),
        false => format!("-e {pmu}/mem-loads,ldlat=3/P"),
    };
    let (with_stores, without_stores): (Vec<_>, Vec<&PebsCore>) =
        cores.iter().partition(|core| core.has_stores);
    let stores = with_stores.iter().map(|core| format!("-e {}/mem-stores/P", core.pmu));
    let events: Vec<String> = cores.iter().map(loads).chain(stores).collect();
    let purpose =
        "loads from 3 cycles on, which is all of them, and stores, of kernel and programs on all CPUs";
    let in_full = format!("perf record -W -d -a {} {WORKLOAD}", events.join(" "));
    let commands = vec![
        AdvisedCommand::new(format!("perf mem record --ldlat=3 -a {WORKLOAD}"), purpose),
        AdvisedCommand::new(in_full, "the same spelled out"),
    ];
    let stores = if without_stores.is_empty() {
        "stores are an event of their own with a period of its own: compare loads with stores by period, not by samples; \
         before Sapphire Rapids and Alder Lake a store says only whether it hit the first-level cache"
            .to_owned()
    } else {
        let pmus: Vec<&str> = without_stores.iter().map(|core| core.pmu.as_str()).collect();
        format!("no stores on {}: written members and false sharing stay hidden there", pmus.join(", "))
    };
    let mut cannot_show = vec![
        "without --ldlat=3 perf records only loads of 30 cycles and more, so members served by the nearest cache look unread",
        &stores,
    ];
    if is_hybrid {
        cannot_show.push("latencies and levels differ between kinds of cores; a member's are a mixture");
    }
    Advice::with_commands(summary, commands, &cannot_show)
}

/// AMD: instruction based sampling of micro-ops.
///
/// Events and terms: `tools/perf/Documentation/perf-amd-ibs.txt`, `perf_mem_events_amd` in
/// `tools/perf/arch/x86/util/mem-events.c` and, for `ldlat` (128 to 2048 cycles, Linux 6.15, Zen 5; it
/// implies `l3missonly` there) and `swfilt` (Linux 6.14), `arch/x86/events/amd/ibs.c`. Fields of samples:
/// `perf_ibs_get_mem_lvl` and `perf_ibs_get_mem_snoop` there: data sources beyond L2 are of loads alone,
/// latencies are those of loads that missed L1.
pub(super) fn ibs(ibs: &Ibs) -> Advice {
    let by_ops = AdvisedCommand::new(
        format!("perf record -W -d -a -e ibs_op/cnt_ctl=1/ {WORKLOAD}"),
        "every so many micro-ops, so that each access is as likely as any other, of kernel and programs on all CPUs",
    );
    let by_cycles = |purpose| AdvisedCommand::new(format!("perf mem record -a {WORKLOAD}"), purpose);
    let commands = match ibs.counts_ops {
        Some(false) => vec![by_cycles("every so many cycles, of kernel and programs on all CPUs")],
        _ => vec![
            by_ops,
            by_cycles("or, every so many cycles, which prefers slow ones (needs perf 6.1 or newer)"),
        ],
    };
    let mut cannot_show = vec![
        "IBS can't pick loads and stores: most samples are of instructions that touch no memory, so record several times as \
         long, or more often (-F)",
        "a store says whether L1 or L2 had the line, and nothing beyond; latencies are those of loads that missed L1",
    ];
    if ibs.tells_modified == Some(false) {
        cannot_show.push(
            "on this processor (Zen 3) loads don't say that another core had modified the line (HITM), so false sharing shows \
             by the CPUs that touch a member alone",
        );
    }
    if ibs.has_l3_filter != Some(false) {
        cannot_show.push(
            "leave out l3missonly=1 (Zen 4 and newer): with it only accesses that missed L3 are sampled, and members served by \
             caches look untouched",
        );
    }
    if ibs.has_latency_filter == Some(true) {
        cannot_show.push(
            "leave out ldlat= (128 to 2048 cycles): with it only slow loads that missed L3 are sampled, and no stores",
        );
    }
    cannot_show.push(match ibs.has_mode_filter {
        Some(true) => {
            "kernel or user code alone (:k, :u) needs the term swfilt=1, by which the kernel drops samples after they were \
             taken"
        }
        _ => "kernel or user code alone (:k, :u) can't be sampled: IBS has no such filter",
    });
    Advice::with_commands("AMD instruction based sampling (IBS)", commands, &cannot_show)
}

/// Arm: the statistical profiling extension, a hardware trace that perf makes samples of afterwards. There is
/// a PMU for each kind of core.
///
/// Terms: `drivers/perf/arm_spe_pmu.c` and `tools/perf/Documentation/perf-arm-spe.txt`; `min_latency` of 0
/// filters nothing, while `perf mem record` asks for 30 (`perf_mem_events_arm`). One sample an access:
/// `--itrace=i1i`, by `arm_spe__synth_instruction_sample` in `tools/perf/util/arm-spe.c`. Fields of stores
/// and of other cores: `arm_spe__synth_data_source_common` and `_generic` there.
pub(super) fn spe(pmus: &[String]) -> Advice {
    let event = |pmu: &String| format!("-e {pmu}/ts_enable=1,load_filter=1,store_filter=1/");
    let events: Vec<String> = pmus.iter().map(event).collect();
    let commands = vec![
        AdvisedCommand::new(
            format!("perf record -a {} {WORKLOAD}", events.join(" ")),
            "a trace of sampled loads and stores without a latency threshold, of kernel and programs on all CPUs",
        ),
        AdvisedCommand::new(
            "perf inject --itrace=i1i -i perf.data -o samples.perf.data",
            "makes one sample of each traced access; without i1i an access counts once for each cache and TLB it met",
        ),
        AdvisedCommand::new(
            "perf report --mem-mode -i samples.perf.data",
            "or looks at them with perf itself; `fieldline profile` reads samples.perf.data",
        ),
    ];
    let cannot_show = [
        "`perf mem record` asks for min_latency=30, which hides accesses of the nearest cache; --ldlat=0 turns that off",
        "a store doesn't say where it was served; a load says so on cores whose codes perf knows (Neoverse), else only \
         whether it missed L1 or the last level",
        "latencies count from where the instruction was chosen, waiting included",
        "samples that meet another one in flight are dropped; the event sample_collision counts them",
    ];
    Advice::with_commands("Arm Statistical Profiling Extension (SPE)", commands, &cannot_show)
}

/// Power: marked loads and stores.
///
/// Events: `perf_mem_events_power` in `tools/perf/arch/powerpc/util/mem-events.c`, `MEM_LOADS` and
/// `MEM_STORES` of `arch/powerpc/perf/power9-events-list.h` and `power10-events-list.h`. Fields of samples:
/// `isa207_get_mem_data_src` and `isa207_get_mem_weight` in `arch/powerpc/perf/isa207-common.c`.
pub(super) fn power(pmu: &str) -> Advice {
    let commands = vec![
        AdvisedCommand::new(
            format!("perf mem record -a {WORKLOAD}"),
            "loads and stores, of kernel and programs on all CPUs; there is no latency threshold to lower",
        ),
        AdvisedCommand::new(
            format!("perf record -W -d -a -e {pmu}/mem-loads/ -e {pmu}/mem-stores/ {WORKLOAD}"),
            "the same spelled out",
        ),
    ];
    let cannot_show = [
        "latencies are a mantissa times a power of four, so long ones are rough",
        "samples of instructions that were neither a load nor a store when they finished have no data source",
    ];
    Advice::with_commands("Power's marked loads and stores", commands, &cannot_show)
}
