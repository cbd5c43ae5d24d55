//! Where ways begin: conversions of addresses, addresses of members, and the places that other units hand addresses to.

use super::calls;
use super::facts::{CodePlace, Departure, End, Origin, Passage, Place, RAW, State, UnitFlows, Way};
use super::follow::{Follower, Unit};
use super::names;
use super::shapes::type_name;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::records::named_holder;
use crate::sum::{Term, View};
use crate::tree::Index;
use std::collections::{BTreeMap, BTreeSet};

/// All that a unit says of addresses.
pub(crate) fn read<'u>(view: View<'_, '_, 'u>) -> UnitFlows {
    let unit = Unit::new(view);
    let mut read = Reader {
        unit: &unit,
        departures: Vec::new(),
        results: BTreeMap::new(),
        given: BTreeSet::new(),
        passages: Vec::new(),
        defined: Vec::new(),
        symbols: BTreeSet::new(),
    };
    for index in 0..view.tree.len() {
        read.node(index);
    }
    read.variables();
    let results = std::mem::take(&mut read.results);
    for (place, nodes) in results {
        let mut follower = Follower::new(&unit);
        nodes.into_iter().for_each(|node| follower.push(node, State::PLAIN));
        read.passage(place, 0, follower.run());
    }
    let Reader { mut departures, mut passages, given, mut defined, symbols, .. } = read;
    defined.sort_unstable();
    defined.dedup();
    departures.dedup();
    passages.sort_by(|left, right| left.place.cmp(&right.place));
    passages.dedup();
    let shapes = unit.shapes.into_inner().all;
    let (given, symbols) = (given.into_iter().collect(), symbols.into_iter().collect());
    UnitFlows { shapes, departures, passages, symbols, defined, given }
}

/// A unit being read.
struct Reader<'r, 'v, 's, 'u> {
    unit: &'r Unit<'v, 's, 'u>,
    departures: Vec<Departure>,
    /// Calls by the place that their result comes from.
    results: BTreeMap<Place, Vec<Index>>,
    given: BTreeSet<(String, usize, CodePlace)>,
    passages: Vec<Passage>,
    defined: Vec<String>,
    symbols: BTreeSet<(String, usize, CodePlace)>,
}

