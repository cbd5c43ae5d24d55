//! The places that addresses come to, by number, with all that units say of them.

use super::super::facts::{CodePlace, End, Given, Outcome, State, UnitFlows};
use super::super::merged::{Merged, TypeNumber};
use super::super::names;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

/// Most times an address is read from memory on its way.
pub(super) const DEEPEST: u8 = 3;

/// The number of a place.
pub(super) type PlaceNumber = usize;

/// A place.
#[derive(Debug, Default)]
pub(super) struct PlaceFacts<'f> {
    pub(super) name: &'f str,
    /// The place behind its names. `None`: memory that a library keeps, but a unit has the body of the function.
    pub(super) actual: Option<PlaceNumber>,
    /// Whether addresses of many objects meet there.
    pub(super) is_kept: bool,
    /// Whether what callers hand to be written meets there.
    pub(super) is_written: bool,
    /// Whether numbers of all kinds meet there, few of which are addresses.
    pub(super) is_of_numbers: bool,
    /// Whether they are parts of numbers: any number has some.
    pub(super) is_of_parts: bool,
    /// The place that gives the number that addresses are moved by there, and what that is multiplied by.
    pub(super) sum: Option<(&'f str, i64)>,
    /// The values that this place is given, asked for once.
    pub(super) given: OnceLock<Vec<&'f Given>>,
    /// The place that gives the number of bytes, or of bits, that addresses are moved by there in steps, and what that is
    /// multiplied by.
    pub(super) steps: Option<(&'f str, u64, bool)>,
    /// The function that it is a parameter of.
    pub(super) function: Option<&'f str>,
    /// The function is in assembler between those of a unit.
    pub(super) is_assembled: bool,
    /// Of a callback's parameter: how many parameters it has, and which.
    pub(super) callback: Option<(usize, usize)>,
    pub(super) passages: Vec<Known<'f>>,
    /// How often what comes there is read from memory in passages: a bit for each number of reads.
    levels: u64,
    /// Types whose addresses come there, each with how often what comes must be read from memory to get at one.
    pub(super) entering: FxHashSet<(u8, TypeNumber)>,
    /// Whether characters or numbers are among them: a bit for each number of reads.
    has_bytes: u64,
    /// Places that addresses are read from that are written there.
    pub(super) counterparts: Vec<PlaceNumber>,
}

/// A passage of a unit.
#[derive(Debug)]
pub(super) struct Known<'f> {
    pub(super) unit: usize,
    pub(super) level: u8,
    pub(super) ends: &'f [(State, End, CodePlace)],
    pub(super) handed: Vec<Handed<'f>>,
}

/// An address that is handed to a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handed<'f> {
    pub(super) state: State,
    pub(super) place: PlaceNumber,
    pub(super) otherwise: Option<&'f End>,
    /// Bytes that the caller says there are.
    pub(super) count: Option<u64>,
    pub(super) at: &'f CodePlace,
}

/// All places.
#[derive(Debug, Default)]
pub(super) struct PlaceTable<'f> {
    numbers: FxHashMap<&'f str, PlaceNumber>,
    places: Vec<PlaceFacts<'f>>,
    /// Functions with a body.
    defined: FxHashSet<&'f str>,
    /// Functions in assembler between those of a unit.
    assembled: FxHashSet<&'f str>,
}

impl PlaceFacts<'_> {
    /// Whether units tell what becomes of an address that is read from memory so often there. Of a function with a body,
    /// they tell what becomes of its arguments.
    pub(super) fn is_known(&self, level: u8) -> bool {
        self.levels & (1 | 1_u64.checked_shl(level.into()).unwrap_or(0)) != 0
    }

    /// Whether addresses of characters or numbers come there.
    pub(super) fn has_bytes(&self, level: u8) -> bool {
        self.has_bytes & (1 << level) != 0
    }

    /// How many types' addresses come there themselves.
    pub(super) fn types(&self) -> usize {
        self.entering.iter().filter(|(level, _)| *level == 0).count()
    }
}

