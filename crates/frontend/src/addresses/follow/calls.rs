//! An address that a function is handed.

mod brought;
pub(super) mod containers;
mod cpp;
mod lengths;
mod mixed;
mod snapshots;

use super::super::contracts::{
    Does, Returned, is_of_c_library, of_library, of_memory, only_keeps, returns, uses_files,
};
use super::super::facts::{End, State};
use super::super::names;
use super::super::nodes::Unit;
pub(crate) use super::callee::{function, is_unconverted};
use super::callee::{is_of_cpp_library, is_void};
use super::follower::Follower;
use super::several::several;
use super::unseen::alone;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// Arguments of a call, without the function.
pub(crate) fn arguments(view: View<'_, '_, '_>, call: Index) -> Vec<Index> {
    let all: Vec<Index> = view.tree.values(call).collect();
    let count = view.cursor(call).map_or(0, Cursor::argument_count);
    let count = usize::try_from(count).unwrap_or(0);
    if let Some(operands) = operands(view, call, &all).filter(|operands| operands.len() <= count) {
        return operands;
    }
    all.get(all.len().saturating_sub(count)..).unwrap_or_default().to_vec()
}

/// The operands of an operator that a function stands for, without the object whose method it is. The operator's name
/// stands among them.
fn operands(view: View<'_, '_, '_>, call: Index, all: &[Index]) -> Option<Vec<Index>> {
    let function = view.cursor(call)?.referenced().filter(|function| function.kind() == Kind::Function)?;
    let is_name = |value: &Index| {
        let named = view.cursor(*value).and_then(Cursor::referenced);
        view.tree.kind(view.peeled(*value)) == Kind::Name
            && named.is_some_and(|named| named.identity() == function.identity())
    };
    if all.first().is_none_or(is_name) || !all.iter().any(is_name) || !function.name().starts_with("operator")
    {
        return None;
    }
    let is_method = function.holder().is_some_and(|holder| holder.kind() == Kind::Record);
    let operands = all.iter().copied().filter(|value| !is_name(value));
    Some(operands.skip(usize::from(is_method)).collect())
}

/// The type of the function that a call goes to through a pointer.
pub(crate) fn pointed_to<'u>(view: View<'_, '_, 'u>, call: Index) -> Option<Type<'u>> {
    let callee = view.tree.values(call).next().and_then(|callee| view.cursor(callee))?.ty();
    let function = callee.pointee().unwrap_or(callee);
    (function.kind() == TypeKind::Function).then_some(function)
}

impl<'u> Follower<'_, '_, '_, 'u> {
    /// An argument of a call.
    pub(crate) fn handed(&mut self, index: Index, call: Index, state: State) {
        let view = self.unit.view;
        let arguments = arguments(view, call);
        let Some(number) = arguments.iter().position(|argument| *argument == index) else { return };
        let ty = self.ty(index);
        if ty
            .and_then(Type::pointee)
            .is_some_and(|pointee| pointee.kind() == TypeKind::Record && state.level == 0)
            && !function(view, call).is_some_and(|function| is_unconverted(function, number))
        {
            return self.handed_record(call, number, &arguments, state);
        }
        let is_text = ty.and_then(Type::pointee).is_some_and(|pointee| pointee.kind() == TypeKind::Byte);
        let is_number = ty.is_some_and(is_number);
        let is_of_cpp = function(view, call).is_some_and(is_of_cpp_library);
        let has_elements = ty.and_then(Type::pointee).is_some_and(|pointee| {
            let has_several = matches!(pointee.kind(), TypeKind::Number | TypeKind::Other);
            state.level == 0 && (has_several || is_of_cpp && pointee.kind() == TypeKind::Byte)
        });
        let is_text = is_text && !has_elements;
        let handed = Handed {
            unit: self.unit,
            view,
            call,
            number,
            arguments: &arguments,
            is_number,
            is_text,
            has_elements,
        };
        let Some(function) = function(view, call) else { return handed.through_pointer(self, state) };
        let name = function.name();
        if name.starts_with("__builtin_va_") {
            return;
        }
        if is_atomic(&name) {
            return self.atomic(index, call, &arguments, state);
        }
        match returns(&name, number).filter(|_| function.definition().is_none()) {
            Some(Returned::Same) => self.push(call, state),
            Some(Returned::Behind) => self.push(call, if state.level > 0 { state } else { state.forward() }),
            None => {}
        }
        if is_of_cpp {
            return handed.to_cpp(self, &name, state);
        }
        if let Some(does) = of_memory(&name) {
            return match does == Does::Keeps && !is_number && !function.is_of_system() {
                true => self.given_back(call, (function, number), state),
                false => handed.library(self, does, &name, state),
            };
        }
        let declared = function.ty();
        if number >= declared.parameter_count() && declared.is_open_function() {
            return self.variable_argument(&handed, function, self.ty(index), state);
        }
        // Those that copy name where to and where from first.
        let does = match of_library(&name) {
            Does::Moves if number > 1 => Does::Reads,
            does => does,
        };
        if does == Does::Moves && function.definition().is_none() {
            return handed.library(self, does, &name, state);
        }
        if function.definition().is_none() {
            self.outside(index, call, (function, does), state);
        }
        if is_number && is_address_to(function, does) && !state.is_number {
            self.end(call, state, End::Unknown);
        }
        let otherwise = handed.unknown(does, &name).or_else(|| several(view, function, number, &arguments));
        let otherwise = otherwise.or_else(|| handed.first_bytes(function, does).filter(|_| state.level == 0));
        self.bring(call, (function, number), state);
        self.hand(call, state, names::parameter(function, number), otherwise);
        if function.definition().is_none() {
            handed.to_callbacks(self, function, state);
        }
    }
}

