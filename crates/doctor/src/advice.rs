//! What to type on a machine, and what it can't show.
//!
//! * `answer`: commands and what they are for.
//! * `pmus`: for each PMU that samples memory accesses.
//! * `without`: for machines that can't.

mod answer;
mod pmus;
mod without;

use crate::machine::Machine;
use crate::sampler::Sampler;
use answer::LOAD;
pub use answer::{Advice, AdviceStep};

impl Advice {
    /// For a machine.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let sampler = Sampler::of(machine);
        let mut advice = match &sampler {
            Sampler::IntelPebs(cores) => pmus::pebs(cores),
            Sampler::AmdIbs(ibs) => pmus::ibs(ibs),
            Sampler::ArmSpe(pmus) => pmus::spe(pmus),
            Sampler::PowerMarked(pmu) => pmus::power(pmu),
            Sampler::CountersOnly(pmus) => without::counters(machine, pmus),
            Sampler::TimersOnly => without::timers(machine),
            Sampler::Unknown => unknown(),
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
fn unknown() -> Advice {
    let commands = vec![
        AdviceStep::new(
            format!("perf mem record --ldlat=3 -a {LOAD}"),
            "on Intel, Arm and Power: perf picks the events that suit the machine",
        ),
        AdviceStep::new(format!("perf record -W -d -a -e ibs_op/cnt_ctl=1/ {LOAD}"), "on AMD"),
        AdviceStep::new("fieldline doctor", "on the machine itself says more"),
    ];
    let cannot_show = ["what depends on the machine: the recording doesn't say which it was"];
    Advice::records("not recorded", commands, &cannot_show)
}
