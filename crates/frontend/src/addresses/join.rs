//! All units' facts as demands.

mod found;
mod mapped;
mod outside;
mod places;
mod strides;
mod taken;
mod visit;
mod walk;

pub use self::found::Demands;
pub use self::mapped::{MappedUses, mapped};
use self::outside::add_external;
use self::places::PlaceNumber;
use self::walk::{Begin, Begins, Found, Walk};
use super::compared::{comparing, ordered};
use super::counterparts::Pairs;
use super::facts::{CodePlace, Departure, Origin, State, UnitFlows};
use super::judge::{Address, Judge};
use super::merged::{Merged, TypeNumber};
use super::names;
use crate::demand::CodeUse;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// The demands that follow from the facts of all units of a program. `held`: subjects none of whose members may move in
/// any case. Nothing is asked of them, but their addresses are followed as those of any other record, as they may be taken
/// for one of a subject.
pub fn demands(units: &[&UnitFlows], held: &BTreeSet<usize>) -> Demands {
    let merged = Merged::new(units, held);
    let mut walk = Walk::new(units, &merged);
    let begins = begins(units, &mut walk);
    enter(&begins, &mut walk);
    let address_of = |begin: &Begin<'_>| match begin {
        Begin::Departure { unit, departure, .. } => Some(Address::new(&merged, *unit, &departure.origin)),
        Begin::Place { .. } => None,
    };
    let has_subject = |begin: &Begin<'_>| match begin {
        Begin::Departure { departure: Departure { origin: Origin::Other(_), .. }, .. } => false,
        begin => address_of(begin).is_some_and(|address| merged.subjects(address.ty()).next().is_some()),
    };
    let grouped = |has_subjects: bool| {
        let mut grouped: Begins<'_, '_> = BTreeMap::new();
        for begin in begins.iter().filter(|begin| has_subject(begin) == has_subjects) {
            if let Some(address) = address_of(begin) {
                grouped.entry(address).or_default().push(begin);
            }
        }
        grouped
    };
    let mut found = Found::default();
    found.1.pairs = Pairs::new(units, &merged);
    // Objects of others first: they tell which records are taken for one another.
    walk.follow_all(&grouped(false), &mut found);
    let written = add_counterparts(units, &mut walk, &found);
    walk.follow_all(&by_type(&written), &mut found);
    walk.follow_all(&grouped(true), &mut found);
    add_given(units, &merged, &mut found.0);
    add_assembled(units, &merged, &mut found.0);
    take(units, &walk, &mut found);
    let (mut found, noted) = found;
    noted.compared.judge(&merged, &mut found.uses);
    ordered(units, &merged, &mut found.uses);
    found.unread.extend(comparing(units, &merged));
    add_symbols(units, &merged, &mut found);
    add_external(units, &mut found);
    let symbols = units.iter().flat_map(|flows| &flows.attributed).cloned();
    found.symbols.extend(symbols);
    found.settle();
    found
}

/// All addresses that stop being pointers to their type.
fn begins<'f>(units: &[&'f UnitFlows], walk: &mut Walk<'f>) -> Vec<Begin<'f>> {
    let departures = units
        .iter()
        .enumerate()
        .flat_map(|(unit, flows)| flows.departures.iter().map(move |own| (unit, own)));
    let begins = departures.map(|(unit, departure)| {
        let handed = walk.table.handed(&departure.outcome);
        Begin::Departure { unit, departure, handed }
    });
    begins.collect()
}

