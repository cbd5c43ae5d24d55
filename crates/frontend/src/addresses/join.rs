//! All units' facts as demands.

mod taken;
mod visit;

use self::taken::Taken;
use self::visit::{Visit, length};
use super::compared::handed;
use super::counterparts::{Counterparts, Pairs};
use super::facts::{CodePlace, Departure, End, Origin, Passage, State, UnitFlows};
use super::given::Numbers;
use super::judge::{Address, Judge, Through};
use super::merged::{Merged, TypeNumber};
use super::names;
use super::noted::Noted;
use crate::demand::CodeUse;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Most times an address is read from memory on its way.
const DEEPEST: u8 = 3;

/// Most types whose objects a function gives out again as they came back. With more, it gives out memory.
const MOST_FREED: usize = 2;

/// Most distances that an address is told apart by at one place: code that moves it on again and again is a walk.
const MOST_STATES: usize = 4;

/// Demands of addresses on the subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// By file and line, each once.
    pub uses: Vec<CodeUse>,
    /// Functions that subjects' addresses are handed to and that no unit has the body of.
    pub unread: BTreeSet<String>,
    /// Second names of variables of subjects, and names of the sections that they are in.
    pub symbols: BTreeSet<String>,
    /// Functions that are called through pointers with subjects' addresses: how many parameters, and which.
    pub callbacks: BTreeSet<(usize, usize)>,
    /// Functions without a body that are given a subject's address as what it is: the subject, and where.
    pub given: BTreeMap<String, Vec<CodeUse>>,
    /// The same of those that are given it as any pointer, and of which nothing is known.
    pub handed: BTreeMap<String, Vec<CodeUse>>,
}

/// The demands that follow from the facts of all units of a program.
pub fn demands(units: &[&UnitFlows]) -> Demands {
    let merged = Merged::new(units);
    let mut join = Join::new(units, &merged);
    let mut found = Demands::default();
    let mut noted = Noted { pairs: Pairs::new(units, &merged), ..Noted::default() };
    let mut seen = Seen::default();
    let departures = || {
        units.iter().enumerate().flat_map(|(unit, flows)| flows.departures.iter().map(move |own| (unit, own)))
    };
    // Objects of others first: they tell which records are taken for one another.
    let of_subject = |(unit, departure): &(usize, &Departure)| match departure.origin {
        Origin::Object(shape) | Origin::Member { holder: shape, .. } => {
            merged.subjects(merged.number(*unit, shape)).next().is_some()
        }
        Origin::Other(_) => false,
    };
    for (unit, departure) in departures().filter(|departure| !of_subject(departure)) {
        join.follow(unit, departure, (&mut seen, &mut noted), &mut found);
    }
    join.counterparts = noted.pairs.counterparts(units, &merged);
    join.follow_counterparts((&mut seen, &mut noted), &mut found);
    for (unit, departure) in departures().filter(of_subject) {
        join.follow(unit, departure, (&mut seen, &mut noted), &mut found);
    }
    for (unit, flows) in units.iter().enumerate() {
        for (function, shape, place) in &flows.given {
            let ty = merged.number(unit, *shape);
            // A unit that knows nothing of the struct may define it for a counterpart.
            found.unread.insert(function.clone());
            let uses = merged
                .subjects(ty)
                .map(|(subject, ..)| place.used(subject, crate::Demand::Whole, String::new()));
            found.given.entry(function.clone()).or_default().extend(uses);
        }
    }
    add_assembled(units, &merged, &mut found);
    let departing = units.iter().enumerate().flat_map(|(unit, flows)| {
        flows.departures.iter().filter_map(move |departure| match departure.origin {
            Origin::Object(shape) => Some((unit, shape)),
            _ => None,
        })
    });
    let departing = departing.map(|(unit, shape)| merged.number(unit, shape)).collect();
    let open = units.iter().flat_map(|flows| &flows.open).map(String::as_str).collect();
    join.take((&departing, &open), (&mut seen, &mut noted), &mut found);
    noted.compared.judge(&merged, &mut found.uses);
    handed(units, &merged, &mut found.uses);
    add_symbols(units, &merged, &mut found);
    let symbols = units.iter().flat_map(|flows| &flows.attributed).cloned();
    found.symbols.extend(symbols);
    found.uses.sort_unstable();
    found.uses.dedup();
    found
}

