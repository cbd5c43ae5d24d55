//! What is asked for.

use crate::cost::Elsewhere;
use fieldline_layout::Layout;
use fieldline_layout::constraint::Wishes;

/// What is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Line sizes in bytes, powers of two.
    pub lines: Vec<u64>,
    /// Line size in bytes of the machine that the layouts were compiled for.
    pub build_line: u64,
    /// Which candidate is proposed.
    pub choice: Choice,
    /// Most members that move.
    pub max_moves: Option<usize>,
    /// How often the whole is done again on resamples of the time, to see what of the advice is chance; 0: not at all.
    pub resamples: usize,
    /// Whether the machine fetches lines in pairs (x86's spatial prefetcher): members on one pair then help each other
    /// and disturb each other, by less than on one line.
    pub adjacent_lines: bool,
    /// Other builds in which no order may be worse than the declared one.
    pub elsewhere: Vec<Elsewhere>,
    /// Size of a pointer in bytes on the recorded machine.
    pub pointer: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            lines: vec![64, 128],
            build_line: 64,
            choice: Choice::Best,
            max_moves: None,
            resamples: 0,
            adjacent_lines: false,
            elsewhere: Vec::new(),
            pointer: 8,
        }
    }
}

/// A struct to plan.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its declared layout, the one the profile was made with.
    pub layout: &'a Layout,
    /// What the source and the user say.
    pub wishes: &'a Wishes,
}

/// Which candidate is proposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The one that costs least.
    #[default]
    Best,
    /// The one from which on each further moved member brings less than the mean (the knee of the front).
    Smallest,
    /// By its number, from 1 on.
    Number(usize),
}
