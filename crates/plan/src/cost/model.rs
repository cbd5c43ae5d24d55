//! What a profile says about the visits of one struct.

use crate::cost::Sharing;
use crate::cost::counter::Counter;
use crate::random::{Random, mix};
use crate::result::VisitEvidence;
use crate::visits::draw::{draw, function_classes, mixture_classes};
use crate::visits::enough::Enough;
use crate::visits::source::{self, accesses_of};
use crate::visits::touch::{self, touches};
use crate::visits::{Cells, Class, Corpus, Mixture, Names, ProfileSource, Touch, Visits, sources};
use fieldline_access::AccessProfile;
use fieldline_access::access::{Access, CpuAccess};
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;
use std::collections::BTreeMap;

/// Visits drawn in all.
const DRAWN: usize = 8_192;
/// Visits drawn as if functions ran alone.
const DRAWN_ALONE: usize = 4_096;
/// Fewer windows with several samples can't tell operations apart.
const FEWEST_WINDOWS: f32 = 500.0;

/// Visits of one struct and what they were learnt from.
#[derive(Clone, Debug)]
pub struct Model {
    /// The touched cells.
    pub cells: Cells,
    /// Who touches them.
    pub touches: Vec<Touch>,
    /// All accesses, with offsets into the struct.
    pub accesses: Vec<Access>,
    /// Those by CPU, likewise.
    pub cpus: Vec<CpuAccess>,
    /// Visits by what runs in one go.
    pub together: Visits,
    /// Visits as if each function ran alone.
    pub alone: Visits,
    /// How CPUs take lines from each other, scaled to `together`.
    pub sharing: Sharing,
    /// What the visits rest on.
    pub evidence: VisitEvidence,
    /// Samples of the struct, and how many advice needs.
    pub enough: Enough,
    /// Where objects begin modulo 256, and how many do.
    pub phases: BTreeMap<u64, u64>,
    /// Seed of whatever is drawn further on.
    pub seed: u64,
    /// What runs in one go, if windows tell.
    mixture: Option<Mixture>,
}

impl Model {
    /// Learns the visits of a struct. `line` is the cacheline size of the recorded machine in bytes.
    pub fn new(profile: &AccessProfile, layout: &Layout, constraints: &Constraints, line: u64) -> Self {
        Self::learn(profile, layout, constraints, line, DRAWN_ALONE, None)
    }

    /// Learns visits, so many of functions that run alone. If samples are much the same as those of a known model, what
    /// runs in one go is looked for where it was found before.
    pub(crate) fn learn(
        profile: &AccessProfile,
        layout: &Layout,
        constraints: &Constraints,
        line: u64,
        drawn_alone: usize,
        known: Option<&Self>,
    ) -> Self {
        let known = known.and_then(|known| known.mixture.as_ref());
        let sources = sources(profile, layout);
        let accesses = accesses_of(profile, layout, &sources);
        let cells = Cells::new(layout, constraints, &accesses);
        let names = Names::new(profile);
        let touches = touches(&accesses, &source::words(profile, &accesses, &names), &cells, &names);
        let seed = accesses.iter().fold(layout.fingerprint(), |seed, access| {
            mix(mix(seed ^ access.ip) ^ access.offset ^ access.samples() << 32)
        });
        let alone = function_classes(&touches);
        let mixed = mixture(profile, &names, &touches, seed, known);
        let (mixture, together) = mixed.map_or_else(|| (None, alone.clone()), |of| (Some(of.0), of.1));
        let visits = |classes: &[Class], count: usize, stream: u64| {
            let sets = draw(classes, &touches, count, &mut Random::new(mix(seed ^ stream)));
            Visits::new(cells.len(), sets)
        };
        let (together_visits, alone) =
            rayon::join(|| visits(&together, DRAWN, 1), || visits(&alone, drawn_alone, 3));
        let lost_line = lost_line(&together_visits, &together, &accesses);
        let cpus: Vec<CpuAccess> = source::cpus(profile, &sources, layout.size).collect();
        Self {
            together: together_visits,
            alone,
            sharing: Sharing::new(&cells, &cpus, &accesses, &declared_lines(&cells, line), lost_line),
            evidence: VisitEvidence::new(profile, &names, &touches, &together),
            enough: Enough::of(&accesses),
            phases: phases(profile, &sources),
            cells,
            touches,
            accesses,
            cpus,
            seed,
            mixture,
        }
    }

    /// Lines of `line` bytes that a visit is expected to touch in the declared layout, of an object that begins on one.
    pub fn lines_per_visit(&self, line: u64) -> f64 {
        let counter = Counter::new(&self.together);
        let touched: u64 =
            declared_lines(&self.cells, line).iter().map(|cells| counter.touching(cells)).sum();
        touched as f64 / self.together.total().max(1) as f64
    }

    /// Whether there are enough samples for advice.
    pub fn is_sufficient(&self) -> bool {
        self.enough.is_sufficient() && !self.together.is_empty()
    }
}

/// A mixture, learnt from a known one if there is any, and its classes; nothing if the windows are too few to learn any.
fn mixture(
    profile: &AccessProfile,
    names: &Names,
    touches: &[Touch],
    seed: u64,
    known: Option<&Mixture>,
) -> Option<(Mixture, Vec<Class>)> {
    let mut targets: Vec<_> = touches.iter().flat_map(|touch| touch.words.iter().copied()).collect();
    targets.sort_unstable();
    targets.dedup();
    let corpus = Corpus::new(&profile.windows, names, &targets);
    if corpus.joint_windows() < FEWEST_WINDOWS {
        return None;
    }
    let mixture = match known {
        None => corpus.learn(&targets, &mut Random::new(mix(seed))),
        Some(known) => corpus.learn_from(known),
    };
    let classes = mixture_classes(&corpus, &mixture, touches);
    Some((mixture, classes))
}

/// What a line lost to another CPU costs: one more line in a visit. Accesses by CPU are in samples, visits in draws.
fn lost_line(visits: &Visits, classes: &[Class], accesses: &[Access]) -> f64 {
    let samples: u64 = accesses.iter().map(Access::samples).sum();
    let events: f64 = accesses.iter().map(touch::events).sum();
    let weights: f64 = classes.iter().map(|class| class.weight).sum();
    let visits_in_samples = weights * samples as f64 / events;
    if visits_in_samples > 0.0 { visits.total() as f64 / visits_in_samples } else { 0.0 }
}

/// Cells by the line they begin on as declared.
fn declared_lines(cells: &Cells, line: u64) -> Vec<Vec<u32>> {
    let mut lines: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (number, cell) in (0..).zip(cells.iter()) {
        lines.entry(cell.offset / line.max(1)).or_default().push(number);
    }
    lines.into_values().collect()
}

fn phases(profile: &AccessProfile, sources: &[ProfileSource]) -> BTreeMap<u64, u64> {
    let mut phases: BTreeMap<u64, u64> = BTreeMap::new();
    for source in sources {
        for (phase, objects) in profile.types.get(source.type_index).iter().flat_map(|held| &held.phases) {
            *phases.entry((phase + source.base) % 256).or_default() += objects;
        }
    }
    phases
}