/// Notes which types come where.
fn enter(begins: &[Begin<'_>], walk: &mut Walk<'_>) {
    let merged = walk.merged;
    let mut open: Vec<(PlaceNumber, u8, TypeNumber)> = Vec::new();
    for begin in begins {
        let Begin::Departure { unit, departure, handed } = begin else { continue };
        if departure.by.as_deref().is_some_and(|function| walk.table.is_defined(function)) {
            continue;
        }
        let ty = Address::new(merged, *unit, &departure.origin).ty();
        let is_object = matches!(departure.origin, Origin::Object(_));
        // Memory behind an object is none of it.
        let size = merged.shape(ty).and_then(|shape| i64::try_from(shape.size).ok()).filter(|_| is_object);
        let is_inside =
            |state: &State| size.zip(state.least).is_none_or(|(size, least)| size == 0 || least < size);
        let inside = handed.iter().filter(|handed| is_inside(&handed.state));
        open.extend(
            inside.filter_map(|handed| Some((walk.table.actual(handed.place)?, handed.state.level, ty))),
        );
    }
    walk.table.enter(open, merged);
}

/// Notes places that are read from what is written elsewhere. Gives addresses of subjects that are written as what they
/// are, and read as something else.
fn add_counterparts<'f>(
    units: &[&'f UnitFlows],
    walk: &mut Walk<'f>,
    found: &Found<'f>,
) -> Vec<(TypeNumber, Begin<'f>)> {
    let counterparts = found.1.pairs.counterparts(units, walk.merged);
    for (written, read) in &counterparts.places {
        let read = read.iter().map(|place| walk.table.number(place)).collect();
        if let Some(place) = walk.table.find(written).and_then(|number| walk.table.get_mut(number)) {
            place.counterparts = read;
        }
    }
    let begins = counterparts.records.iter().filter_map(|(ty, place)| {
        let place = walk.table.find(place)?;
        let (_, _, at) = walk.table.get(place)?.passages.iter().flat_map(|known| known.ends).next()?;
        Some((*ty, Begin::Place { place, is_kept: true, at }))
    });
    begins.collect()
}

fn by_type<'b, 'f>(begins: &'b [(TypeNumber, Begin<'f>)]) -> Begins<'b, 'f> {
    let mut grouped: Begins<'_, '_> = BTreeMap::new();
    for (ty, begin) in begins {
        grouped.entry(Address::Object(*ty)).or_default().push(begin);
    }
    grouped
}

/// Functions that are given subjects' addresses as what they are.
fn add_given(units: &[&UnitFlows], merged: &Merged, found: &mut Demands) {
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
    let defined =
        units.iter().flat_map(|flows| &flows.defined).filter_map(|function| names::word_of(function));
    found.defined =
        defined.filter(|function| found.given.contains_key(*function)).map(str::to_owned).collect();
}

/// Addresses that are taken for a subject's, and that come from nowhere in this program, are a subject's.
fn take<'f>(units: &[&'f UnitFlows], walk: &Walk<'f>, found: &mut Found<'f>) {
    let merged = walk.merged;
    let departing = units.iter().enumerate().flat_map(|(unit, flows)| {
        flows.departures.iter().filter_map(move |departure| match departure.origin {
            Origin::Object(shape) => Some((unit, shape)),
            _ => None,
        })
    });
    let departing: FxHashSet<TypeNumber> =
        departing.map(|(unit, shape)| merged.number(unit, shape)).collect();
    let open: FxHashSet<&str> = units.iter().flat_map(|flows| &flows.open).map(String::as_str).collect();
    let taken = walk.taken();
    let is_entered = |place| walk.table.get(place).is_some_and(|place| !place.entering.is_empty());
    let mut places = taken.first_places(is_entered);
    places.sort_unstable_by_key(|place| walk.name(*place));
    let mut begins = Vec::new();
    for place in places {
        take_first_members(merged, taken.all(place), &mut found.0);
        for (ty, at) in taken.types(place) {
            let is_from_outside = open.contains(walk.name(place)) && !departing.contains(&ty);
            if is_from_outside {
                let why = "is handed over as void * by callers that no unit of this build shows";
                for (subject, ..) in merged.subjects(ty) {
                    found.0.uses.push(at.used(subject, crate::Demand::Whole, why.to_owned()));
                }
            }
            let is_kept = walk.table.get(place).is_some_and(|place| place.is_kept);
            begins.push((ty, Begin::Place { place, is_kept, at }));
        }
    }
    walk.follow_all(&by_type(&begins), found);
    walk.strided(&taken, &mut found.0);
}

/// Memory at one place that is taken for records and for what they begin with: their first members stay.
fn take_first_members(
    merged: &Merged,
    types: Option<&BTreeMap<TypeNumber, &CodePlace>>,
    found: &mut Demands,
) {
    for (ty, at) in types.into_iter().flatten() {
        let judge = Judge { merged, address: Address::Object(*ty), at };
        for (inner, also) in types.into_iter().flatten().filter(|(inner, _)| *inner != ty) {
            judge.begins((*ty, *inner), also, &mut found.uses);
        }
    }
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
            for (subject, ..) in merged.subjects(ty) {
                let why = format!("{symbol} is a variable of it");
                let used = place.used(subject, crate::Demand::Whole, why);
                found.variables.entry(symbol.clone()).or_default().push(used);
            }
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
