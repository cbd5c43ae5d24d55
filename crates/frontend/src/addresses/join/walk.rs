//! Addresses followed from place to place.

use super::super::contracts;
use super::super::facts::{CodePlace, Departure, End, State, UnitFlows};
use super::super::given::Numbers;
use super::super::judge::{Address, Judge, Through};
use super::super::merged::{Merged, TypeNumber};
use super::super::names;
use super::super::noted::Noted;
use super::found::Demands;
use super::places::{DEEPEST, Handed, Known, PlaceNumber, PlaceTable};
use super::taken::Taken;
use super::visit::Visit;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Most types whose objects a function gives out again as they came back. With more, it gives out memory.
const MOST_FREED: usize = 2;

/// Most distances that an address is told apart by at one place: code that moves it on again and again is a walk.
const MOST_STATES: usize = 4;

/// An address at its begin.
#[derive(Clone, Debug)]
pub(super) enum Begin<'f> {
    /// Stops being a pointer to its type in a unit.
    Departure { unit: usize, departure: &'f Departure, handed: Vec<Handed<'f>> },
    /// Is at a place, where code takes it for a type's.
    Place { place: PlaceNumber, is_kept: bool, at: &'f CodePlace },
}

/// Begins by what they are addresses of.
pub(super) type Begins<'b, 'f> = BTreeMap<Address, Vec<&'b Begin<'f>>>;

/// Findings on the ways of addresses.
pub(super) type Found<'f> = (Demands, Noted<'f>);

/// All that is needed to follow an address.
pub(super) struct Walk<'f> {
    pub(super) merged: &'f Merged,
    pub(super) table: PlaceTable<'f>,
    pub(super) numbers: Numbers<'f>,
}

/// Most times that an address is kept since it may be any number. One that is put together from what was stored, or read
/// from a text, is kept two or three times. What goes further are numbers: sums of times, of pages and of file offsets are
/// kept in the same places, and through them each object would come everywhere.
const MOST_LOST: u8 = 3;

/// Most lengths that callers give which are told apart at one place. With more, none is known: behind a place that many
/// callers share, each would be taken for one of everybody's.
const MOST_COUNTS: usize = 4;

/// The ways of addresses of one thing: the places where they were, and in which states they came there.
#[derive(Default)]
struct Seen {
    /// Each with the least number of times that it was lost.
    visits: FxHashMap<Visit, u8>,
    states: FxHashMap<(PlaceNumber, u8, bool, Option<u64>), States>,
}

/// The states in which addresses come to a place.
struct States {
    /// How many.
    count: usize,
    /// The least distance of the first.
    least: Option<i64>,
    /// Lengths that callers give.
    lengths: Vec<u64>,
}

impl Seen {
    /// A visit as one of few states. `None`: it was there before.
    fn enter(&mut self, mut visit: Visit) -> Option<Visit> {
        let key = (visit.place, visit.state.level, visit.is_kept, visit.state.member);
        let states = self.states.entry(key).or_insert_with(|| States {
            count: 0,
            least: visit.state.least,
            lengths: Vec::new(),
        });
        visit.count = visit.count.filter(|length| states.tells_apart(*length));
        let lost = std::mem::take(&mut visit.lost);
        match self.visits.get(&visit) {
            Some(known) if *known <= lost => return None,
            Some(_) => {}
            None => states.count += 1,
        }
        if states.count > MOST_STATES {
            visit.state = visit.state.walked(states.least);
        }
        let known = self.visits.entry(visit).or_insert(u8::MAX);
        (lost < *known).then(|| {
            *known = lost;
            Visit { lost, ..visit }
        })
    }
}

impl States {
    /// Whether a length is one of the few that are told apart. A longer one can't stand for it: memory that is set as a whole
    /// asks nothing, a part of it does.
    fn tells_apart(&mut self, length: u64) -> bool {
        if self.lengths.contains(&length) {
            return true;
        }
        let has_room = self.lengths.len() < MOST_COUNTS;
        self.lengths.extend(has_room.then_some(length));
        has_room
    }
}