impl<'f> PlaceTable<'f> {
    pub(super) fn new(units: &[&'f UnitFlows], merged: &Merged) -> Self {
        let mut table = Self {
            defined: units.iter().flat_map(|flows| &flows.defined).map(String::as_str).collect(),
            assembled: units.iter().flat_map(|flows| &flows.assembled).map(String::as_str).collect(),
            ..Self::default()
        };
        let mut seen = FxHashSet::default();
        for (unit, flows) in units.iter().enumerate() {
            for passage in &flows.passages {
                let number = table.number(&passage.place);
                let Some(place) = table.get(number).and_then(|place| place.actual) else { continue };
                // A function of a header is the same in all units.
                if seen.insert((place, merged.key(unit, passage))) {
                    let handed = table.handed(&passage.outcome);
                    let known = Known { unit, level: passage.level, ends: &passage.outcome.ends, handed };
                    if let Some(place) = table.places.get_mut(place) {
                        place.levels |= 1_u64.checked_shl(known.level.into()).unwrap_or(0);
                        place.passages.push(known);
                    }
                }
            }
        }
        table
    }

    /// The places that an address is handed to.
    pub(super) fn handed(&mut self, outcome: &'f Outcome) -> Vec<Handed<'f>> {
        let places = outcome.places.iter();
        let handed = places.map(|(state, place, otherwise, at)| Handed {
            state: *state,
            place: self.number(place),
            otherwise: otherwise.as_ref(),
            count: length(otherwise.as_ref()),
            at,
        });
        handed.collect()
    }

    /// The number of a place, a new one if there is none.
    pub(super) fn number(&mut self, name: &'f str) -> PlaceNumber {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.places.len();
        self.numbers.insert(name, number);
        let function = names::function_of(name);
        self.places.push(PlaceFacts {
            name,
            is_kept: is_kept(name),
            is_written: names::is_written_by_function(name),
            is_of_numbers: names::is_of_numbers(name),
            is_of_parts: name == names::PARTS,
            sum: names::sum_of(name),
            steps: names::steps_of(name),
            function,
            is_assembled: function.is_some_and(|function| self.assembled.contains(function)),
            callback: names::callback_of(name),
            ..PlaceFacts::default()
        });
        let actual = match names::kept_by(name) {
            Some((function, _)) if self.defined.contains(function) => None,
            Some((_, memory)) => Some(self.number(memory)),
            None => Some(number),
        };
        if let Some(place) = self.places.get_mut(number) {
            place.actual = actual;
        }
        number
    }

    pub(super) fn get(&self, number: PlaceNumber) -> Option<&PlaceFacts<'f>> {
        self.places.get(number)
    }

    pub(super) fn get_mut(&mut self, number: PlaceNumber) -> Option<&mut PlaceFacts<'f>> {
        self.places.get_mut(number)
    }

    pub(super) fn find(&self, name: &str) -> Option<PlaceNumber> {
        self.numbers.get(name).copied()
    }

    /// The place behind a place's names.
    pub(super) fn actual(&self, number: PlaceNumber) -> Option<PlaceNumber> {
        self.get(number)?.actual
    }

    /// All places that units say something of, each with a passage.
    pub(super) fn passages(&self) -> impl Iterator<Item = (PlaceNumber, &Known<'f>)> + '_ {
        let places = self.places.iter().enumerate();
        places.flat_map(|(number, place)| place.passages.iter().map(move |known| (number, known)))
    }

    /// Whether a function has a body in some unit.
    pub(super) fn is_defined(&self, function: &str) -> bool {
        self.defined.contains(function)
    }

    /// Notes that addresses of types come to places, and to all where these hand them on.
    pub(super) fn enter(&mut self, mut open: Vec<(PlaceNumber, u8, TypeNumber)>, merged: &Merged) {
        while let Some((place, level, ty)) = open.pop() {
            let Some(place) = self.places.get_mut(place).filter(|_| level <= DEEPEST) else { continue };
            if !place.entering.insert((level, ty)) {
                continue;
            }
            place.has_bytes |= u64::from(merged.is_bytes(ty)) << level;
            let known = place.passages.iter().filter(|known| known.level == level);
            let handed = known.flat_map(|known| &known.handed);
            let next: Vec<(PlaceNumber, u8)> =
                handed.map(|handed| (handed.place, handed.state.level)).collect();
            open.extend(next.into_iter().filter_map(|(place, level)| Some((self.actual(place)?, level, ty))));
        }
    }
}

/// Whether addresses of many objects meet at a place: a member, a variable, all functions that a pointer can lead to, or
/// arguments that nothing is declared for.
fn is_kept(place: &str) -> bool {
    !place.contains(' ') || place.contains(" of a function ") || names::is_variadic(place)
}

/// A length that a caller gives, as far as it is one. One byte is what any text has.
fn length(otherwise: Option<&End>) -> Option<u64> {
    match otherwise {
        Some(End::Bytes { count: Some(count), .. }) if *count > 1 => Some(*count),
        _ => None,
    }
}
