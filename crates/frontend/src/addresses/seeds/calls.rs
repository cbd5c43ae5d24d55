//! Arguments and results of calls.

mod containers;

use super::super::contracts::{is_keeper, is_mapping, moves_bytes, of_memory, uses_files, writes_pointers};
use super::super::facts::{Departure, End, Origin, Outcome, Place, RAW, State};
use super::super::follow::{Follower, leads_to_addresses, leads_to_pointers};
use super::super::{follow, names};
use super::reader::{Reader, is_open};
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// Functions of C's and C++'s libraries that read a number from a text, but `strtol` and the like.
const READERS: [&str; 8] = ["atoi", "atol", "atoll", "stoi", "stol", "stoll", "stoul", "stoull"];

/// The file's number among the arguments of `mmap`.
const MAPPED_FILE: usize = 4;

impl<'u> Reader<'_, '_, '_, 'u> {
    pub(crate) fn call(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(ty) = view.cursor(index).map(Cursor::ty) else { return };
        if is_open(ty) {
            let place = match follow::function(view, index) {
                Some(function) => Some(names::result(function)),
                None => follow::pointed_to(view, index).map(names::callback_result),
            };
            if let Some(place) = place {
                self.results.entry(place).or_default().push(index);
            }
            let is_void = ty.pointee().is_some_and(|pointee| pointee.kind() == TypeKind::Void);
            if let Some(place) = library(view, index).filter(|_| is_void).and_then(names::kept) {
                self.results.entry(place).or_default().push(index);
            }
            if let Some(place) =
                follow::function(view, index).filter(|_| !is_pointer(ty)).and_then(names::kept_by_class)
            {
                self.results.entry(place).or_default().push(index);
            }
            if maps(view, index) {
                self.results.entry(names::MAPPED.to_owned()).or_default().push(index);
            }
            self.raw(index);
            self.read_from_text(index);
        }
        self.out_parameters(index);
        self.system_records(index);
        self.bytes_of_pointers(index);
        self.lists_of_arguments(index);
        self.callbacks(index);
        self.variable_arguments(index);
        self.bound(index);
        self.handed_beside(index);
        self.given(index);
        self.unconverted_arguments(index);
        self.given_for_another(index);
        self.read_from_stream(index);
    }

    /// `strtoul(text)`: a number that may be an address which was printed.
    fn read_from_text(&mut self, index: Index) {
        let name = follow::function(self.unit.view, index).map(Cursor::name).unwrap_or_default();
        if name.contains("strto") || READERS.contains(&name.as_str()) {
            self.computed(index, names::TEXTS);
        }
    }

    /// `stream >> number`, `std::from_chars(begin, end, number)`
    fn read_from_stream(&mut self, index: Index) {
        let view = self.unit.view;
        let reads = |function: &Cursor<'u>| {
            function.is_of_system() && ["operator>>", "from_chars"].contains(&function.name().as_str())
        };
        if follow::function(view, index).filter(reads).is_none() {
            return;
        }
        for argument in follow::arguments(view, index) {
            let is_place = matches!(view.tree.kind(argument), Kind::Name | Kind::MemberAccess);
            if is_place && view.cursor(argument).is_some_and(|argument| is_open(argument.ty())) {
                let mut follower = Follower::new(self.unit);
                follower.store(argument, State::PLAIN.as_number());
                self.computed_by(follower, names::TEXTS);
            }
        }
    }

    /// A number that a node computes of what was put away as texts or parts.
    pub(crate) fn computed(&mut self, index: Index, place: &str) {
        let mut follower = Follower::new(self.unit);
        follower.push(index, State::PLAIN.as_number());
        self.computed_by(follower, place);
    }

    fn computed_by(&mut self, follower: Follower<'_, '_, '_, 'u>, place: &str) {
        let mut outcome = follower.run();
        // What is asked of bits is asked of any number.
        outcome.ends.retain(|(state, end, _)| !state.is_number || !matches!(end, End::Masked { .. }));
        for (state, ..) in &mut outcome.ends {
            state.is_number = false;
        }
        // A number of parts is the address again, also where another function makes a pointer of it.
        let is_address = place == names::PARTS;
        outcome.places.iter_mut().filter(|_| is_address).for_each(|(state, ..)| state.is_number = false);
        self.passage(place.to_owned(), 0, outcome);
    }

    /// `std::thread(function, object)`: C++'s library hands on what it is handed beside a function.
    fn handed_beside(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(callee) = follow::function(view, index) else { return };
        if !callee.is_of_system() || !callee.is_of_cpp() {
            return;
        }
        let arguments = follow::arguments(view, index);
        let named = |argument: &Index| {
            let named = view.cursor(view.peeled(*argument)).and_then(Cursor::referenced)?;
            (named.kind() == Kind::Function).then_some(named)
        };
        let functions: Vec<Cursor<'u>> = arguments.iter().filter_map(named).collect();
        if functions.is_empty() {
            return;
        }
        for argument in arguments {
            let Some(ty) = view.cursor(argument).map(Cursor::ty) else { continue };
            let own = ty.pointee().filter(|own| own.kind() == TypeKind::Record);
            let inner = own.unwrap_or(ty).template_arguments().into_iter().filter_map(Type::pointee);
            for own in own.into_iter().chain(inner).filter(|own| view.records.subject(*own).is_some()) {
                let mut follower = Follower::new(self.unit);
                for function in &functions {
                    for number in
                        (0..function.ty().parameter_count()).filter(|number| is_open_at(*function, *number))
                    {
                        follower.hand(argument, State::PLAIN, names::parameter(*function, number), None);
                    }
                }
                let (origin, outcome) = (self.origin(own), follower.run());
                self.depart(argument, origin, outcome);
            }
        }
    }

    /// Members that references are bound to.
    fn bound(&mut self, index: Index) {
        let view = self.unit.view;
        for (number, argument) in follow::arguments(view, index).into_iter().enumerate() {
            let mut named = argument;
            while matches!(view.tree.kind(named), Kind::Paren | Kind::Unexposed)
                && let Some(inner) = view.tree.only(named)
            {
                named = inner;
            }
            let is_member = view.tree.kind(named) == Kind::MemberAccess;
            if is_member && follow::binds(view, index, number) {
                let mut follower = Follower::new(self.unit);
                follower.bound(argument, index, State::PLAIN);
                let outcome = follower.run();
                self.member_of(named, &view.address_sum(named), outcome);
            }
        }
    }

    /// Memory that a function gives whose body is elsewhere, if anywhere.
    pub(crate) fn raw(&mut self, index: Index) {
        let view = self.unit.view;
        let function = follow::function(view, index);
        if function.is_some_and(|function| function.definition().is_some()) {
            return;
        }
        let mut follower = Follower::new(self.unit);
        follower.push(index, State::PLAIN);
        let mut outcome = follower.run();
        outcome.ends.clear();
        self.unknown_memory(index, function, outcome);
    }

    fn unknown_memory(&mut self, index: Index, function: Option<Cursor<'u>>, outcome: Outcome) {
        if !outcome.places.is_empty() {
            let by = Some(function.map(Cursor::identifier).unwrap_or_default());
            let (origin, at) = (Origin::Other(RAW.to_owned()), self.unit.place(index));
            self.departures.push(Departure { origin, at, outcome, by });
        }
    }

    /// A list of arguments that is handed on: whoever takes them there takes them of this function.
    fn lists_of_arguments(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(callee) =
            follow::function(view, index).filter(|callee| !callee.name().starts_with("__builtin_"))
        else {
            return;
        };
        let is_list =
            |argument: &Index| view.cursor(*argument).is_some_and(|argument| is_argument_list(argument.ty()));
        let Some(argument) = follow::arguments(view, index).into_iter().find(is_list) else { return };
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function = holders.find(|holder| view.tree.kind(*holder) == Kind::Function);
        let Some(function) = function.and_then(|function| view.cursor(function)) else { return };
        for (from, to) in [
            (names::variable_arguments(function), names::variable_arguments(callee)),
            (names::plain_arguments(function), names::plain_arguments(callee)),
        ] {
            let mut follower = Follower::new(self.unit);
            follower.hand(argument, State::PLAIN, to, None);
            let outcome = follower.run();
            self.passage(from, 0, outcome);
        }
    }

    /// Memory that a function is handed for an address: what it writes there is read from it.
    fn out_parameters(&mut self, index: Index) {
        let view = self.unit.view;
        let function = follow::function(view, index);
        if function.is_some_and(|function| of_memory(&function.name()).is_some()) {
            return;
        }
        // Numbers that a library gives are its own: handles, counts, times. Those in a text are the program's.
        let is_own = function.is_none_or(|function| {
            !function.is_of_system() || outside(view, index).as_deref() == Some(names::TEXTS)
        });
        let leads = if is_own { leads_to_addresses } else { leads_to_pointers };
        for (number, argument) in follow::arguments(view, index).into_iter().enumerate() {
            if !leads(view, argument) {
                continue;
            }
            for level in 1..=self.depth(argument) {
                self.written_through(index, (number, argument), level);
            }
        }
    }

    /// `read(file, &info, sizeof info)`: numbers and pointers in the system's records that the program reads may be those
    /// that it gave to the system.
    fn system_records(&mut self, index: Index) {
        let view = self.unit.view;
        if outside(view, index).as_deref() != Some(names::FILES) {
            return;
        }
        for argument in follow::arguments(view, index) {
            let pointer = view.cursor(view.peeled(argument)).and_then(|pointer| pointer.ty().pointee());
            let record =
                pointer.map(|own| own.element().unwrap_or(own)).filter(|own| own.kind() == TypeKind::Record);
            let record = record.filter(|own| own.canonical().declaration().is_some_and(Cursor::is_of_system));
            for member in record.into_iter().flat_map(Type::members).filter(|member| is_open(member.ty())) {
                let mut follower = Follower::new(self.unit);
                follower.hand(argument, State::PLAIN, names::variable(member), None);
                let outcome = follower.run();
                self.passage(names::FILES.to_owned(), 0, outcome);
            }
        }
    }

    /// `memcpy(&pointer, text.data(), sizeof pointer)`: C++'s library keeps bytes that may be those of a pointer.
    fn bytes_of_pointers(&mut self, index: Index) {
        let view = self.unit.view;
        let arguments = follow::arguments(view, index);
        let (Some(to), Some(from)) = (arguments.first(), arguments.get(1)) else { return };
        let moves = follow::function(view, index).is_some_and(|function| moves_bytes(&function.name()));
        if !moves || !leads_to_addresses(view, *to) || !follow::is_given_by_cpp(view, *from) {
            return;
        }
        let mut follower = Follower::new(self.unit);
        follower.store(*to, State { level: 1, ..State::PLAIN });
        let outcome = follower.run();
        self.passage(names::FILES.to_owned(), 0, outcome);
    }

    /// Brings what is written behind an argument to the variable whose address it is.
    fn written_through(&mut self, index: Index, (number, argument): (usize, Index), level: u8) {
        let view = self.unit.view;
        let mut follower = Follower::new(self.unit);
        follower.store(argument, State { level, ..State::PLAIN });
        let outcome = follower.run();
        let Some(function) = follow::function(view, index) else {
            if let Some(called) = follow::pointed_to(view, index) {
                self.passage(names::written_by_callback(called, number), level, outcome);
            }
            return;
        };
        if number >= function.ty().parameter_count() {
            self.passage(names::plain_arguments(function), level, outcome.clone());
        } else if function.definition().is_none() {
            // What nobody shows may write what others handed it.
            self.passage(names::parameter(function, number), level, outcome.clone());
        }
        if level == 1 {
            if let Some(place) = outside(view, index) {
                self.passage(place, 0, outcome.clone());
            }
            if function.definition().is_none() && writes_pointers(&function.name()) {
                self.unknown_memory(index, Some(function), Outcome { ends: Vec::new(), ..outcome.clone() });
            }
        }
        self.passage(names::written(function, number), level, outcome);
    }

    /// Functions that a library calls: it keeps their results, and hands those that it is given without data what it
    /// keeps.
    fn callbacks(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(library) = library(view, index) else { return };
        let Some(place) = names::kept(library) else { return };
        let has_data = (0..library.ty().parameter_count()).any(|number| is_open_at(library, number));
        for argument in follow::arguments(view, index) {
            let function = view.cursor(argument).and_then(|argument| argument.ty().pointee());
            let Some(function) = function.filter(|function| function.kind() == TypeKind::Function) else {
                continue;
            };
            if !has_data {
                self.called_with_kept(argument, function, &place);
            }
            if !function.result().is_some_and(is_open) {
                continue;
            }
            let mut follower = Follower::new(self.unit);
            follower.hand(argument, State::PLAIN, place.clone(), None);
            let outcome = follower.run();
            self.passage(names::callback_result(function), 0, outcome);
        }
    }

    /// `pthread_key_create(&key, destroy)`: the function is called with what `pthread_setspecific` was handed.
    fn called_with_kept(&mut self, argument: Index, ty: Type<'u>, kept: &Place) {
        let view = self.unit.view;
        let named = view.cursor(view.peeled(argument)).and_then(Cursor::referenced);
        let named = named.filter(|named| named.kind() == Kind::Function);
        for number in (0..ty.parameter_count()).filter(|number| takes_any_pointer(ty, *number)) {
            let place =
                named.map_or_else(|| names::callback(ty, number), |named| names::parameter(named, number));
            let mut follower = Follower::new(self.unit);
            follower.hand(argument, State::PLAIN, place, None);
            let outcome = follower.run();
            self.passage(kept.clone(), 0, outcome);
        }
    }

    /// Arguments that no parameter is declared for keep their type.
    pub(crate) fn variable_arguments(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = follow::function(view, index) else { return };
        let declared = function.ty();
        if !declared.is_open_function() || function.name().starts_with("__builtin_") {
            return;
        }
        for (number, argument) in
            follow::arguments(view, index).into_iter().enumerate().skip(declared.parameter_count())
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
            let is_unknown = !is_printed && !declared.has_no_parameters_declared();
            let otherwise = is_unknown.then_some(End::Bytes { count: None, by });
            follower.hand(argument, State::PLAIN, place, otherwise);
            if is_printed {
                follower.hand(argument, State::PLAIN, names::TEXTS.to_owned(), None);
            }
            let outcome = follower.run();
            self.depart(argument, origin, outcome);
        }
    }

    /// An object itself, for whatever takes it out of its bytes.
    pub(crate) fn by_value(&mut self, argument: Index, ty: Type<'u>) {
        let mut follower = Follower::new(self.unit);
        follower.end(argument, State::PLAIN, End::Unknown);
        let (origin, outcome) = (self.origin(ty), follower.run());
        self.depart(argument, origin, outcome);
    }

    /// A subject, or its address as what it is, for or from a function without a body here.
    pub(crate) fn given(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = follow::function(view, index).filter(|function| function.definition().is_none())
        else {
            return;
        };
        for value in follow::arguments(view, index).into_iter().chain([index]) {
            let Some(ty) = view.cursor(value).map(Cursor::ty) else { continue };
            let own = ty.pointee().or(Some(ty));
            if let Some(own) = own.filter(|own| view.records.subject(*own).is_some()) {
                self.given.insert((names::word(function), self.unit.shape(own), self.unit.place(index)));
            }
        }
    }
}

