//! The advice that suits a machine.

use super::answer::{Advice, AdviceStep, LOAD};
use super::{ibs, pebs, power, spe, without};
use crate::machine::Machine;
use crate::sampler::Sampler;

impl Advice {
    /// For a machine.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let sampler = Sampler::of(machine);
        let mut advice = match &sampler {
            Sampler::IntelPebs(cores) => pebs::advice(cores),
            Sampler::AmdIbs(ibs) => ibs::advice(ibs),
            Sampler::ArmSpe(pmus) => spe::advice(pmus),
            Sampler::PowerMarked(pmu) => power::advice(pmu),
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
    let cannot_show = vec!["what depends on the machine: the recording doesn't say which it was".to_owned()];
    Advice::records("not recorded".to_owned(), commands, cannot_show)
}