impl<'u> Follower<'_, '_, '_, 'u> {
    /// One of a function's variable arguments.
    fn variable_argument(
        &mut self,
        handed: &Handed<'_, '_, '_, 'u>,
        function: Cursor<'u>,
        ty: Option<Type<'u>>,
        state: State,
    ) {
        let name = function.name();
        let place = match function.ty().has_no_parameters_declared() {
            true => names::parameter(function, handed.number),
            false => names::plain_arguments(function),
        };
        if name.contains("print") {
            self.hand(handed.call, state, names::TEXTS.to_owned(), None);
        } else if handed.is_number && !state.is_number && is_address_to(function, of_library(&name)) {
            // `prctl(PR_GET_NAME, (unsigned long)&object)`
            self.end(handed.call, state, End::Unknown);
        }
        if function.definition().is_none()
            && let Some(end) = handed.one_number(ty, &name, state)
        {
            self.end(handed.call, state, end);
        }
        self.hand(handed.call, state, place, None);
    }

    /// A function of the program that gives out memory or takes it back, by its name: its body says what that means.
    fn given_back(&mut self, call: Index, (function, number): (Cursor<'u>, usize), state: State) {
        // Addresses in the memory go with it, wherever it goes.
        if state.level > 0 {
            if returns(&function.name(), number).is_some() {
                self.push(call, state);
            }
            return;
        }
        self.bring(call, (function, number), state);
        self.hand(call, state, names::parameter(function, number), Some(End::Frees));
    }

    /// A function without a body here may keep an address, or write its bytes to a file.
    fn outside(&mut self, index: Index, call: Index, (function, does): (Cursor<'u>, Does), state: State) {
        match (does, state.level.checked_sub(1)) {
            // What is handed over as text or numbers isn't given back as anything.
            (Does::Unknown, None) if self.ty(index).is_some_and(is_void) => {
                if let Some(place) = names::kept(function) {
                    self.hand(call, state, place, None);
                }
            }
            (Does::Reads, Some(level)) if uses_files(&function.name()) => {
                self.hand(call, State { level, ..state }, names::FILES.to_owned(), None)
            }
            _ => {}
        }
    }
}

/// Whether a function of the compiler reads or writes what it is handed the address of.
fn is_atomic(name: &str) -> bool {
    ["__sync_", "__atomic_", "__c11_atomic_"].iter().any(|start| name.starts_with(start))
}

/// Whether a number that is an address is one to a function of the system, as a place in a file of memory is.
fn is_address_to(function: Cursor<'_>, does: Does) -> bool {
    let is_outside = function.is_of_system() && function.definition().is_none();
    is_outside && matches!(does, Does::Reads | Does::Unknown) && !function.name().starts_with("__builtin_")
}

/// Whether a parameter of a function doesn't say itself what it points to.
fn is_open_at(function: Cursor<'_>, number: usize) -> bool {
    let ty = u32::try_from(number).ok().and_then(|number| function.ty().parameter(number));
    ty.and_then(Type::pointee).is_some_and(|pointee| pointee.kind() != TypeKind::Record)
}

/// The functions that members of a library's struct lead to.
fn functions_of(record: Type<'_>) -> Vec<Type<'_>> {
    if record.kind() != TypeKind::Record || !is_of_system(record) {
        return Vec::new();
    }
    let pointees = record.members().into_iter().filter_map(|member| member.ty().pointee());
    pointees.filter(|pointee| pointee.kind() == TypeKind::Function).collect()
}

/// Whether an address comes out of a container: `bytes.data() + at`. It is never an object's own memory.
pub(crate) fn is_given_by_cpp(view: View<'_, '_, '_>, index: Index) -> bool {
    let mut nodes = std::iter::once(index).chain(view.tree.below(index));
    nodes.any(|node| {
        view.tree.kind(node) == Kind::Call
            && function(view, node).is_some_and(|by| by.is_of_cpp() && by.is_of_system())
    })
}

fn leads_to_functions(ty: Type<'_>) -> bool {
    !functions_of(ty).is_empty()
}

fn is_of_system(ty: Type<'_>) -> bool {
    ty.canonical().declaration().is_some_and(Cursor::is_of_system)
}

fn is_array(member: Cursor<'_>) -> bool {
    member.ty().kind() == TypeKind::Array
}

fn is_number(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::Number
}

/// An argument of a call.
struct Handed<'h, 'v, 's, 'u> {
    unit: &'h Unit<'v, 's, 'u>,
    view: View<'v, 's, 'u>,
    call: Index,
    number: usize,
    arguments: &'h [Index],
    is_number: bool,
    /// Whether the function takes characters, which may end by themselves.
    is_text: bool,
    /// Whether it takes a pointer to numbers, which may be several.
    has_elements: bool,
}

impl<'u> Handed<'_, '_, '_, 'u> {
    fn through_pointer(&self, follower: &mut Follower<'_, '_, '_, 'u>, state: State) {
        let Some(function) = pointed_to(self.view, self.call) else {
            return follower.end(self.call, state, End::Unknown);
        };
        let otherwise = self.unknown(Does::Unknown, "a function");
        follower.hand(self.call, state, names::callback(function, self.number), otherwise);
    }

    /// A function that is handed another one may call it with what it is handed. If a unit has its body, that tells.
    fn to_callbacks(&self, follower: &mut Follower<'_, '_, '_, 'u>, by: Cursor<'u>, state: State) {
        for argument in self.arguments {
            let own = self.view.cursor(*argument).map(Cursor::ty);
            let ty = own.and_then(Type::pointee).or(own);
            if let Some(record) = ty.filter(|ty| ty.kind() == TypeKind::Record) {
                self.to_members(follower, record, by, state);
            }
            let Some(ty) = ty.filter(|ty| ty.kind() == TypeKind::Function) else { continue };
            let named = self.view.cursor(self.view.peeled(*argument)).and_then(Cursor::referenced);
            let named = named.filter(|named| {
                named.kind() == Kind::Function && named.ty().parameter_count() == ty.parameter_count()
            });
            for number in 0..ty.parameter_count() {
                let (place, end) = match named {
                    Some(function) if is_open_at(function, number) => {
                        let own = function.ty().parameter(u32::try_from(number).unwrap_or(u32::MAX));
                        let own = own.and_then(Type::pointee).filter(|_| function.definition().is_none());
                        (names::parameter(function, number), own.and_then(|own| alone(function, own)))
                    }
                    _ => (names::callback(ty, number), None),
                };
                follower.hand(self.call, state, names::unless_defined(by, &place), end);
            }
        }
    }

    /// Functions that a library's struct leads to may be called with what is handed over beside it, or beside an object of
    /// the library's that has it.
    fn to_members(
        &self,
        follower: &mut Follower<'_, '_, '_, 'u>,
        record: Type<'u>,
        by: Cursor<'u>,
        state: State,
    ) {
        let unless_defined = |place: String| names::unless_defined(by, &place);
        for function in functions_of(record) {
            for number in 0..function.parameter_count() {
                let own = function.parameter(u32::try_from(number).unwrap_or(u32::MAX));
                let Some(pointee) = own.and_then(Type::pointee) else { continue };
                if pointee.kind() == TypeKind::Void {
                    let place = unless_defined(names::callback(function, number));
                    follower.hand(self.call, state, place, None);
                }
                if pointee.kind() == TypeKind::Record && is_of_system(pointee) {
                    for member in pointee.members().into_iter().filter(|member| is_void(member.ty())) {
                        follower.hand(self.call, state, unless_defined(names::variable(member)), None);
                    }
                }
            }
        }
    }

    /// The effect of functions whose bodies are nowhere.
    fn unknown(&self, does: Does, name: &str) -> Option<End> {
        if self.is_number {
            return None;
        }
        let text = self.is_text.then(|| End::Text { by: name.to_owned() });
        let text = text.or_else(|| self.has_elements.then(|| End::Elements { by: name.to_owned() }));
        match does {
            Does::Keeps if name.contains("sort") || name.contains("search") => {
                self.product().map(|count| End::Sorts { count, by: name.to_owned() }).or(text)
            }
            Does::Keeps => text,
            Does::Sets => Some(self.part(self.last_number(), name)),
            _ => self.length(does, name).or(text),
        }
    }

    /// A number that a function of a library reads or writes behind a pointer among its variable arguments, as `scanf` does.
    fn one_number(&self, ty: Option<Type<'u>>, name: &str, state: State) -> Option<End> {
        let pointee = ty.and_then(Type::pointee).filter(|pointee| pointee.kind() == TypeKind::Number)?;
        let is_known = state.level == 0 && state.moved.is_some();
        is_known.then(|| End::Bytes { count: pointee.size(), by: name.to_owned() })
    }

    /// A function of C's library that can't keep an address looks at what it leads to.
    fn first_bytes(&self, function: Cursor<'u>, does: Does) -> Option<End> {
        let takes_function = |argument: &Index| {
            let ty = self.view.cursor(*argument).map(Cursor::ty).map(|ty| ty.pointee().unwrap_or(ty));
            ty.is_some_and(|ty| ty.kind() == TypeKind::Function || leads_to_functions(ty))
        };
        let name = function.name();
        let own = function.ty().parameter(u32::try_from(self.number).ok()?);
        let is_open = does == Does::Unknown && own.is_some_and(is_void) && function.is_of_system();
        let looks = is_open
            && is_of_c_library(&function.place().file)
            && !only_keeps(&name)
            && !self.arguments.iter().any(takes_function);
        looks.then_some(End::Several { by: name })
    }

    fn library(&self, follower: &mut Follower<'_, '_, '_, 'u>, does: Does, name: &str, state: State) {
        match does {
            _ if self.is_number => {}
            Does::Keeps => follower.end(self.call, state, End::Frees),
            Does::Sets => {
                self.sets(follower, name, state);
            }
            Does::Moves => self.moves(follower, name, state),
            _ => {
                if let Some(end) = self.length(does, name) {
                    follower.end(self.call, state, end);
                }
            }
        }
    }

    /// Copied from or to another argument.
    fn moves(&self, follower: &mut Follower<'_, '_, '_, 'u>, name: &str, state: State) {
        if state.level > 0 {
            return self.moves_pointers(follower, state);
        }
        let count = self.last_number();
        self.sets(follower, name, state);
        let Some(other) = self.arguments.get(1_usize.saturating_sub(self.number)) else { return };
        let sum = self.view.sum(*other);
        let Some(start) = &sum.start else { return };
        let path = sum.offsets(true).next().and_then(|path| path.last().copied());
        let mut ty = path.map_or(start.ty, Cursor::ty);
        while let Some(element) = ty.element() {
            ty = element;
        }
        match ty.kind() {
            TypeKind::Record if sum.terms.is_empty() || path.is_some() => {
                let shape = follower.unit.shape(ty);
                follower.end(self.call, state, End::Record(shape));
            }
            // Others are vectors and complex numbers.
            TypeKind::Byte | TypeKind::Number | TypeKind::Other
                if (start.call.is_none() || is_given_by_cpp(self.view, *other))
                    && path.is_none_or(is_array)
                    && !self.is_kept_whole(*other) =>
            {
                follower.end(self.call, state, End::Bytes { count, by: name.to_owned() });
            }
            _ => {}
        }
    }

    /// The memory that pointers are copied to holds them, too.
    fn moves_pointers(&self, follower: &mut Follower<'_, '_, '_, 'u>, state: State) {
        if let Some(to) = self.arguments.first().filter(|_| self.number == 1) {
            follower.store(*to, state);
        }
    }

    /// So many bytes from the address on. Lengths made of offsets are judged where they are made.
    fn sets(&self, follower: &mut Follower<'_, '_, '_, 'u>, name: &str, state: State) {
        let count = self.last_number();
        let is_made = self.arguments.last().is_some_and(|last| self.has_size(*last) && !self.is_rest(*last));
        if count.is_some() || !is_made {
            follower.end(self.call, state, self.part(count, name));
        }
    }

    fn part(&self, count: Option<u64>, name: &str) -> End {
        let is_fixed = count.is_some() && self.arguments.last().is_some_and(|last| self.is_fixed(*last));
        End::Sets { count, by: name.to_owned(), is_fixed }
    }
}
