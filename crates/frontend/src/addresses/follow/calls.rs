//! An address that a function is handed.

use super::super::contracts::{Does, Returned, of_library, of_memory, returns};
use super::super::facts::{End, State};
use super::super::names;
use super::super::numbers;
use super::elements::bytes;
use super::follower::Follower;
use super::unseen::alone;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::{Term, View};
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

/// The function that a call names.
pub(crate) fn function<'u>(view: View<'_, '_, 'u>, call: Index) -> Option<Cursor<'u>> {
    let function = view.cursor(call)?.referenced()?;
    let is_function = matches!(function.kind(), Kind::Function | Kind::Constructor | Kind::Template);
    // Functions of libraries have one name, whatever they are made for; the program's have a body for each.
    is_function.then(|| function.template().filter(|template| template.is_of_system()).unwrap_or(function))
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
        // What takes the type by its name is asked where the conversion is.
        let ty = self.ty(index);
        if ty
            .and_then(Type::pointee)
            .is_some_and(|pointee| pointee.kind() == TypeKind::Record && state.level == 0)
        {
            return;
        }
        let is_text = ty.and_then(Type::pointee).is_some_and(|pointee| pointee.kind() == TypeKind::Byte);
        let is_number = ty.is_some_and(is_number);
        let is_of_cpp =
            function(view, call).is_some_and(|function| function.is_of_cpp() && function.is_of_system());
        let has_elements = ty.and_then(Type::pointee).is_some_and(|pointee| {
            let has_several = matches!(pointee.kind(), TypeKind::Number | TypeKind::Other);
            state.level == 0 && (has_several || is_of_cpp && pointee.kind() == TypeKind::Byte)
        });
        let is_text = is_text && !has_elements;
        let handed = Handed { view, call, number, arguments: &arguments, is_number, is_text, has_elements };
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
            return handed.library(self, does, &name, state);
        }
        let declared = function.ty();
        if number >= declared.parameter_count() && declared.is_open_function() {
            let place = match declared.has_no_parameters_declared() {
                true => names::parameter(function, number),
                false => names::plain_arguments(function),
            };
            if name.contains("print") {
                self.hand(call, state, names::TEXTS.to_owned(), None);
            }
            return self.hand(call, state, place, None);
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
        let otherwise = handed.unknown(does, &name);
        for own in self.unit.returned_states(function, number, state.level).unwrap_or_default() {
            self.push(call, state.then(own));
        }
        self.hand(call, state, names::parameter(function, number), otherwise);
        if function.definition().is_none() {
            handed.to_callbacks(self, state);
        }
    }
}

