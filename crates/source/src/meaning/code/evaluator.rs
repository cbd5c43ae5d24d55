//! Variables, values that are kept, and uses that are found while a file's code is read.

use crate::meaning::flows::{Flows, Known, Slot, add, drop_record};
use crate::meaning::syntax::cursor::Cursor;
use crate::meaning::types::{TargetStruct, Type, World};
use crate::meaning::value::{Base, MOST_SUMS, Part, Sum, Term, Value, join, join_what_fits};
use crate::uses::UseDemand;
use rustc_hash::{FxHashMap, FxHashSet};

/// A demand of code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::meaning) struct Found {
    pub(in crate::meaning) subject: usize,
    pub(in crate::meaning) line: u32,
    /// One more than the number of the macro it was written in.
    pub(in crate::meaning) source: u32,
    pub(in crate::meaning) demand: UseDemand,
    /// Numbers of the members concerned.
    pub(in crate::meaning) members: Vec<usize>,
    pub(in crate::meaning) what: String,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::meaning) enum Context {
    Plain,
    /// The result stays in the program as a number: enums, sizes of arrays, assertions.
    Constant,
}

/// A local variable.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Local<'t> {
    pub(in crate::meaning) ty: Type<'t>,
    pub(in crate::meaning) sums: Vec<Sum<'t>>,
    /// The number of the parameter that it is.
    pub(in crate::meaning) parameter: Option<usize>,
    pub(in crate::meaning) is_static: bool,
    /// Whether it is known not to be null: a parameter, an address, what was tested before.
    pub(in crate::meaning) is_object: bool,
    /// Of a pointer to a record, where it was had from.
    pub(in crate::meaning) parts: Vec<Part<'t>>,
}

/// Functions that a call through a pointer reaches.
#[derive(Clone, Copy, Debug)]
pub(in crate::meaning) enum Callee<'t> {
    /// A function, with the file that alone knows it.
    One(Option<usize>, &'t [u8]),
    /// Any function that a place keeps, by its number.
    Any(u64),
}

impl<'t> Callee<'t> {
    /// Where an argument is kept.
    pub(in crate::meaning) fn parameter(self, number: usize) -> Slot<'t> {
        match self {
            Self::One(home, name) => Slot::Parameter(home, name, number),
            Self::Any(place) => Slot::Called(place, number),
        }
    }

    /// Where its results are kept.
    pub(in crate::meaning) fn result(self) -> Slot<'t> {
        match self {
            Self::One(home, name) => Slot::Returned(home, name),
            Self::Any(place) => Slot::Results(place),
        }
    }
}

/// Addresses and lengths that members of one object were given in a function.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Described<'t> {
    pub(super) objects: Vec<&'t [u8]>,
    pub(super) sizes: Vec<&'t [u8]>,
    /// The address of a member that was given last, and the lengths that belong to it.
    pub(super) part: Vec<Sum<'t>>,
    pub(super) lengths: Vec<Sum<'t>>,
}

#[derive(Debug)]
pub(in crate::meaning) struct Evaluator<'w, 'p, 't> {
    pub(in crate::meaning) cursor: Cursor<'w, 'p, 't>,
    pub(in crate::meaning) subjects: &'w [TargetStruct],
    pub(in crate::meaning) scopes: Vec<FxHashMap<&'t [u8], Local<'t>>>,
    pub(in crate::meaning) known: &'p Known<'p, 't>,
    pub(in crate::meaning) flows: Flows<'t>,
    pub(in crate::meaning) found: Vec<Found>,
    pub(in crate::meaning) returns: Type<'t>,
    pub(in crate::meaning) function: &'t [u8],
    pub(in crate::meaning) home: Option<usize>,
    pub(in crate::meaning) class: Option<&'t [u8]>,
    pub(in crate::meaning) context: Context,
    /// Offsets that the statement compares, and whether the member's size is added.
    pub(in crate::meaning) compared: Vec<(&'t [u8], &'t [u8], bool)>,
    /// The value of the last statement.
    pub(in crate::meaning) last: Value<'t>,
    /// Objects whose members are given addresses and sizes of a subject in this function.
    pub(in crate::meaning) described: FxHashMap<&'t [u8], Described<'t>>,
    /// Members that this function has tested for null.
    pub(in crate::meaning) tested: FxHashSet<&'t [u8]>,
    pub(in crate::meaning) is_quiet: bool,
    pub(in crate::meaning) steps: usize,
    pub(in crate::meaning) is_cpp: bool,
    /// Whether a name may be a template's parameter.
    pub(in crate::meaning) has_templates: bool,
    /// Records by whose sizes the function chooses cases.
    pub(in crate::meaning) switched: Vec<&'t [u8]>,
    /// Numbers that variables of this function stay below, as loops and tests say.
    pub(in crate::meaning) bounds: FxHashMap<&'t [u8], i64>,
    /// Whether what is read now is a loop's head.
    pub(in crate::meaning) is_head: bool,
    /// How often something changed that others see.
    pub(in crate::meaning) effects: usize,
}

