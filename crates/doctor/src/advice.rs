//! What to type on a machine, and what it can't show.
//!
//! * `pebs`, `ibs`, `spe`, `power`: one each for what samples memory accesses.
//! * `without`: for machines that can't.

mod ibs;
mod pebs;
mod power;
mod spe;
mod without;

use crate::machine::Machine;
use crate::sampler::Sampler;
use serde::Serialize;

/// What is recorded while.
const LOAD: &str = "-- sleep 10";

/// What to do on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// What it samples memory accesses by.
    pub sampler: Sampler,
    /// That in words.
    pub summary: String,
    /// It can record what fieldline needs.
    pub can_answer: bool,
    /// What to type, in this order; alternatives say so.
    pub commands: Vec<Step>,
    /// What to do where no command would answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// What such recordings can't show.
    pub cannot_show: Vec<String>,
}

/// A command and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// As typed, by root.
    pub command: String,
    /// What it does.
    pub purpose: String,
}

impl Step {
    fn new(command: impl Into<String>, purpose: impl Into<String>) -> Self {
        Self { command: command.into(), purpose: purpose.into() }
    }
}

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

    /// Commands that record accesses; the sampler is filled in by [`Advice::of`].
    fn records(summary: String, commands: Vec<Step>, cannot_show: Vec<String>) -> Self {
        let sampler = Sampler::TimersOnly;
        Self { sampler, summary, can_answer: true, commands, instead: Vec::new(), cannot_show }
    }

    /// The command that records, if the machine can.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.commands.first().filter(|_| self.can_answer).map(|step| step.command.as_str())
    }

    /// The same with more options.
    #[must_use]
    pub fn command_with(&self, options: &str) -> Option<String> {
        self.command().map(|command| command.replacen(" -a ", &format!(" -a {options} "), 1))
    }

    /// The same for so many seconds.
    #[must_use]
    pub fn command_for(&self, seconds: u64) -> Option<String> {
        self.command().map(|command| command.replace(LOAD, &format!("-- sleep {seconds}")))
    }
}

/// Where a recording keeps silent about its machine.
fn unknown() -> Advice {
    let commands = vec![
        Step::new(
            format!("perf mem record --ldlat=3 -a {LOAD}"),
            "on Intel, Arm and Power: perf picks the events that suit the machine",
        ),
        Step::new(format!("perf record -W -d -a -e ibs_op/cnt_ctl=1/ {LOAD}"), "on AMD"),
        Step::new("fieldline doctor", "on the machine itself says more"),
    ];
    let cannot_show = vec!["what depends on the machine: the recording doesn't say which it was".to_owned()];
    Advice::records("not recorded".to_owned(), commands, cannot_show)
}