impl<'u> Follower<'_, '_, '_, 'u> {
    /// A function without a body here may keep an address, or write its bytes to a file.
    fn outside(&mut self, index: Index, call: Index, (function, does): (Cursor<'u>, Does), state: State) {
        match (does, state.level.checked_sub(1)) {
            // What is handed over as text or numbers isn't given back as anything.
            (Does::Unknown, None) if self.ty(index).is_some_and(is_void) => {
                if let Some(place) = names::kept(function) {
                    self.hand(call, state, place, None);
                }
            }
            (Does::Reads, Some(level)) => {
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
    is_outside && does == Does::Reads && !function.name().starts_with("__builtin_")
}

/// Whether a parameter of a function doesn't say itself what it points to.
fn is_open_at(function: Cursor<'_>, number: usize) -> bool {
    let ty = u32::try_from(number).ok().and_then(|number| function.ty().parameter(number));
    ty.and_then(Type::pointee).is_some_and(|pointee| pointee.kind() != TypeKind::Record)
}

fn is_void(ty: Type<'_>) -> bool {
    ty.pointee().is_some_and(|pointee| pointee.kind() == TypeKind::Void)
}

fn is_array(member: Cursor<'_>) -> bool {
    member.ty().kind() == TypeKind::Array
}

fn is_number(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::Number
}

/// An argument of a call.
struct Handed<'h, 'v, 's, 'u> {
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

    /// A library's function of C++ may do anything with what it is handed the address of, or keep it for whoever
    /// asks. An address that is only printed or compared is none.
    fn to_cpp(&self, follower: &mut Follower<'_, '_, '_, 'u>, name: &str, state: State) {
        let pointee =
            self.arguments.get(self.number).and_then(|argument| self.view.cursor(*argument)?.ty().pointee());
        match pointee.map(Type::kind) {
            Some(TypeKind::Byte | TypeKind::Number | TypeKind::Other) => {
                let end = self.length(Does::Unknown, name);
                let end = end.unwrap_or_else(|| End::Elements { by: name.to_owned() });
                follower.end(self.call, state, end);
            }
            Some(TypeKind::Void) if !name.starts_with("operator<") => {
                follower.end(self.call, state, End::Unknown);
            }
            _ => {}
        }
    }

    /// A function that is handed another one may call it with what it is handed.
    fn to_callbacks(&self, follower: &mut Follower<'_, '_, '_, 'u>, state: State) {
        for argument in self.arguments {
            let own = self.view.cursor(*argument).map(Cursor::ty);
            let ty = own.and_then(Type::pointee).or(own);
            if let Some(record) = ty.filter(|ty| ty.kind() == TypeKind::Record) {
                self.to_members(follower, record, state);
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
                follower.hand(self.call, state, place, end);
            }
        }
    }

    /// Functions that a library's struct leads to may be called with what is handed over beside it, or beside an object of
    /// the library's that has it.
    fn to_members(&self, follower: &mut Follower<'_, '_, '_, 'u>, record: Type<'u>, state: State) {
        let is_of_system = |ty: Type<'u>| ty.canonical().declaration().is_some_and(Cursor::is_of_system);
        if !is_of_system(record) {
            return;
        }
        let functions = record.members().into_iter().filter_map(|member| member.ty().pointee());
        for function in functions.filter(|pointee| pointee.kind() == TypeKind::Function) {
            for number in 0..function.parameter_count() {
                let own = function.parameter(u32::try_from(number).unwrap_or(u32::MAX));
                let Some(pointee) = own.and_then(Type::pointee) else { continue };
                if pointee.kind() == TypeKind::Void {
                    follower.hand(self.call, state, names::callback(function, number), None);
                }
                if pointee.kind() == TypeKind::Record && is_of_system(pointee) {
                    for member in pointee.members().into_iter().filter(|member| is_void(member.ty())) {
                        follower.hand(self.call, state, names::variable(member), None);
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
            TypeKind::Byte | TypeKind::Number
                if (start.call.is_none() || self.is_given_by_cpp(*other)) && path.is_none_or(is_array) =>
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

    /// Whether an address comes out of a container: `bytes.data() + at`. It is never an object's own memory.
    fn is_given_by_cpp(&self, index: Index) -> bool {
        let view = self.view;
        let mut nodes = std::iter::once(index).chain(view.tree.below(index));
        nodes.any(|node| {
            view.tree.kind(node) == Kind::Call
                && function(view, node).is_some_and(|by| by.is_of_cpp() && by.is_of_system())
        })
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

    /// Whether a length is no whole object's size and isn't made of offsets.
    fn is_fixed(&self, index: Index) -> bool {
        let sum = self.view.sum(index);
        let is_whole =
            matches!(sum.terms.as_slice(), [(true, Term::Size(ty, None))] if ty.kind() == TypeKind::Record);
        !is_whole && !sum.has_offsets()
    }

    /// A size less an unknown number.
    fn is_rest(&self, index: Index) -> bool {
        let view = self.view;
        let index = view.peeled(index);
        let operator = view.cursor(index).map(Cursor::binary_operator);
        let right = view.tree.values(index).nth(1).filter(|_| view.tree.kind(index) == Kind::Binary);
        let is_unknown = right.is_some_and(|right| {
            let has_pointer = |below: Index| {
                view.cursor(below).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Pointer)
            };
            !view.tree.below(right).any(has_pointer) && !view.sum(right).has_offsets()
        });
        operator == Some(Operator::Subtract) && is_unknown || view.tree.kind(index) == Kind::Conditional
    }

    fn last_number(&self) -> Option<u64> {
        let last = self.arguments.last().copied()?;
        self.number_of(last)
    }

    /// The number that an expression always is, or the largest of those a variable is given.
    fn number_of(&self, index: Index) -> Option<u64> {
        let cursor = self.view.cursor(index)?;
        let positive = |number: i64| u64::try_from(number).ok();
        if let Some(number) = cursor.constant().or_else(|| numbers::number(self.view, index)) {
            return positive(number);
        }
        let name = self.view.cursor(self.view.peeled(index))?.referenced()?;
        let given = self.view.flow.given(name.identity());
        let numbers: Option<Vec<u64>> =
            given.iter().map(|value| positive(self.view.cursor(*value)?.constant()?)).collect();
        numbers.and_then(|numbers| numbers.into_iter().max())
    }

    /// The bytes that a function reads: an argument behind the pointer, or any that is made of sizes.
    fn length(&self, does: Does, name: &str) -> Option<End> {
        if name.contains("fread") || name.contains("fwrite") {
            return Some(End::Bytes { count: self.product(), by: name.to_owned() });
        }
        let mut found: Option<Option<u64>> = None;
        for (number, argument) in
            self.arguments.iter().enumerate().filter(|(number, _)| *number != self.number)
        {
            let is_number = self.view.cursor(*argument).is_some_and(|argument| is_number(argument.ty()));
            if !is_number {
                continue;
            }
            let has_size = self.has_size(*argument);
            let count = self.number_of(*argument);
            let is_length = has_size
                || number > self.number
                    && (does == Does::Reads || count.is_none() && !self.is_flag(*argument));
            if !is_length {
                continue;
            }
            let own = self.arguments.get(self.number).copied().unwrap_or(self.call);
            let count = count.filter(|_| !self.is_divided(*argument));
            let count = count.and_then(|count| bytes(self.view, self.arguments, (own, *argument), count));
            found = Some(match found {
                Some(Some(known)) => count.map(|count| count.max(known)),
                Some(None) => None,
                None => count,
            });
        }
        if found.is_none() && does == Does::Reads && name.ends_with("ioctl") {
            found = Some(None);
        }
        found.map(|count| End::Bytes { count, by: name.to_owned() })
    }

    /// So many elements of a size.
    fn product(&self) -> Option<u64> {
        let numbers = self
            .arguments
            .iter()
            .filter(|argument| self.view.cursor(**argument).is_some_and(|argument| is_number(argument.ty())));
        numbers.map(|number| self.number_of(*number)).try_fold(1, |all: u64, number| all.checked_mul(number?))
    }

    /// Whether a number is one of names, or the result of a comparison.
    fn is_flag(&self, index: Index) -> bool {
        let peeled = self.view.peeled(index);
        let cursor = self.view.cursor(peeled);
        cursor.is_some_and(|cursor| {
            cursor.ty().is_enumeration()
                || cursor.ty().size() == Some(1)
                || matches!(
                    cursor.binary_operator(),
                    Operator::Bits | Operator::Compare | Operator::Order | Operator::Logic
                )
        })
    }

    fn is_divided(&self, index: Index) -> bool {
        let peeled = self.view.peeled(index);
        self.view.tree.kind(peeled) == Kind::Binary
            && self.view.cursor(peeled).is_some_and(|cursor| cursor.binary_operator() == Operator::Divide)
    }

    fn has_size(&self, index: Index) -> bool {
        let own = std::iter::once(index).chain(self.view.tree.below(index));
        let mut nodes = own.into_iter();
        nodes.any(|node| self.view.tree.kind(node) == Kind::SizeOf)
            || self
                .view
                .sum(index)
                .terms
                .iter()
                .any(|(_, term)| matches!(term, Term::Size(..) | Term::Offset(_)))
    }
}