impl<'u> Reader<'_, '_, '_, 'u> {
    fn view(&self) -> View<'_, '_, 'u> {
        self.unit.view
    }

    fn node(&mut self, index: Index) {
        match self.unit.view.tree.kind(index) {
            Kind::Unexposed | Kind::Cast | Kind::FunctionalCast => {
                self.converted(index);
                self.taken_from_list(index);
            }
            Kind::Unary => self.address(index),
            Kind::MemberAccess => {
                self.array(index);
                self.alternative(index);
            }
            Kind::Call => self.call(index),
            Kind::Function | Kind::Template => self.parameters(index),
            Kind::Name => self.callback(index),
            Kind::Variable => self.symbol(index),
            _ => {}
        }
    }

    fn passage(&mut self, place: Place, level: u8, way: Way) {
        // A parameter that nothing is done with is known, too.
        if level == 0 && place.starts_with("parameter") || !way.ends.is_empty() || !way.places.is_empty() {
            self.passages.push(Passage { place, level, way });
        }
    }

    /// What becomes of an address that a variable holds, or that memory holds to which it points.
    fn held(&mut self, place: &Place, variable: Cursor<'u>) {
        for level in 0..=levels(variable.ty()) {
            let mut follower = Follower::new(self.unit);
            follower.follow(variable.identity(), State { level, ..State::PLAIN });
            let way = follower.run();
            self.passage(place.clone(), level, way);
        }
    }

    fn depart(&mut self, index: Index, origin: Origin, mut way: Way) {
        let shapes = self.unit.shapes.borrow();
        let has_subjects =
            |shape: usize| shapes.all.get(shape).is_some_and(|shape| !shape.subjects.is_empty());
        match origin {
            Origin::Object(shape) if !has_subjects(shape) => way.ends.retain(|(_, end, _)| match end {
                End::Record(shape) => has_subjects(*shape),
                end => *end == End::Frees,
            }),
            Origin::Other(_) => way.ends.clear(),
            _ => {}
        }
        drop(shapes);
        if !way.ends.is_empty() || !way.places.is_empty() {
            let at = self.unit.place(index);
            self.departures.push(Departure { origin, at, way, by: None });
        }
    }

    /// The origin that an address of a type has.
    fn origin(&self, ty: Type<'u>) -> Origin {
        match ty.kind() == TypeKind::Record {
            true => Origin::Object(self.unit.shape(ty)),
            false => Origin::Other(type_name(ty)),
        }
    }

    /// A pointer to a record, or to bytes, becomes one to something else, or a number.
    fn converted(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(inner) = view.tree.only(index).filter(|_| !view.is_offset_of(index)) else { return };
        if is_outside(view, inner) {
            return;
        }
        let (Some(from), Some(to)) = (view.cursor(inner).map(Cursor::ty), view.cursor(index).map(Cursor::ty))
        else {
            return;
        };
        let Some(mut own) = from.pointee().or_else(|| from.element()) else {
            return self.object(index, from, to);
        };
        while let Some(element) = own.element() {
            own = element;
        }
        if let Some(record) = own.pointee().filter(|record| record.kind() == TypeKind::Record) {
            return self.pointer(inner, record, to);
        }
        let is_same = match to.kind() {
            TypeKind::Pointer => {
                to.pointee().is_some_and(|to| to.equals(own) || to.element().is_some_and(|to| to.equals(own)))
            }
            TypeKind::Number => false,
            _ => return,
        };
        if is_same || !matches!(own.kind(), TypeKind::Record | TypeKind::Byte | TypeKind::Number) {
            return;
        }
        // `va_arg` is a conversion of the list's type.
        if from.canonical().spelling().contains("va_list") {
            return;
        }
        let origin = self.origin(own);
        let mut follower = Follower::new(self.unit);
        follower.push(inner, State::PLAIN);
        let way = follower.run();
        self.depart(index, origin, way);
    }

    /// The address of a pointer becomes one of another pointer: what one is given, the other one has.
    fn pointer(&mut self, inner: Index, record: Type<'u>, to: Type<'u>) {
        let other = to.pointee().and_then(|to| to.pointee());
        if other.is_some_and(|other| other.equals(record)) || to.kind() != TypeKind::Pointer {
            return;
        }
        let mut follower = Follower::new(self.unit);
        if let Some(other) = other.filter(|other| other.kind() == TypeKind::Record) {
            let shape = self.unit.shape(other);
            follower.end(inner, State::PLAIN, End::Record(shape));
        }
        follower.push(inner, State { level: 1, ..State::PLAIN });
        let way = follower.run();
        let (shape, at) = (self.unit.shape(record), self.unit.place(inner));
        for (state, place, ..) in &way.places {
            let ends = vec![(State::PLAIN, End::Record(shape), at.clone())];
            self.passage(place.clone(), state.level, Way { ends, places: Vec::new() });
        }
        self.depart(inner, Origin::Object(shape), way);
    }

    /// `reinterpret_cast<char &>(object)`
    fn object(&mut self, index: Index, from: Type<'u>, to: Type<'u>) {
        let view = self.unit.view;
        let is_other = match to.kind() {
            TypeKind::Byte | TypeKind::Number | TypeKind::Other => true,
            TypeKind::Record => !to.equals(from),
            _ => false,
        };
        let is_read = view.tree.kind(index) == Kind::Cast && from.kind() == TypeKind::Record && is_other;
        let has_call = view.tree.below(index).any(|below| view.tree.kind(below) == Kind::Call);
        if is_read && !has_call {
            let origin = self.origin(from);
            let mut follower = Follower::new(self.unit);
            let end = match to.kind() {
                TypeKind::Record => End::Record(self.unit.shape(to)),
                _ => End::Unknown,
            };
            follower.end(index, State::PLAIN, end);
            let way = follower.run();
            self.depart(index, origin, way);
        }
    }

    /// `&object->member`
    fn address(&mut self, index: Index) {
        let view = self.unit.view;
        if view.cursor(index).map(Cursor::unary_operator) != Some(Operator::AddressOf) {
            return;
        }
        let inner = view.tree.only(index).map(|inner| view.peeled(inner));
        if inner.is_some_and(|inner| view.tree.kind(inner) == Kind::MemberAccess) {
            self.member(index);
        }
    }

    /// A pointer that is a member of a union: what is written through one member is read through another.
    fn alternative(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(member) = view.cursor(index).and_then(Cursor::referenced) else { return };
        let is_of_union = member.holder().is_some_and(|holder| holder.kind() == Kind::Union);
        let record =
            member.ty().pointee().filter(|pointee| pointee.kind() == TypeKind::Record && is_of_union);
        let Some(record) = record else { return };
        let shape = self.unit.shape(record);
        let written = view.tree.parent(index).filter(|parent| {
            let operator = view.cursor(*parent).map(Cursor::binary_operator);
            view.tree.kind(*parent) == Kind::Binary
                && operator == Some(Operator::Assign)
                && view.tree.values(*parent).next() == Some(index)
        });
        let mut follower = Follower::new(self.unit);
        match written {
            Some(_) => {
                follower.hand(index, State::PLAIN, names::variable(member), None);
                let way = follower.run();
                self.depart(index, Origin::Object(shape), way);
            }
            None => {
                follower.end(index, State::PLAIN, End::Record(shape));
                let way = follower.run();
                self.passage(names::variable(member), 0, way);
            }
        }
    }

    /// `object->array`
    fn array(&mut self, index: Index) {
        if self.view().cursor(index).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Array) {
            self.member(index);
        }
    }

    fn member(&mut self, index: Index) {
        let view = self.unit.view;
        let sum = view.sum(index);
        // What stands in front says which object it is.
        let Some((true, Term::Offset(path))) = sum.terms.last() else { return };
        let (Some(first), Some(last)) = (path.first(), path.last()) else { return };
        let Some(holder) = named_holder(*first).map(Cursor::ty) else { return };
        if view.records.within(holder).is_empty() {
            return;
        }
        let mut offset = holder.offset_of(&first.name()).unwrap_or(0);
        for member in path.iter().skip(1) {
            offset = offset.saturating_add(member.bit_offset().unwrap_or(0) / 8);
        }
        let ty = last.ty();
        let origin = Origin::Member {
            holder: self.unit.shape(holder),
            offset,
            size: ty.size().unwrap_or(0),
            is_array: matches!(ty.kind(), TypeKind::Array | TypeKind::Record),
        };
        let mut follower = Follower::new(self.unit);
        follower.push(index, State::PLAIN);
        let way = follower.run();
        self.depart(index, origin, way);
    }

    fn call(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(ty) = view.cursor(index).map(Cursor::ty) else { return };
        if is_open(ty) {
            let place = match calls::function(view, index) {
                Some(function) => Some(names::result(function)),
                None => calls::pointed_to(view, index).map(names::callback_result),
            };
            if let Some(place) = place {
                self.results.entry(place).or_default().push(index);
            }
            self.raw(index);
        }
        self.variable_arguments(index);
        self.given(index);
    }

    /// Memory that a function gives whose body is elsewhere, if anywhere.
    fn raw(&mut self, index: Index) {
        let view = self.unit.view;
        let function = calls::function(view, index);
        if function.is_some_and(|function| function.definition().is_some()) {
            return;
        }
        let mut follower = Follower::new(self.unit);
        follower.push(index, State::PLAIN);
        let mut way = follower.run();
        way.ends.clear();
        if !way.places.is_empty() {
            let by = Some(function.map(Cursor::identifier).unwrap_or_default());
            let (origin, at) = (Origin::Other(RAW.to_owned()), self.unit.place(index));
            self.departures.push(Departure { origin, at, way, by });
        }
    }

    /// Arguments that no parameter is declared for keep their type.
    fn variable_arguments(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = calls::function(view, index) else { return };
        let declared = function.ty();
        if !declared.is_open_function() {
            return;
        }
        for (number, argument) in
            calls::arguments(view, index).into_iter().enumerate().skip(declared.parameter_count())
        {
            let Some(ty) = view.cursor(argument).map(Cursor::ty) else { continue };
            let is_blind = declared.has_no_parameters_declared() || function.definition().is_none();
            if ty.kind() == TypeKind::Record && is_blind {
                self.by_value(argument, ty);
            }
            let Some(own) = ty.pointee().filter(|own| own.kind() == TypeKind::Record) else { continue };
            let place = match declared.has_no_parameters_declared() {
                true => names::parameter(function, number),
                false => names::variable_arguments(function),
            };
            let origin = self.origin(own);
            let mut follower = Follower::new(self.unit);
            let by = function.name();
            let is_printed = by.contains("print") || by.contains("scan");
            if function.definition().is_none() && !is_printed && !declared.has_no_parameters_declared() {
                follower.end(argument, State::PLAIN, End::Bytes { count: None, by });
            }
            follower.hand(argument, State::PLAIN, place, None);
            let way = follower.run();
            self.depart(argument, origin, way);
        }
    }

    /// An object itself, for whatever takes it out of its bytes.
    fn by_value(&mut self, argument: Index, ty: Type<'u>) {
        let mut follower = Follower::new(self.unit);
        follower.end(argument, State::PLAIN, End::Unknown);
        let (origin, way) = (self.origin(ty), follower.run());
        self.depart(argument, origin, way);
    }

    /// A variable that other units may declare, too.
    fn symbol(&mut self, index: Index) {
        let Some(variable) = self.unit.view.cursor(index).filter(|variable| variable.is_shared()) else {
            return;
        };
        let mut ty = variable.ty();
        while let Some(element) = ty.element() {
            ty = element;
        }
        if matches!(ty.kind(), TypeKind::Record | TypeKind::Byte | TypeKind::Number) {
            let shape = self.unit.shape(ty);
            self.symbols.insert((variable.identifier(), shape, self.unit.place(index)));
        }
    }

    /// A subject's address as what it is, for a function without a body here.
    fn given(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = calls::function(view, index).filter(|function| function.definition().is_none())
        else {
            return;
        };
        for argument in calls::arguments(view, index) {
            let own = view.cursor(argument).and_then(|argument| argument.ty().pointee());
            if let Some(own) = own.filter(|own| view.records.subject(*own).is_some()) {
                self.given.insert((function.name(), self.unit.shape(own), self.unit.place(index)));
            }
        }
    }

    /// Parameters of a function with a body.
    fn parameters(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = view.cursor(index) else { return };
        if !view.tree.children(index).any(|child| view.tree.kind(child) == Kind::Block) {
            return;
        }
        // What a library's template does with open types isn't shown by its text.
        if view.tree.kind(index) == Kind::Template && function.is_of_system() {
            return;
        }
        if function.is_shared() {
            self.defined.push(function.identifier());
        }
        let parameters = view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::Parameter);
        for (number, node) in parameters.enumerate().collect::<Vec<_>>() {
            let Some(parameter) = view.cursor(node) else { continue };
            let place = names::parameter(function, number);
            let record = parameter.ty().pointee().filter(|pointee| pointee.kind() == TypeKind::Record);
            match record {
                Some(record) if function.is_shared() => {
                    let mut follower = Follower::new(self.unit);
                    let shape = self.unit.shape(record);
                    follower.end(node, State::PLAIN, End::Record(shape));
                    let way = follower.run();
                    self.passage(place, 0, way);
                }
                None if is_open(parameter.ty()) => self.held(&place, parameter),
                _ => {}
            }
        }
    }

    /// Members and variables of all units.
    fn variables(&mut self) {
        let view = self.unit.view;
        let mut declared: BTreeMap<Place, Cursor<'u>> = BTreeMap::new();
        for nodes in self.unit.names.values() {
            let Some(cursor) = nodes.first().and_then(|node| view.cursor(*node)?.referenced()) else {
                continue;
            };
            let is_global = match cursor.kind() {
                Kind::Member => true,
                Kind::Variable => cursor.holder().is_none_or(|holder| holder.kind() != Kind::Function),
                _ => false,
            };
            let mut ty = cursor.ty();
            while let Some(element) = ty.element().filter(|element| element.kind() != TypeKind::Byte) {
                ty = element;
            }
            if is_global && is_open(ty) {
                declared.insert(names::variable(cursor), cursor);
            }
        }
        for (place, cursor) in declared {
            self.held(&place, cursor);
        }
    }

    /// A function whose address is taken may be called through any pointer to its type, or to the type it is cast to.
    fn callback(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = view.cursor(index).and_then(Cursor::referenced) else { return };
        if function.kind() != Kind::Function || is_callee(view, index) {
            return;
        }
        let mut types = vec![function.ty()];
        let mut at = index;
        while let Some(parent) = view.tree.parent(at)
            && matches!(view.tree.kind(parent), Kind::Unexposed | Kind::Paren | Kind::Cast | Kind::Unary)
        {
            let pointee = view.cursor(parent).and_then(|cursor| cursor.ty().pointee());
            types.extend(pointee.filter(|pointee| pointee.kind() == TypeKind::Function));
            at = parent;
        }
        let mut seen = BTreeSet::new();
        if let Some(ty) = types.iter().find(|ty| ty.result().is_some_and(is_open)) {
            let mut follower = Follower::new(self.unit);
            follower.hand(index, State::PLAIN, names::callback_result(*ty), None);
            let way = follower.run();
            self.passage(names::result(function), 0, way);
        }
        for ty in types {
            for number in 0..ty.parameter_count() {
                let place = names::callback(ty, number);
                let is_open = ty.parameter(u32::try_from(number).unwrap_or(0)).is_some_and(is_open);
                if !is_open || !seen.insert(place.clone()) {
                    continue;
                }
                let mut follower = Follower::new(self.unit);
                let own = function.ty().parameter(u32::try_from(number).unwrap_or(0)).and_then(Type::pointee);
                match own.filter(|own| own.kind() == TypeKind::Record) {
                    Some(record) => {
                        let shape = self.unit.shape(record);
                        follower.end(index, State::PLAIN, End::Record(shape));
                    }
                    None => follower.hand(index, State::PLAIN, names::parameter(function, number), None),
                }
                let way = follower.run();
                self.passage(place, 0, way);
            }
        }
    }

    /// `va_arg(list, T *)`
    fn taken_from_list(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(to) = view.cursor(index).map(Cursor::ty).filter(|ty| ty.kind() == TypeKind::Pointer) else {
            return;
        };
        let inner = view.tree.only(index).and_then(|inner| view.cursor(inner));
        let is_list = inner.is_some_and(|inner| inner.ty().canonical().spelling().contains("va_list"));
        let has_other_type = to.pointee().is_some_and(|to| !to.spelling().contains("va_list"));
        if view.tree.kind(index) != Kind::Unexposed || !is_list || !has_other_type {
            return;
        }
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function = holders.find(|holder| view.tree.kind(*holder) == Kind::Function);
        let Some(function) = function.and_then(|function| view.cursor(function)) else { return };
        let mut follower = Follower::new(self.unit);
        match to.pointee().filter(|pointee| pointee.kind() == TypeKind::Record) {
            Some(record) => {
                let shape = self.unit.shape(record);
                follower.end(index, State::PLAIN, End::Record(shape));
            }
            None => follower.push(index, State::PLAIN),
        }
        let way = follower.run();
        self.passage(names::variable_arguments(function), 0, way);
    }
}