/// Whether a function takes any pointer for a parameter.
fn is_open_at(function: Cursor<'_>, number: usize) -> bool {
    takes_any_pointer(function.ty(), number)
}

fn takes_any_pointer(function: Type<'_>, number: usize) -> bool {
    let own = function.parameter(u32::try_from(number).unwrap_or(u32::MAX));
    own.and_then(Type::pointee).is_some_and(|own| own.kind() == TypeKind::Void)
}

fn is_pointer(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::Pointer
}

/// The function of a call that has no body here and isn't known to keep nothing.
fn library<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Cursor<'u>> {
    let function = follow::function(view, index).filter(|function| function.definition().is_none())?;
    is_keeper(&function.name()).then_some(function)
}

/// The memory outside the program that a call reads addresses from.
fn outside(view: View<'_, '_, '_>, index: Index) -> Option<Place> {
    let function = follow::function(view, index).filter(|function| function.definition().is_none())?;
    let name = function.name();
    match uses_files(&name) {
        _ if name.contains("scan") => Some(names::TEXTS.to_owned()),
        true => Some(names::FILES.to_owned()),
        false => names::kept(function).filter(|_| is_keeper(&name)),
    }
}

/// Whether a type is a list of variable arguments.
pub(crate) fn is_argument_list(ty: Type<'_>) -> bool {
    ty.spelling().contains("va_list") || ty.canonical().spelling().contains("va_list")
}

/// Whether a call gives memory that a file or a device is mapped to: none if it says that there is no file.
pub(crate) fn maps(view: View<'_, '_, '_>, call: Index) -> bool {
    let name = follow::function(view, call).map(Cursor::name).unwrap_or_default();
    let file = || view.tree.values(call).skip(1).nth(MAPPED_FILE);
    let is_nothing = || file().and_then(|file| view.cursor(file)?.constant()) == Some(-1);
    is_mapping(&name) && !(name.starts_with("mmap") && is_nothing())
}
