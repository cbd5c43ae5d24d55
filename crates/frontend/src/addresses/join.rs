//! All units' facts as demands.

use super::facts::{CodePlace, Departure, End, Origin, Passage, State, UnitFlows};
use super::judge::{Address, Judge, Through};
use super::merged::{Merged, TypeNumber};
use super::names;
use crate::demand::CodeUse;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Most times an address is read from memory on its way.
const DEEPEST: u8 = 3;

/// Most distances that an address is told apart by at one place: code that moves it on again and again is a walk.
const MOST_STATES: usize = 4;

/// Demands of addresses on the subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// By file and line, each once.
    pub uses: Vec<CodeUse>,
    /// Functions that subjects' addresses are handed to and that no unit has the body of.
    pub unread: BTreeSet<String>,
    /// Functions that are called through pointers with subjects' addresses: how many parameters, and which.
    pub callbacks: BTreeSet<(usize, usize)>,
    /// Functions without a body that are given a subject's address as what it is: the subject, and where.
    pub given: BTreeMap<String, Vec<CodeUse>>,
}

/// The demands that follow from the facts of all units of a program.
pub fn demands(units: &[&UnitFlows]) -> Demands {
    let merged = Merged::new(units);
    let join = Join::new(units, &merged);
    let mut found = Demands::default();
    let mut seen = Seen::default();
    for (unit, flows) in units.iter().enumerate() {
        for departure in &flows.departures {
            join.follow(unit, departure, &mut seen, &mut found);
        }
        for (function, shape, place) in &flows.given {
            let ty = merged.number(unit, *shape);
            let uses = merged
                .subjects(ty)
                .map(|(subject, ..)| place.used(subject, crate::Demand::Whole, String::new()));
            found.given.entry(function.clone()).or_default().extend(uses);
        }
    }
    join.take(&mut seen, &mut found);
    add_symbols(units, &merged, &mut found);
    found.uses.sort_unstable();
    found.uses.dedup();
    found
}

/// A variable that units declare with different types is seen through both.
fn add_symbols(units: &[&UnitFlows], merged: &Merged, found: &mut Demands) {
    let mut known: BTreeMap<&str, TypeNumber> = BTreeMap::new();
    for (unit, flows) in units.iter().enumerate() {
        for (symbol, shape, place) in &flows.symbols {
            let ty = merged.number(unit, *shape);
            let other = *known.entry(symbol).or_insert(ty);
            if other == ty {
                continue;
            }
            for (subject, ..) in merged.subjects(ty).chain(merged.subjects(other)) {
                let why = "is the type of a variable that another unit declares with another type".to_owned();
                found.uses.push(place.used(subject, crate::Demand::Whole, why));
            }
        }
    }
}

impl CodePlace {
    pub(crate) fn used(&self, subject: usize, demand: crate::Demand, why: String) -> CodeUse {
        let Self { file, line, macro_definition } = self.clone();
        CodeUse { subject, file, line, macro_definition, demand, why }
    }
}

/// A passage of a unit.
#[derive(Clone, Copy, Debug)]
struct Known<'f> {
    unit: usize,
    passage: &'f Passage,
}

/// The units' facts by place.
struct Join<'f> {
    merged: &'f Merged,
    passages: FxHashMap<&'f str, Vec<Known<'f>>>,
    /// Types whose addresses come to each place.
    entering: FxHashMap<&'f str, FxHashSet<TypeNumber>>,
}

/// An address at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Visit<'f> {
    place: &'f str,
    state: State,
    /// Whether it was kept in a member or a variable on its way, where others are kept too.
    is_kept: bool,
    /// Bytes that the caller says there are.
    count: Option<u64>,
}

impl Visit<'_> {
    /// An end, no farther than the caller says.
    fn bounded(&self, state: State, end: &End) -> (State, End) {
        match (self.count, end) {
            (Some(count), End::Bytes { count: own, by }) if state.moved.is_none() || own.is_none() => {
                (State { moved: Some(0), ..state }, End::Bytes { count: Some(count), by: by.clone() })
            }
            (Some(count), End::Sets { count: own, by }) if state.moved.is_none() || own.is_none() => {
                (State { moved: Some(0), ..state }, End::Sets { count: Some(count), by: by.clone() })
            }
            _ => (state, end.clone()),
        }
    }
}

