//! A made-up program whose every access is known, sampled thinly: the visits learnt from the samples touch as
//! many lines as the real ones.

use fieldline_access::AccessProfile;
use fieldline_access::access::{Access, TypeProfile, Window};
use fieldline_layout::constraint::{PlacementRequests, constraints};
use fieldline_layout::{Layout, Member};
use fieldline_plan::cost::VisitModel;
use fieldline_plan::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a line, and words on it.
const LINE: u64 = 64;
const WORDS: u64 = 8;
/// Longest window in samples, as recordings are cut.
const WINDOW: usize = 8;
/// Functions by what they touch.
const HEAD: u32 = 0;
const TAIL: u32 = 1;
const WALK: u32 = 2;
const AGE: u32 = 3;
const PICK: u32 = 4;
const LOCK: u32 = 5;
const TIMER: u32 = 6;
const BALANCE: u32 = 7;

/// An access: function, and the word of the struct if it is to one.
type TraceStep = (u32, Option<u64>);

/// Steps of one CPU, and what each visit touched.
#[derive(Default)]
struct Trace {
    steps: Vec<TraceStep>,
    visits: Vec<BTreeSet<u64>>,
}

impl Trace {
    /// A function runs on the object of the visit that goes on: some of its own business, then the words.
    fn run(&mut self, function: u32, words: &[u64]) {
        self.steps.extend(std::iter::repeat_n((function, None), 12));
        self.steps.extend(words.iter().map(|word| (function, Some(*word))));
        let visit = self.visits.last_mut().unwrap();
        visit.extend(words);
    }

    fn visit(&mut self) {
        self.visits.push(BTreeSet::new());
    }

    fn other(&mut self, function: u32, steps: usize) {
        self.steps.extend(std::iter::repeat_n((function, None), steps));
    }

    /// One operation: adding to a queue touches one object with three functions, some words only now and
    /// then; a timer walks over many objects with one function; balancing does so with two; picking looks at
    /// one object.
    fn operation(&mut self, random: &mut Random) {
        match random.below(4) {
            0 => {
                self.visit();
                self.other(LOCK, 60);
                self.run(HEAD, &[0, 1, 9, 10]);
                let rare: &[u64] = if random.below(2) == 0 { &[16, 17, 24] } else { &[16] };
                self.run(TAIL, rare);
                self.run(AGE, &[32, 33, 40]);
            }
            1 => {
                self.other(TIMER, 80);
                for _ in 0..8 {
                    self.visit();
                    self.run(WALK, &[24, 25, 26]);
                }
            }
            2 => {
                self.other(BALANCE, 80);
                for _ in 0..5 {
                    self.visit();
                    self.run(AGE, &[32, 33, 40]);
                    self.run(TAIL, &[16, 17]);
                }
            }
            _ => {
                self.visit();
                self.other(LOCK, 30);
                self.run(PICK, &[2, 3, 8]);
            }
        }
    }

    fn new(operations: usize) -> Self {
        let mut trace = Self::default();
        let mut random = Random::new(11);
        for _ in 0..operations {
            trace.operation(&mut random);
        }
        trace
    }

    /// Every so many-th access, in windows.
    fn sampled(&self, period: usize) -> AccessProfile {
        let samples: Vec<TraceStep> = self.steps.iter().copied().step_by(period).collect();
        let mut accesses: BTreeMap<(u32, u64), Access> = BTreeMap::new();
        for (function, word) in &samples {
            let Some(word) = word else { continue };
            let access = accesses.entry((*function, *word)).or_insert_with(|| Access {
                ip: u64::from(*function) * 1000 + word,
                function: *function,
                offset: word * 8,
                size: 8,
                ..Access::default()
            });
            access.loads.add_sample(period as u64);
        }
        let word = |(function, word): &TraceStep| (if word.is_some() { 0 } else { -1 }, *function);
        let windows = samples.chunks(WINDOW).map(|window| {
            let mut entries: Vec<(i32, u32)> = window.iter().map(word).collect();
            entries.sort_unstable();
            Window { entries, count: 1, blocks: vec![] }
        });
        let mut profile = AccessProfile::empty();
        profile.windows = windows.collect();
        profile.functions = (0..8).map(|function| format!("function{function}")).collect();
        profile.types = vec![TypeProfile {
            name: "thing".to_owned(),
            size: 6 * LINE,
            accesses: accesses.into_values().collect(),
            ..TypeProfile::default()
        }];
        profile
    }

