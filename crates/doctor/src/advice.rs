//! Commands to record with on a machine, and the limits of such recordings.
//!
//! * `commands`: commands and their purposes.
//! * `pmus`: for each PMU that samples memory accesses.
//! * `no_sampling`: for machines that can't.

mod commands;
mod no_sampling;
mod pmus;

use crate::machine::Machine;
use crate::sampler::Sampler;
use commands::WORKLOAD;
pub use commands::{Advice, AdvisedCommand};

impl Advice {
    /// For a machine.
    #[must_use]
    pub fn for_machine(machine: &Machine) -> Self {
        let sampler = Sampler::for_machine(machine);
        let mut advice = match &sampler {
            Sampler::IntelPebs(cores) => pmus::pebs(cores),
            Sampler::AmdIbs(ibs) => pmus::ibs(ibs),
            Sampler::ArmSpe(pmus) => pmus::spe(pmus),
            Sampler::PowerMarked(pmu) => pmus::power(pmu),
            Sampler::CountersOnly(pmus) => no_sampling::counter_advice(machine, pmus),
            Sampler::TimersOnly => no_sampling::timer_advice(machine),
            Sampler::Unknown => advice_without_machine(),
        };
        if machine.pmus.is_none() && sampler != Sampler::Unknown {
            advice.summary +=
                " (by its processor; which PMUs it had is not recorded, and a virtual machine may have none)";
        }
        advice.sampler = sampler;
        advice
    }
}

/// Where a recording keeps silent about its machine.
fn advice_without_machine() -> Advice {
    let commands = vec![
        AdvisedCommand::new(
            format!("perf mem record --ldlat=3 -a {WORKLOAD}"),
            "on Intel, Arm and Power: perf picks the events that suit the machine",
        ),
        AdvisedCommand::new(format!("perf record -W -d -a -e ibs_op/cnt_ctl=1/ {WORKLOAD}"), "on AMD"),
        AdvisedCommand::new("fieldline doctor", "on the machine itself says more"),
    ];
    let cannot_show = ["what depends on the machine: the recording doesn't say which it was"];
    Advice::with_commands("not recorded", commands, &cannot_show)
}