/// For each kind of address, the places where it was, and how often each was come to.
type Seen<'f> = FxHashMap<Address, (FxHashSet<Visit<'f>>, FxHashMap<(&'f str, u8, bool), usize>)>;

/// A length that a caller gives, as far as it is one. One byte is what any text has.
fn length(otherwise: &Option<End>) -> Option<u64> {
    match otherwise {
        Some(End::Bytes { count: Some(count), .. }) if *count > 1 => Some(*count),
        _ => None,
    }
}

impl<'f> Join<'f> {
    fn new(units: &[&'f UnitFlows], merged: &'f Merged) -> Self {
        let mut passages: FxHashMap<&str, Vec<Known<'f>>> = FxHashMap::default();
        let mut seen: FxHashSet<(&str, String)> = FxHashSet::default();
        for (unit, flows) in units.iter().enumerate() {
            for passage in &flows.passages {
                // A function of a header is the same in all units.
                if seen.insert((&passage.place, merged.key(unit, passage))) {
                    passages.entry(&passage.place).or_default().push(Known { unit, passage });
                }
            }
        }
        let mut join = Self { merged, passages, entering: FxHashMap::default() };
        join.enter(units);
        join
    }

    /// Which types come where.
    fn enter(&mut self, units: &[&'f UnitFlows]) {
        let mut open: Vec<(&'f str, TypeNumber)> = Vec::new();
        let defined: FxHashSet<&str> =
            units.iter().flat_map(|flows| &flows.defined).map(String::as_str).collect();
        for (unit, flows) in units.iter().enumerate() {
            let is_known = |departure: &&Departure| {
                departure.by.as_deref().is_none_or(|function| !defined.contains(function))
            };
            for departure in flows.departures.iter().filter(is_known) {
                let ty = match &departure.origin {
                    Origin::Object(shape) => self.merged.number(unit, *shape),
                    Origin::Member { .. } => continue,
                    Origin::Other(name) => self.merged.named(name),
                };
                open.extend(departure.outcome.places.iter().map(|(_, place, ..)| (place.as_str(), ty)));
            }
        }
        while let Some((place, ty)) = open.pop() {
            if !self.entering.entry(place).or_default().insert(ty) {
                continue;
            }
            for known in self.passages.get(place).into_iter().flatten() {
                open.extend(known.passage.outcome.places.iter().map(|(_, place, ..)| (place.as_str(), ty)));
            }
        }
    }

    fn follow(&self, unit: usize, departure: &'f Departure, seen: &mut Seen<'f>, found: &mut Demands) {
        let judge = Judge::new(self.merged, unit, departure);
        for (state, end, place) in &departure.outcome.ends {
            judge.judge(*state, (unit, end), place, Through::NONE, &mut found.uses);
        }
        let mut open: Vec<Visit<'f>> = Vec::new();
        for (state, place, otherwise, at) in &departure.outcome.places {
            let visit = Visit { place, state: *state, is_kept: is_kept(place), count: length(otherwise) };
            self.visit(visit, (unit, otherwise, at), (&judge, false), &mut open, found);
        }
        self.follow_on(open, &judge, seen, found);
    }

    /// Addresses that are taken for a subject's, and that come from nowhere in this program, are a subject's.
    fn take(&self, seen: &mut Seen<'f>, found: &mut Demands) {
        let mut places: Vec<&'f str> = self.passages.keys().copied().collect();
        places.retain(|place| !self.entering.contains_key(place));
        places.sort_unstable();
        for place in places {
            for known in
                self.passages.get(place).into_iter().flatten().filter(|known| known.passage.level == 0)
            {
                for (state, end, at) in &known.passage.outcome.ends {
                    let End::Record(shape) = end else { continue };
                    let ty = self.merged.number(known.unit, *shape);
                    if *state != State::PLAIN || self.merged.subjects(ty).next().is_none() {
                        continue;
                    }
                    let judge = Judge::taken(self.merged, ty, at);
                    let visit = Visit { place, state: State::PLAIN, is_kept: is_kept(place), count: None };
                    self.follow_on(vec![visit], &judge, seen, found);
                }
            }
        }
    }

    fn follow_on(
        &self,
        mut open: Vec<Visit<'f>>,
        judge: &Judge<'_>,
        seen: &mut Seen<'f>,
        found: &mut Demands,
    ) {
        let (seen, states) = seen.entry(judge.address()).or_default();
        while let Some(mut visit) = open.pop() {
            if visit.state.level > DEEPEST || seen.contains(&visit) {
                continue;
            }
            let count = states.entry((visit.place, visit.state.level, visit.is_kept)).or_default();
            *count += 1;
            if *count > MOST_STATES {
                visit.state.moved = None;
            }
            if !seen.insert(visit) {
                continue;
            }
            for known in self.passages.get(visit.place).into_iter().flatten() {
                if known.passage.level != visit.state.level {
                    continue;
                }
                for (state, end, at) in &known.passage.outcome.ends {
                    let is_explained = self.is_explained(visit, (known.unit, end));
                    let through = Through { is_explained, is_function: true };
                    let (state, end) = visit.bounded(visit.state.then(*state), end);
                    judge.judge(state, (known.unit, &end), at, through, &mut found.uses);
                }
                for (state, place, otherwise, at) in &known.passage.outcome.places {
                    let is_kept = visit.is_kept || is_kept(place);
                    let count = length(otherwise).or(visit.count);
                    let next = Visit { place, state: visit.state.then(*state), is_kept, count };
                    self.visit(next, (known.unit, otherwise, at), (judge, true), &mut open, found);
                }
            }
        }
    }

    fn visit(
        &self,
        visit: Visit<'f>,
        (unit, otherwise, at): (usize, &Option<End>, &CodePlace),
        (judge, is_function): (&Judge<'_>, bool),
        open: &mut Vec<Visit<'f>>,
        found: &mut Demands,
    ) {
        found.callbacks.extend(names::callback_of(visit.place));
        if self.passages.contains_key(visit.place) {
            return open.push(visit);
        }
        if let Some(function) = names::function_of(visit.place) {
            found.unread.insert(function.to_owned());
        }
        if let Some(end) = otherwise {
            let through = Through { is_function, ..Through::NONE };
            judge.judge(visit.state, (unit, end), at, through, &mut found.uses);
        }
        judge.handed(at, &mut found.uses);
    }

    /// Whether a place has objects of its own that an end is for.
    fn is_explained(&self, visit: Visit<'f>, (unit, end): (usize, &End)) -> bool {
        let Some(entering) = self.entering.get(visit.place) else { return false };
        match end {
            End::Record(shape) if entering.contains(&self.merged.number(unit, *shape)) => true,
            // Objects may be carved out of bytes that are kept there.
            End::Record(_)
            | End::Bytes { .. }
            | End::Sets { .. }
            | End::Elements { .. }
            | End::Sorts { .. }
            | End::Text { .. } => visit.is_kept && entering.iter().any(|ty| self.merged.is_bytes(*ty)),
            End::Frees | End::Unknown => false,
        }
    }
}

/// Whether a place keeps addresses: a member or a variable.
fn is_kept(place: &str) -> bool {
    !place.contains(' ')
}