    fn lines_per_visit(&self) -> f64 {
        let lines =
            |visit: &BTreeSet<u64>| visit.iter().map(|word| word / WORDS).collect::<BTreeSet<u64>>().len();
        let all: usize = self.visits.iter().map(lines).sum();
        all as f64 / self.visits.len() as f64
    }
}

/// Six lines of eight words each.
fn layout() -> Layout {
    let members = (0..6 * WORDS).map(|word| {
        let text = format!(
            r#"{{"name":"w{word}","type_name":"u64","bit_offset":{},"bit_size":64,"align":8}}"#,
            word * 64
        );
        serde_json::from_str::<Member>(&text).unwrap()
    });
    let empty = r#"{"kind":"struct","name":"thing","size":0,"align":8,"members":[],"items":[]}"#;
    let empty: Layout = serde_json::from_str(empty).unwrap();
    Layout::from_members(&empty, members.collect(), 6 * LINE)
}

fn estimate(profile: &AccessProfile) -> (VisitModel, f64) {
    let layout = layout();
    let constraints = constraints(&layout, &PlacementRequests::default()).unwrap();
    let model = VisitModel::new(profile, &layout, &constraints, LINE);
    let lines = model.lines_per_visit(LINE);
    (model, lines)
}

#[test]
fn visits_from_thin_samples_touch_as_many_lines_as_the_real_ones() {
    let trace = Trace::new(30_000);
    let truth = trace.lines_per_visit();
    // Thinner samples make windows span several operations, and nothing separates those any more.
    for period in [17, 31] {
        let (_, lines) = estimate(&trace.sampled(period));
        assert!((lines - truth).abs() <= 0.15 * truth, "period {period}: {lines} for {truth}");
    }
}

#[test]
fn evidence_counts_what_the_visits_were_learnt_from() {
    let profile = Trace::new(10_000).sampled(31);
    let (model, _) = estimate(&profile);
    let evidence = &model.evidence;
    assert_eq!(evidence.samples, profile.types[0].samples());
    assert_eq!(evidence.functions, 5);
    let holding =
        profile.windows.iter().filter(|window| window.entries.iter().any(|word| word.0 >= 0)).count();
    assert_eq!(evidence.windows, holding as u64);
    let shares: f64 = evidence.patterns.iter().map(|class| class.share).sum();
    assert!((shares - 1.0).abs() < 0.01, "{shares}");
    let samples: f64 = evidence.patterns.iter().map(|class| class.samples).sum();
    assert!((samples - evidence.samples as f64).abs() < 0.01 * samples, "{samples}");
}

#[test]
fn a_struct_held_by_another_is_counted_once() {
    let trace = Trace::new(10_000);
    let mut profile = trace.sampled(31);
    let (_, alone) = estimate(&profile);
    // The holder has the thing at its start; the code speaks of the holder in every other window.
    let mut holder = profile.types[0].clone();
    holder.name = "zholder".to_owned();
    holder.size = 1024;
    let held = r#"{"name":"t","type_name":"struct thing","bit_offset":0,"bit_size":3072,"align":8}"#;
    holder.layout = Some(Layout::from_members(&layout(), vec![serde_json::from_str(held).unwrap()], 1024));
    profile.types.push(holder);
    for window in profile.windows.iter_mut().step_by(2) {
        for word in window.entries.iter_mut().filter(|word| word.0 == 0) {
            word.0 = 1;
        }
        window.entries.sort_unstable();
    }
    let (model, both) = estimate(&profile);
    assert_eq!(model.sufficiency.have, profile.types[0].samples());
    assert!((both - alone).abs() <= 0.1 * alone, "{both} for {alone}");
}
