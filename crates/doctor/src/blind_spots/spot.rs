//! One thing that a recording cannot show, in words.

use std::fmt;

/// Something a recording cannot show. Displays as a sentence; [`BlindSpot::remedy`] says what to do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BlindSpot {
    /// There are no samples at all.
    NoSamples,
    /// `perf record` did not come to its end, so the features are missing.
    Unfinished,
    /// A timer takes the samples, and timers wait while interrupts are off.
    ClockEvent {
        /// The event.
        event: String,
    },
    /// Loads faster than so many cycles were not sampled.
    LoadThreshold {
        /// The event.
        event: String,
        /// The threshold asked for, or the smallest latency seen.
        cycles: u64,
        /// It was asked for, rather than concluded from the loads.
        is_asked_for: bool,
    },
    /// Samples have no data addresses.
    NoAddresses {
        /// The event.
        event: String,
        /// The event asked for addresses and the hardware gave none.
        asked_for: bool,
    },
    /// Samples do not say where accesses were served.
    NoDataSource {
        /// The event.
        event: String,
    },
    /// Samples name no access; those are counted that ran between the branches of their stacks.
    BranchRuns {
        /// The event.
        event: String,
        /// Samples with a branch stack.
        stacks: u64,
        /// Runs of instructions in them.
        runs: u64,
    },
    /// Branch stacks list some branches only.
    FilteredBranches {
        /// The event.
        event: String,
        /// Which, in the words of `perf record -j`.
        filter: String,
    },
    /// Branch stacks show no runs of instructions.
    NoBranches {
        /// The event.
        event: String,
    },
    /// Instruction pointers lag behind the instruction that caused the event.
    Skid {
        /// The event.
        event: String,
    },
    /// Samples lack a field that visits are told by.
    NoField {
        /// The event.
        event: String,
        /// `time`, `cpu` or `tid`.
        field: &'static str,
    },
    /// No sample is of kernel code.
    NoKernelCode {
        /// The events exclude it, rather than not having met it.
        is_excluded: bool,
    },
    /// No sample is of user code.
    NoUserCode {
        /// The events exclude it, rather than not having met it.
        is_excluded: bool,
    },
    /// Samples are of guests, whose kernels and programs are not the recorded machine's.
    Guests {
        /// Share of all samples.
        share: f64,
    },
    /// No store was sampled though loads were.
    NoStores,
    /// No load was sampled though stores were.
    NoLoads,
    /// Records or samples were lost.
    Lost {
        /// Records that did not fit the buffer, or samples, whichever is more: they overlap.
        count: u64,
        /// Share of what would have been.
        share: f64,
    },
    /// The kernel paused events because they took too much time.
    Throttled {
        /// How often.
        times: u64,
    },
    /// Hardware trace data has to be made into samples first.
    AuxTrace {
        /// Bytes of it.
        bytes: u64,
    },
    /// Samples belong to events that the recording does not describe.
    UnknownEvents {
        /// How many.
        samples: u64,
    },
}

impl BlindSpot {
    /// A word for files and tests; it does not change.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::NoSamples => "no-samples",
            Self::Unfinished => "unfinished",
            Self::ClockEvent { .. } => "clock-event",
            Self::LoadThreshold { .. } => "load-threshold",
            Self::NoAddresses { .. } => "no-addresses",
            Self::NoDataSource { .. } => "no-data-source",
            Self::BranchRuns { .. } => "branch-runs",
            Self::FilteredBranches { .. } => "filtered-branches",
            Self::NoBranches { .. } => "no-branches",
            Self::Skid { .. } => "skid",
            Self::NoField { .. } => "no-field",
            Self::NoKernelCode { .. } => "no-kernel-code",
            Self::NoUserCode { .. } => "no-user-code",
            Self::Guests { .. } => "guests",
            Self::NoStores => "no-stores",
            Self::NoLoads => "no-loads",
            Self::Lost { .. } => "lost",
            Self::Throttled { .. } => "throttled",
            Self::AuxTrace { .. } => "aux-trace",
            Self::UnknownEvents { .. } => "unknown-events",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoSamples => "record longer, or an event that occurs: perf mem record -a -- sleep 10",
            Self::Unfinished => "stop perf record with Ctrl-C or SIGINT and let it finish writing",
            Self::ClockEvent { .. } => {
                "record memory accesses by a hardware event: perf mem record -a (Intel, Arm, PowerPC), \
                 perf record -e ibs_op// -a (AMD); virtual machines rarely offer one"
            }
            Self::LoadThreshold { .. } => {
                "lower the threshold, and do not compare loads with stores: perf mem record --ldlat=3 -a"
            }
            Self::NoAddresses { asked_for: false, .. } => "record with -d, or by perf mem record",
            Self::NoAddresses { asked_for: true, .. } => {
                "record an event whose hardware knows addresses, by perf mem record"
            }
            Self::NoDataSource { .. } => "record with --data and -W, or by perf mem record",
            Self::BranchRuns { .. } => {
                "for what is missing record memory accesses besides, such as by perf mem record; profiles of both can be \
                 merged"
            }
            Self::FilteredBranches { .. } => "record all branches: perf record -b, which is -j any",
            Self::NoBranches { .. } => {
                "record where the processor keeps branches (/sys/bus/event_source/devices/cpu/caps/branches), which few \
                 virtual machines show"
            }
            Self::Skid { .. } => "add the modifier P to the event, as in -e instructions:P",
            Self::NoField { .. } => "record with -T --sample-cpu and without --no-samples",
            Self::NoKernelCode { is_excluded: true } => "record without the modifier u, as root",
            Self::NoKernelCode { is_excluded: false } => {
                "record a load that enters the kernel, as root, with kernel.perf_event_paranoid at 1 or less"
            }
            Self::NoUserCode { is_excluded: true } => "record without the modifier k",
            Self::NoUserCode { is_excluded: false } => "record while programs run",
            Self::Guests { .. } => "record inside the guest, with the guest's vmlinux at hand",
            Self::NoStores => "record stores too: perf mem record records both, -t load only loads",
            Self::NoLoads => "record loads too: perf mem record records both, -t store only stores",
            Self::Lost { .. } => "enlarge the buffer (-m 16M), or sample less often (-c, -F)",
            Self::Throttled { .. } => {
                "sample less often (-c, -F), or raise kernel.perf_event_max_sample_rate and \
                 kernel.perf_cpu_time_max_percent"
            }
            Self::AuxTrace { .. } => {
                "make samples of the trace: perf inject --itrace=i1i -i perf.data -o samples.perf.data"
            }
            Self::UnknownEvents { .. } => "record anew; the file was put together from others or is damaged",
        }
    }
}