/// Variables that assembler code names, and functions in assembler that are given subjects' addresses.
fn add_assembled(units: &[&UnitFlows], merged: &Merged, found: &mut Demands) {
    let mentioned: FxHashMap<&str, &CodePlace> = units
        .iter()
        .flat_map(|flows| &flows.mentioned)
        .map(|(symbol, place)| (symbol.as_str(), place))
        .collect();
    for (unit, flows) in units.iter().enumerate() {
        for (symbol, shape, _) in &flows.symbols {
            let Some(place) = mentioned.get(symbol.as_str()) else { continue };
            for (subject, ..) in merged.subjects(merged.number(unit, *shape)) {
                let why = format!("assembler code knows {symbol} by its name");
                found.uses.push(place.used(subject, crate::Demand::Whole, why));
            }
        }
    }
    for function in units.iter().flat_map(|flows| &flows.assembled) {
        for used in found.given.get(function).cloned().unwrap_or_default() {
            let why = format!("its address is handed to {function}, in assembler");
            found.uses.push(CodeUse { why, ..used });
        }
    }
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
                let why = "is declared as another type by another unit, or under another name".to_owned();
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
    /// Functions with a body.
    defined: FxHashSet<&'f str>,
    /// Functions in assembler between those of a unit.
    assembled: FxHashSet<&'f str>,
    /// Types whose addresses come to each place.
    entering: FxHashMap<&'f str, FxHashSet<TypeNumber>>,
    numbers: Numbers<'f>,
    /// Places whose addresses are read from other places, too.
    counterparts: Counterparts<'f>,
}

/// For each kind of address, the places where it was, and how often each was come to.
type Seen<'f> =
    FxHashMap<Address, (FxHashSet<Visit<'f>>, FxHashMap<(&'f str, u8, bool), (usize, Option<i64>)>)>;