impl<'w, 'p, 't> Evaluator<'w, 'p, 't> {
    pub(in crate::meaning) fn world(&self) -> &'w World<'t> {
        self.cursor.world
    }

    pub(in crate::meaning) fn subject(&self, record: &[u8]) -> Option<(usize, &'w TargetStruct)> {
        let number = self.world().subject(record)?;
        Some((number, self.subjects.get(number)?))
    }

    pub(in crate::meaning) fn local(&self, name: &[u8]) -> Option<&Local<'t>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Adds what a variable may be.
    pub(in crate::meaning) fn assign(&mut self, name: &'t [u8], sums: &[Sum<'t>]) {
        // A variable's numbers change.
        let sums = &self.telling(sums);
        if let Some(local) = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name)) {
            let dropped = join_what_fits(&mut local.sums, sums, MOST_SUMS);
            dropped
                .into_iter()
                .flat_map(Sum::records)
                .for_each(|record| drop_record(&mut self.flows, record));
        } else if self.world().globals.contains_key(name) {
            self.keep(Slot::Global(name), sums);
        }
    }

    pub(in crate::meaning) fn declare(&mut self, name: &'t [u8], ty: Type<'t>, sums: Vec<Sum<'t>>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Local { ty, sums, ..Local::default() });
        }
    }

    pub(in crate::meaning) fn keep(&mut self, slot: Slot<'t>, sums: &[Sum<'t>]) {
        let telling = self.telling(sums);
        if !telling.is_empty() {
            add(&mut self.flows, slot, &telling, self.known.related);
        }
    }

    /// Those values that say anything of an object, as they are kept.
    fn telling(&self, sums: &[Sum<'t>]) -> Vec<Sum<'t>> {
        let telling = sums.iter().filter(|sum| sum.is_telling());
        telling.map(|sum| self.known.related.as_kept(sum)).collect()
    }

    /// The slots that a member of a record is kept in.
    pub(in crate::meaning) fn keep_member(&mut self, record: &'t [u8], name: &'t [u8], sums: &[Sum<'t>]) {
        if record.is_empty() {
            let home = self.loose_home();
            return self.keep(Slot::LooseMember(home, name), sums);
        }
        let owner = self.world().owner(record, name);
        self.shared_place(owner, name, sums);
        self.keep(Slot::Member(owner, name), sums);
        self.keep(Slot::AnyMember(name), sums);
    }

    pub(in crate::meaning) fn kept_member(&self, record: &'t [u8], name: &'t [u8]) -> Vec<Sum<'t>> {
        let mut sums = self.kept(Slot::LooseMember(self.loose_home(), name));
        match record.is_empty() {
            false => join(&mut sums, &self.kept(Slot::Member(self.world().owner(record, name), name))),
            true if self.world().is_complete => join(&mut sums, &self.kept(Slot::AnyMember(name))),
            true => {}
        }
        sums
    }

    fn loose_home(&self) -> Option<usize> {
        (!self.world().is_complete).then_some(self.cursor.file)
    }

    /// Something changes that others see.
    pub(in crate::meaning) fn changes(&mut self) {
        self.effects += 1;
        if !self.function.is_empty() {
            let seen = Sum { base: Some(Base::Mapped(b"")), terms: Vec::new() };
            self.keep(Slot::Effect(self.home, self.function), &[seen]);
        }
    }

    pub(in crate::meaning) fn kept(&self, slot: Slot<'t>) -> Vec<Sum<'t>> {
        let mut sums = self.known.get(slot).cloned().unwrap_or_default();
        if let Some(more) = self.flows.get(&slot) {
            join(&mut sums, more);
        }
        sums
    }

    /// The functions that some values are the addresses of.
    pub(in crate::meaning) fn functions_among(&self, sums: &[Sum<'t>]) -> Vec<(Option<usize>, &'t [u8])> {
        let (mut found, mut left, mut seen) = (Vec::new(), sums.to_vec(), FxHashSet::default());
        while let Some(sum) = left.pop() {
            match sum.base {
                Some(Base::Function(home, name)) => found.push((home, name)),
                Some(Base::Functions(number)) if seen.insert(number) => {
                    left.extend(self.kept(Slot::Functions(number)));
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The functions that calls of some values reach, those of one place together.
    pub(in crate::meaning) fn callees_among(&self, sums: &[Sum<'t>]) -> Vec<Callee<'t>> {
        let callee = |sum: &Sum<'t>| match sum.base {
            Some(Base::Function(home, name)) => Some(Callee::One(home, name)),
            Some(Base::Functions(number)) => Some(Callee::Any(number)),
            _ => None,
        };
        sums.iter().filter_map(callee).collect()
    }

    /// The values that a function is handed as a parameter, by its name and through pointers.
    pub(in crate::meaning) fn parameter(
        &self,
        home: Option<usize>,
        name: &'t [u8],
        number: usize,
    ) -> Vec<Sum<'t>> {
        let mut sums = self.kept(Slot::Parameter(home, name, number));
        for place in self.places_of(home, name) {
            join(&mut sums, &self.kept(Slot::Called(place, number)));
        }
        sums
    }

    /// The places that keep the address of a function among many.
    fn places_of(&self, home: Option<usize>, name: &'t [u8]) -> Vec<u64> {
        let (mut left, mut places) = (self.kept(Slot::Among(home, name)), Vec::new());
        while let Some(place) = left.pop() {
            if let Some(Base::Functions(place)) = place.base
                && !places.contains(&place)
            {
                places.push(place);
                left.extend(self.kept(Slot::Within(place)));
            }
        }
        places
    }

    /// Keeps the values that a function returns.
    pub(in crate::meaning) fn keep_result(&mut self, home: Option<usize>, name: &'t [u8], sums: &[Sum<'t>]) {
        self.keep(Slot::Returned(home, name), sums);
        for place in self.places_of(home, name) {
            self.keep(Slot::Results(place), sums);
        }
    }

    /// The objects and sizes of a value: as known, else by its type.
    pub(in crate::meaning) fn sums_of(&self, value: &Value<'t>) -> Vec<Sum<'t>> {
        let world = self.world();
        let ty = world.resolve(&value.ty);
        let mut sums = match (&ty, &value.place) {
            (Type::Array(..), Some(place)) => place.clone(),
            _ => value.sums.clone(),
        };
        let is_name = value.is_function() && !value.is_result;
        if let Some(name) = value.call.filter(|_| is_name && sums.is_empty()) {
            let home = world.functions.get(name).and_then(|function| function.home);
            sums.push(Sum { base: Some(Base::Function(home, name)), terms: Vec::new() });
        }
        // A null pointer counts from nothing.
        let is_null = sums.iter().any(|sum| sum.base.is_none() && sum.terms.is_empty());
        if let Some(element) = ty.element()
            && !is_null
        {
            let mut element = world.resolve(element);
            while let Type::Array(inner, _) = &element {
                element = world.resolve(inner);
            }
            match element {
                Type::Record(record) => {
                    let is_known = sums.iter().any(|sum| sum.base.is_some());
                    let own = Sum::object(record);
                    if !is_known || matches!(ty, Type::Array(..)) && self.subject(record).is_some() {
                        join(&mut sums, &[own]);
                    }
                }
                // The place that a pointer to a pointer points to keeps the address of an object.
                Type::Pointer(inner) if sums.is_empty() => {
                    let record = match world.resolve(&inner) {
                        Type::Record(record) => self.subject(record).map(|_| record),
                        _ => None,
                    };
                    let content =
                        record.map(|record| Sum { base: Some(Base::Content(record)), terms: Vec::new() });
                    sums.extend(content);
                }
                Type::Byte if sums.is_empty() && matches!(ty, Type::Array(..)) => {
                    sums.push(Sum { base: Some(Base::Bytes), terms: Vec::new() });
                }
                _ => {}
            }
        }
        sums
    }

    /// The size of a type as a sum.
    pub(in crate::meaning) fn size_of(&self, value: &Value<'t>) -> Sum<'t> {
        let world = self.world();
        let mut ty = world.resolve(&value.ty);
        if let Some((record, member)) = value.member.filter(|_| !matches!(ty, Type::Record(_))) {
            return Sum::term(Term::MemberSize(record, member));
        }
        if let Some(size) = world.size(&ty) {
            return Sum::term(Term::Number(i64::try_from(size).unwrap_or(i64::MAX)));
        }
        while let Type::Array(inner, _) = &ty {
            ty = world.resolve(inner);
        }
        match ty {
            Type::Record(record) => Sum::term(Term::Size(record)),
            _ => Sum::term(Term::Other),
        }
    }

    /// A type that says what a pointer points to.
    pub(in crate::meaning) fn is_typed(&self, ty: &Type<'t>) -> bool {
        matches!(self.world().pointee(ty), Some(Type::Record(_)))
    }

    /// The place of an object inside another as one of its own.
    pub(in crate::meaning) fn own_place(&self, ty: &Type<'t>) -> Option<Vec<Sum<'t>>> {
        match self.world().resolve(ty) {
            Type::Record(record) => Some(vec![Sum::object(record)]),
            _ => None,
        }
    }
}