impl fmt::Display for BlindSpot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSamples => write!(f, "the recording has no samples"),
            Self::Unfinished => write!(
                f,
                "perf record did not finish: names, build ids and the machine's description are missing"
            ),
            Self::ClockEvent { event } => write!(
                f,
                "{event} samples by a timer, which waits while interrupts are off: code under spinlocks with \
                 interrupts off, most of the scheduler among it, is invisible, and its time is charged to \
                 the place that turns them on again"
            ),
            Self::LoadThreshold { event, cycles, is_asked_for } => {
                threshold(f, event, *cycles, *is_asked_for)
            }
            Self::NoAddresses { event, asked_for: false } => {
                write!(
                    f,
                    "samples of {event} have no data address, so objects and visits cannot be told apart"
                )
            }
            Self::NoAddresses { event, asked_for: true } => {
                write!(f, "{event} asked for data addresses and the hardware gave none")
            }
            Self::NoDataSource { event } => write!(
                f,
                "samples of {event} do not say where accesses were served: no cache levels, no HITM"
            ),
            Self::BranchRuns { event, stacks, runs } => write!(
                f,
                "samples of {event} name no access: counted is what ran between the branches of {stacks} stacks, in {runs} \
                 runs of instructions. They can't show which object was touched, so no false sharing, nor caches and latencies"
            ),
            Self::FilteredBranches { event, filter } => filtered(f, event, filter),
            Self::NoBranches { event } => {
                write!(
                    f,
                    "the branch stacks of {event} are empty or broken, so no sample tells more than its own place"
                )
            }
            Self::Skid { event } => write!(
                f,
                "{event} is not precise: its samples name an instruction after the one that touched memory"
            ),
            Self::NoField { event, field } => {
                write!(f, "samples of {event} have no {field}, so accesses cannot be joined to visits")
            }
            Self::NoKernelCode { is_excluded: true } => write!(f, "kernel code was excluded"),
            Self::NoKernelCode { is_excluded: false } => write!(f, "no sample is of kernel code"),
            Self::NoUserCode { is_excluded: true } => write!(f, "user code was excluded"),
            Self::NoUserCode { is_excluded: false } => write!(f, "no sample is of user code"),
            Self::Guests { share } => write!(
                f,
                "{:.1} % of the samples are of guests, whose kernels are not the recorded machine's",
                100.0 * share
            ),
            Self::NoStores => {
                write!(f, "no store was sampled: written members and false sharing stay hidden")
            }
            Self::NoLoads => write!(f, "no load was sampled: members that are only read stay hidden"),
            Self::Lost { count, share } => {
                write!(f, "{count} samples were lost ({:.1} %), more in busy moments", 100.0 * share)
            }
            Self::Throttled { times } => {
                write!(f, "the kernel paused sampling {times} times: busy moments are under-represented")
            }
            Self::AuxTrace { bytes } => {
                write!(f, "{bytes} bytes of hardware trace are not samples yet and were not read")
            }
            Self::UnknownEvents { samples } => {
                write!(f, "{samples} samples belong to events that the recording does not describe")
            }
        }
    }
}

/// What a threshold hides, asked for or seen.
fn threshold(f: &mut fmt::Formatter<'_>, event: &str, cycles: u64, is_asked_for: bool) -> fmt::Result {
    if is_asked_for {
        return write!(
            f,
            "{event} samples only loads that take {cycles} cycles or more: members that hit the first-level cache look \
             unread"
        );
    }
    write!(
        f,
        "no load of {event} took fewer than {cycles} cycles or hit the first-level cache: a threshold hides the fast ones"
    )
}

/// What a filter of branches hides.
fn filtered(f: &mut fmt::Formatter<'_>, event: &str, filter: &str) -> fmt::Result {
    let filter = if filter.is_empty() { "an unknown filter" } else { filter };
    write!(
        f,
        "the branch stacks of {event} leave out branches ({filter}), so they don't tell what ran between two of them, and \
         are not counted"
    )
}