impl<'f> Walk<'f> {
    pub(super) fn new(units: &[&'f UnitFlows], merged: &'f Merged) -> Self {
        Self { merged, table: PlaceTable::new(units, merged), numbers: Numbers::new(units) }
    }

    /// Follows all addresses. Those of one thing are followed together, as their ways are the same from the place on
    /// where they meet.
    pub(super) fn follow_all(&self, begins: &Begins<'_, 'f>, found: &mut Found<'f>) {
        let begins: Vec<_> = begins.iter().collect();
        for (demands, noted) in fieldline_parallel::map(&begins, |(address, begins)| {
            let (mut seen, mut found) = (Seen::default(), Found::default());
            for begin in *begins {
                self.follow(**address, begin, &mut seen, &mut found);
            }
            found.0.settle();
            found
        }) {
            found.0.add(demands);
            found.1.add_all(noted);
        }
    }

    fn follow(&self, address: Address, begin: &Begin<'f>, seen: &mut Seen, found: &mut Found<'f>) {
        let mut open: Vec<Visit> = Vec::new();
        match begin {
            Begin::Departure { unit, departure, handed } => {
                let judge = Judge { merged: self.merged, address, at: &departure.at };
                for (state, end, place) in &departure.outcome.ends {
                    found.1.add(self.merged, (address, *state), (*unit, end, false), place);
                    judge.judge(*state, (*unit, end), place, Through::NONE, &mut found.0.uses);
                }
                for handed in handed {
                    let is_kept = self.table.get(handed.place).is_some_and(|place| place.is_kept);
                    let (place, state, count) = (handed.place, handed.state, handed.count);
                    let visit = Visit { place, state, is_kept, count, lost: 0 };
                    self.visit(visit, (*unit, handed), (&judge, false), &mut open, &mut found.0);
                }
                self.follow_on(open, &judge, seen, found);
            }
            Begin::Place { place, is_kept, at } => {
                let judge = Judge { merged: self.merged, address, at };
                let (place, is_kept) = (*place, *is_kept);
                open.push(Visit { place, state: State::PLAIN, is_kept, count: None, lost: 0 });
                self.follow_on(open, &judge, seen, found);
            }
        }
    }

    fn follow_on(
        &self,
        mut open: Vec<Visit>,
        judge: &Judge<'_>,
        seen: &mut Seen,
        (found, noted): &mut Found<'f>,
    ) {
        while let Some(visit) = open.pop() {
            if visit.state.level > DEEPEST {
                continue;
            }
            let Some(visit) = seen.enter(visit) else { continue };
            let Some(place) = self.table.get(visit.place) else { continue };
            for known in place.passages.iter().filter(|known| known.level == visit.state.level) {
                self.end(visit, known, judge, (&mut *found, &mut *noted));
                for handed in &known.handed {
                    let is_kept =
                        visit.is_kept || self.table.get(handed.place).is_some_and(|place| place.is_kept);
                    let next = Visit {
                        place: handed.place,
                        state: visit.state.then(handed.state),
                        is_kept,
                        count: handed.count.or(visit.count),
                        lost: visit.lost,
                    };
                    self.visit(next, (known.unit, handed), (judge, true), &mut open, found);
                }
            }
        }
    }

    /// The ends of a passage.
    fn end(
        &self,
        visit: Visit,
        known: &Known<'f>,
        judge: &Judge<'_>,
        (found, noted): (&mut Demands, &mut Noted<'f>),
    ) {
        for (state, end, at) in known.ends {
            let is_explained = self.is_explained(visit, (known.unit, end));
            let through = Through { is_explained, is_function: true };
            let own = (judge.address(), visit.state.then(*state));
            noted.add(self.merged, own, (known.unit, end, is_explained), at);
            let (state, end) = visit.bounded(visit.state.then(*state), end);
            judge.judge(state, (known.unit, &end), at, through, &mut found.uses);
        }
    }

    fn visit(
        &self,
        visit: Visit,
        (unit, handed): (usize, &Handed<'f>),
        (judge, is_function): (&Judge<'_>, bool),
        open: &mut Vec<Visit>,
        found: &mut Demands,
    ) {
        let actual = self.table.get(visit.place).and_then(|place| place.actual);
        let Some((actual, place)) = actual.and_then(|actual| Some((actual, self.table.get(actual)?))) else {
            return;
        };
        let visit = Visit { place: actual, ..visit }.come_to(place);
        // An address is printed, and cut in halves, as it is.
        let is_other = place.is_of_numbers && visit.state.moved.is_none();
        if visit.lost > MOST_LOST || is_other {
            return;
        }
        if let Some((by, scale)) = place.sum {
            let given = place.given.get_or_init(|| self.numbers.all(by));
            let mut states = Numbers::moved(visit.state, given, scale);
            if let (Address::Object(ty), State::PLAIN, 1) = (judge.address(), visit.state, scale) {
                states.extend(Numbers::members(self.merged, ty, given));
            }
            return open.extend(states.into_iter().map(|state| Visit { state, ..visit }));
        }
        if let Some(steps) = place.steps {
            let through = Through { is_explained: false, is_function };
            for bytes in self.numbers.strides(steps) {
                judge.judge(
                    visit.state,
                    (unit, &End::Strides { bytes }),
                    handed.at,
                    through,
                    &mut found.uses,
                );
            }
            return;
        }
        found.callbacks.extend(place.callback);
        if matches!(handed.otherwise, Some(End::Frees)) {
            let through = Through { is_explained: false, is_function };
            judge.judge(visit.state, (unit, &End::Frees), handed.at, through, &mut found.uses);
            // Objects of so many types come back there, that the memory is nobody's.
            if place.types() > MOST_FREED {
                return;
            }
        }
        open.extend(place.counterparts.iter().map(|place| Visit { place: *place, is_kept: true, ..visit }));
        // Units that are not read may read a member that these know.
        if place.function.is_none() && self.merged.subjects(judge.address().ty()).next().is_some() {
            found.members.extend(names::member_of(place.name));
        }
        if place.is_known(visit.state.level) {
            return open.push(visit);
        }
        if let Some(function) = place.function {
            found.unread.insert(function.to_owned());
        }
        let otherwise = if place.is_assembled { Some(&End::Unknown) } else { handed.otherwise };
        if otherwise.is_none()
            && let (Some(function), Address::Object(ty)) = (place.function, judge.address())
        {
            let uses = self
                .merged
                .subjects(ty)
                .map(|(subject, ..)| handed.at.used(subject, crate::Demand::Whole, String::new()));
            found.handed.entry(function.to_owned()).or_default().extend(uses);
        }
        if let Some(end) = otherwise {
            let is_explained = self.is_explained(visit, (unit, end));
            let through = Through { is_explained, is_function };
            let (state, end) = visit.bounded(visit.state, end);
            judge.judge(state, (unit, &end), handed.at, through, &mut found.uses);
        }
        judge.handed(handed.at, &mut found.uses);
    }

    /// The records that addresses are taken for.
    pub(super) fn taken(&self) -> Taken<'f> {
        let mut taken = Taken::default();
        for (place, known) in self.table.passages().filter(|(_, known)| known.level == 0) {
            for (state, end, at) in known.ends {
                if let (End::Record(shape), State::PLAIN) = (end, *state) {
                    taken.take(place, self.merged.number(known.unit, *shape), at);
                }
            }
            for handed in &known.handed {
                if let Some(next) = self.table.actual(handed.place) {
                    taken.hand(place, next, handed.state == State::PLAIN);
                }
            }
        }
        taken.spread(|place| self.name(place))
    }

    /// Likewise, of some types, wherever in the memory at the address they are taken to begin.
    pub(super) fn taken_anywhere(&self, is_meant: impl Fn(TypeNumber) -> bool) -> Taken<'f> {
        let mut taken = Taken::default();
        for (place, known) in self.table.passages().filter(|(_, known)| known.level == 0) {
            for (state, end, at) in known.ends {
                let End::Record(shape) = end else { continue };
                let ty = self.merged.number(known.unit, *shape);
                if state.level == 0 && is_meant(ty) {
                    taken.take(place, ty, at);
                }
            }
            for handed in known.handed.iter().filter(|handed| handed.state.level == 0) {
                if let Some(next) = self.table.actual(handed.place).filter(|next| self.keeps_memory(*next)) {
                    taken.hand(place, next, true);
                }
            }
        }
        taken.spread(|place| self.name(place))
    }

    /// Whether memory at a place is still the memory that came there: what is given back becomes anything, and what is
    /// printed is a number.
    fn keeps_memory(&self, place: PlaceNumber) -> bool {
        self.table.get(place).is_some_and(|place| {
            !place.is_of_numbers && !names::taken_by(place.name).is_some_and(contracts::takes_memory_back)
        })
    }

    /// Whether a unit has the body of the function whose result a place is.
    pub(super) fn is_defined(&self, place: &str) -> bool {
        place.split_once(" of ").is_some_and(|(_, function)| self.table.is_defined(function))
    }

    pub(super) fn name(&self, place: PlaceNumber) -> &'f str {
        self.table.get(place).map_or("", |place| place.name)
    }

    /// Whether a place has objects of its own that an end is for.
    fn is_explained(&self, visit: Visit, (unit, end): (usize, &End)) -> bool {
        let Some(place) = self.table.get(visit.place) else { return false };
        let is_own = |ty: TypeNumber| place.entering.contains(&(visit.state.level, ty));
        match end {
            End::Record(shape) if is_own(self.merged.number(unit, *shape)) => true,
            // Objects may be carved out of bytes that are kept there.
            End::Record(_)
            | End::Unknown
            | End::Bytes { .. }
            | End::Sets { .. }
            | End::Elements { .. }
            | End::Several { .. }
            | End::Sorts { .. }
            | End::Text { .. } => visit.is_kept && place.has_bytes(visit.state.level),
            End::Frees
            | End::Strides { .. }
            | End::Compared { .. }
            | End::Masked { .. }
            | End::Numbered { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::PlaceFacts;
    use super::*;

    #[test]
    fn an_address_that_was_lost_less_often_is_followed_again() {
        let mut seen = Seen::default();
        let mut enter = |lost| {
            let visit = Visit { place: 0, state: State::PLAIN.anywhere(), is_kept: true, count: None, lost };
            seen.enter(visit).map(|visit| visit.lost)
        };
        assert_eq!([enter(2), enter(3), enter(2), enter(1), enter(1)], [Some(2), None, None, Some(1), None]);
    }

    #[test]
    fn an_address_is_lost_where_it_is_kept_and_may_be_any_number() {
        let place = |is_kept, is_of_numbers| {
            let mut place = PlaceFacts::default();
            (place.is_kept, place.is_of_numbers) = (is_kept, is_of_numbers);
            place
        };
        let come = |state, lost, place: &PlaceFacts<'_>| {
            Visit { place: 0, state, is_kept: true, count: None, lost }.come_to(place).lost
        };
        let (plain, member, parameter) = (State::PLAIN, place(true, false), place(false, false));
        assert_eq!([come(plain.anywhere(), 0, &member), come(plain.anywhere(), 0, &parameter)], [1, 0]);
        assert_eq!([plain, plain.by(8), plain.forward()].map(|state| come(state, 0, &member)), [0, 0, 0]);
        // It stays lost.
        assert_eq!([come(plain, 1, &member), come(plain, 1, &parameter)], [2, 1]);
        assert_eq!(come(plain, 0, &place(false, true)), 1);
        let mut written = PlaceFacts::default();
        written.is_written = true;
        assert_eq!(
            [come(plain, 0, &written), come(plain.anywhere(), 0, &written), come(plain, 1, &written)],
            [0, 0, 2]
        );
    }

    #[test]
    fn further_lengths_at_a_place_count_as_unknown() {
        let mut seen = Seen::default();
        let mut enter = |count| {
            let visit = Visit { place: 0, state: State::PLAIN, is_kept: true, count, lost: 0 };
            seen.enter(visit).map(|visit| visit.count)
        };
        let entered: Vec<Option<Option<u64>>> =
            [8, 64, 16, 32, 24, 48, 8].into_iter().map(|length| enter(Some(length))).collect();
        // The sixth is unknown as the fifth was, and the last was there before.
        let known = [8, 64, 16, 32].map(|length| Some(Some(length)));
        assert_eq!(entered[..4], known);
        assert_eq!(entered[4], Some(None));
        assert_eq!(entered[6], None);
    }
}