impl<'f> Join<'f> {
    fn new(units: &[&'f UnitFlows], merged: &'f Merged) -> Self {
        let defined: FxHashSet<&str> =
            units.iter().flat_map(|flows| &flows.defined).map(String::as_str).collect();
        let mut passages: FxHashMap<&str, Vec<Known<'f>>> = FxHashMap::default();
        let mut seen: FxHashSet<(&str, String)> = FxHashSet::default();
        for (unit, flows) in units.iter().enumerate() {
            for passage in &flows.passages {
                // A function of a header is the same in all units.
                let Some(place) = actual(&defined, &passage.place) else { continue };
                if seen.insert((place, merged.key(unit, passage))) {
                    passages.entry(place).or_default().push(Known { unit, passage });
                }
            }
        }
        let mut join = Self {
            merged,
            passages,
            defined,
            assembled: units.iter().flat_map(|flows| &flows.assembled).map(String::as_str).collect(),
            entering: FxHashMap::default(),
            numbers: Numbers::new(units),
            counterparts: Counterparts::default(),
        };
        join.enter(units);
        join
    }

    /// Which types come where.
    fn enter(&mut self, units: &[&'f UnitFlows]) {
        let mut open: Vec<(&'f str, TypeNumber)> = Vec::new();
        let defined = std::mem::take(&mut self.defined);
        for (unit, flows) in units.iter().enumerate() {
            let is_known = |departure: &&Departure| {
                departure.by.as_deref().is_none_or(|function| !defined.contains(function))
            };
            for departure in flows.departures.iter().filter(is_known) {
                let is_object = matches!(departure.origin, Origin::Object(_));
                let ty = match &departure.origin {
                    Origin::Object(shape) => self.merged.number(unit, *shape),
                    Origin::Member { holder, .. } => self.merged.number(unit, *holder),
                    Origin::Other(name) => self.merged.named(name),
                };
                // Memory behind an object is none of it.
                let size = self
                    .merged
                    .shape(ty)
                    .and_then(|shape| i64::try_from(shape.size).ok())
                    .filter(|_| is_object);
                let is_inside = |state: &State| {
                    size.zip(state.least).is_none_or(|(size, least)| size == 0 || least < size)
                };
                let inside = departure.outcome.places.iter().filter(|(state, ..)| is_inside(state));
                open.extend(inside.filter_map(|(_, place, ..)| Some((actual(&defined, place)?, ty))));
            }
        }
        while let Some((place, ty)) = open.pop() {
            if !self.entering.entry(place).or_default().insert(ty) {
                continue;
            }
            for known in self.passages.get(place).into_iter().flatten() {
                let places =
                    known.passage.outcome.places.iter().filter_map(|(_, place, ..)| actual(&defined, place));
                open.extend(places.map(|place| (place, ty)));
            }
        }
        self.defined = defined;
    }

    fn follow(
        &self,
        unit: usize,
        departure: &'f Departure,
        (seen, noted): (&mut Seen<'f>, &mut Noted<'f>),
        found: &mut Demands,
    ) {
        let judge = Judge::new(self.merged, unit, departure);
        for (state, end, place) in &departure.outcome.ends {
            noted.add(self.merged, (judge.address(), *state), (unit, end, false), place);
            judge.judge(*state, (unit, end), place, Through::NONE, &mut found.uses);
        }
        let mut open: Vec<Visit<'f>> = Vec::new();
        for (state, place, otherwise, at) in &departure.outcome.places {
            let visit = Visit { place, state: *state, is_kept: is_kept(place), count: length(otherwise) };
            self.visit(visit, (unit, otherwise, at), (&judge, false), &mut open, found);
        }
        self.follow_on(open, &judge, (seen, noted), found);
    }

    /// Addresses of subjects that are written as what they are, and read as something else.
    fn follow_counterparts(&self, (seen, noted): (&mut Seen<'f>, &mut Noted<'f>), found: &mut Demands) {
        for (ty, place) in &self.counterparts.records {
            let passages = self.passages.get(place).into_iter().flatten();
            let mut ends = passages.flat_map(|known| &known.passage.outcome.ends);
            let Some((_, _, at)) = ends.next() else { continue };
            let judge = Judge::taken(self.merged, *ty, at);
            let visit = Visit { place, state: State::PLAIN, is_kept: true, count: None };
            self.follow_on(vec![visit], &judge, (&mut *seen, &mut *noted), found);
        }
    }

    /// Addresses that are taken for a subject's, and that come from nowhere in this program, are a subject's.
    fn take(
        &self,
        (departing, open): (&FxHashSet<TypeNumber>, &FxHashSet<&str>),
        (seen, noted): (&mut Seen<'f>, &mut Noted<'f>),
        found: &mut Demands,
    ) {
        let taken = self.taken();
        let mut places: Vec<&'f str> = taken.first_places(|place| self.entering.contains_key(place));
        places.sort_unstable();
        for place in places {
            self.take_first_members(taken.all(place), found);
            for (ty, at) in taken.types(place) {
                let is_from_outside = open.contains(place) && !departing.contains(&ty);
                if is_from_outside {
                    let why = "is handed over as void * by callers that no unit of this build shows";
                    for (subject, ..) in self.merged.subjects(ty) {
                        found.uses.push(at.used(subject, crate::Demand::Whole, why.to_owned()));
                    }
                }
                let judge = Judge::taken(self.merged, ty, at);
                let visit = Visit { place, state: State::PLAIN, is_kept: is_kept(place), count: None };
                self.follow_on(vec![visit], &judge, (&mut *seen, &mut *noted), found);
            }
        }
    }

    /// Memory at one place that is taken for records and for what they begin with: their first members stay.
    fn take_first_members(&self, types: Option<&BTreeMap<TypeNumber, &'f CodePlace>>, found: &mut Demands) {
        for (ty, at) in types.into_iter().flatten() {
            let judge = Judge::taken(self.merged, *ty, at);
            for (inner, also) in types.into_iter().flatten().filter(|(inner, _)| *inner != ty) {
                judge.begins((*ty, *inner), also, &mut found.uses);
            }
        }
    }

    fn follow_on(
        &self,
        mut open: Vec<Visit<'f>>,
        judge: &Judge<'_>,
        (seen, noted): (&mut Seen<'f>, &mut Noted<'f>),
        found: &mut Demands,
    ) {
        let (seen, states) = seen.entry(judge.address()).or_default();
        while let Some(mut visit) = open.pop() {
            if visit.state.level > DEEPEST || seen.contains(&visit) {
                continue;
            }
            let key = (visit.place, visit.state.level, visit.is_kept);
            let (count, least) = states.entry(key).or_insert((0, visit.state.least));
            *count += 1;
            if *count > MOST_STATES {
                visit.state = visit.state.walked(*least);
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
                    let own = (judge.address(), visit.state.then(*state));
                    noted.add(self.merged, own, (known.unit, end, is_explained), at);
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
        let Some(place) = actual(&self.defined, visit.place) else { return };
        let visit = Visit { place, ..visit };
        if let Some((by, scale)) = names::sum_of(visit.place) {
            let states = self.numbers.moved(visit.state, by, scale).into_iter();
            return open.extend(states.map(|state| Visit { state, ..visit }));
        }
        found.callbacks.extend(names::callback_of(visit.place));
        if matches!(otherwise, Some(End::Frees)) {
            let through = Through { is_explained: false, is_function };
            judge.judge(visit.state, (unit, &End::Frees), at, through, &mut found.uses);
            if self.is_of_many(visit.place) {
                return;
            }
        }
        let counterparts = self.counterparts.places.get(visit.place).into_iter().flatten();
        open.extend(counterparts.map(|place| Visit { place, is_kept: true, ..visit }));
        if self.passages.contains_key(visit.place) {
            return open.push(visit);
        }
        let function = names::function_of(visit.place);
        if let Some(function) = function {
            found.unread.insert(function.to_owned());
        }
        let is_assembled = function.is_some_and(|function| self.assembled.contains(function));
        let otherwise = if is_assembled { &Some(End::Unknown) } else { otherwise };
        if otherwise.is_none()
            && let (Some(function), Address::Object(ty)) = (function, judge.address())
        {
            let uses = self
                .merged
                .subjects(ty)
                .map(|(subject, ..)| at.used(subject, crate::Demand::Whole, String::new()));
            found.handed.entry(function.to_owned()).or_default().extend(uses);
        }
        if let Some(end) = otherwise {
            let is_explained = self.is_explained(visit, (unit, end));
            let through = Through { is_explained, is_function };
            judge.judge(visit.state, (unit, end), at, through, &mut found.uses);
        }
        judge.handed(at, &mut found.uses);
    }

    /// Whether objects of so many types come to a place that takes memory back, that it is nobody's there.
    fn is_of_many(&self, place: &str) -> bool {
        self.entering.get(place).is_some_and(|entering| entering.len() > MOST_FREED)
    }

    /// The records that addresses are taken for.
    fn taken(&self) -> Taken<'f> {
        let mut taken = Taken::default();
        let passages =
            self.passages.iter().flat_map(|(place, all)| all.iter().map(move |known| (*place, known)));
        for (place, known) in passages.filter(|(_, known)| known.passage.level == 0) {
            for (state, end, at) in &known.passage.outcome.ends {
                if let (End::Record(shape), State::PLAIN) = (end, *state) {
                    taken.take(place, self.merged.number(known.unit, *shape), at);
                }
            }
            for (state, next, ..) in &known.passage.outcome.places {
                if let Some(next) = actual(&self.defined, next) {
                    taken.hand(place, next, *state == State::PLAIN);
                }
            }
        }
        taken.spread()
    }

    /// Whether a place has objects of its own that an end is for.
    fn is_explained(&self, visit: Visit<'f>, (unit, end): (usize, &End)) -> bool {
        let Some(entering) = self.entering.get(visit.place) else { return false };
        match end {
            End::Record(shape) if entering.contains(&self.merged.number(unit, *shape)) => true,
            // Objects may be carved out of bytes that are kept there.
            End::Record(_)
            | End::Unknown
            | End::Bytes { .. }
            | End::Sets { .. }
            | End::Elements { .. }
            | End::Several { .. }
            | End::Sorts { .. }
            | End::Text { .. } => visit.is_kept && entering.iter().any(|ty| self.merged.is_bytes(*ty)),
            End::Frees | End::Strides { .. } | End::Compared { .. } => false,
        }
    }
}

/// Whether addresses of many objects meet at a place: a member, a variable, all functions that a pointer can lead to, or
/// arguments that nothing is declared for.
fn is_kept(place: &str) -> bool {
    !place.contains(' ') || place.contains(" of a function ") || names::is_variadic(place)
}

/// A place behind its names: memory that a library keeps is none if a unit has the body of the function.
fn actual<'f>(defined: &FxHashSet<&str>, place: &'f str) -> Option<&'f str> {
    match names::kept_by(place) {
        Some((function, _)) if defined.contains(function) => None,
        Some((_, memory)) => Some(memory),
        None => Some(place),
    }
}