/// Whether a type doesn't say what an address leads to: pointers to no records, numbers as wide as pointers.
fn is_open(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Pointer => ty.pointee().is_some_and(|pointee| {
            matches!(
                pointee.kind(),
                TypeKind::Void | TypeKind::Byte | TypeKind::Number | TypeKind::Pointer | TypeKind::Array
            )
        }),
        TypeKind::Number => ty.size() == Some(8) && !ty.is_enumeration(),
        _ => false,
    }
}

/// Whether an expression leads behind a single object or in front of it: `object + 1`.
fn is_outside(view: View<'_, '_, '_>, index: Index) -> bool {
    let index = view.peeled(index);
    let operator = view.cursor(index).map(Cursor::binary_operator);
    if view.tree.kind(index) != Kind::Binary || !matches!(operator, Some(Operator::Add | Operator::Subtract))
    {
        return false;
    }
    let mut sides = view.tree.values(index);
    let (Some(object), Some(number)) = (sides.next(), sides.next()) else { return false };
    let is_array =
        view.cursor(view.peeled(object)).is_some_and(|object| object.ty().kind() == TypeKind::Array);
    let number = view.cursor(number).and_then(Cursor::constant);
    !is_array && number.is_some_and(|number| number != 0)
}

/// How many pointers lead to the address in what a type says.
fn levels(ty: Type<'_>) -> u8 {
    let mut levels = 0;
    let mut ty = ty;
    while let Some(inner) = ty.element().or_else(|| ty.pointee())
        && matches!(inner.kind(), TypeKind::Pointer | TypeKind::Array)
        && levels < 3
    {
        (ty, levels) = (inner, levels + 1);
    }
    levels
}

/// Whether a name is the function of a call.
fn is_callee(view: View<'_, '_, '_>, index: Index) -> bool {
    let mut at = index;
    while let Some(parent) = view.tree.parent(at) {
        match view.tree.kind(parent) {
            Kind::Unexposed | Kind::Paren => at = parent,
            Kind::Call => return view.tree.values(parent).next() == Some(at),
            _ => return false,
        }
    }
    false
}
