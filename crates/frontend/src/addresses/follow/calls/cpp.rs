//! An address that a function of C++'s library is handed.

use super::super::super::facts::{End, State};
use super::super::super::names;
use super::super::follower::Follower;
use super::containers::keeps_pointer;
use super::{Does, Handed, arguments, function};
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

impl<'u> Handed<'_, '_, '_, 'u> {
    /// A library's function of C++ may do anything with what it is handed the address of, or keep it for whoever
    /// asks. An address that is only printed or compared is none.
    pub(super) fn to_cpp(&self, follower: &mut Follower<'_, '_, '_, 'u>, name: &str, state: State) {
        let own =
            self.arguments.get(self.number).and_then(|argument| self.view.cursor(*argument)).map(Cursor::ty);
        if own.is_some_and(|own| self.gives_element_of(own)) {
            return follower.push(self.call, state);
        }
        let is_word = own.is_some_and(|own| own.kind() == TypeKind::Number && own.size() == Some(8));
        let pointee = own.and_then(Type::pointee);
        if prints(name) && (is_word || pointee.is_some_and(|pointee| pointee.kind() == TypeKind::Void)) {
            return follower.hand(self.call, state, names::TEXTS.to_owned(), None);
        }
        if state.level > 0 {
            return self.bytes_kept(follower, pointee, state);
        }
        if is_word && let Some(place) = function(self.view, self.call).and_then(names::kept_by_class) {
            return follower.hand(self.call, state, place, None);
        }
        if self.is_whole_range() {
            return;
        }
        // What the library's own bodies do with it is what their contracts say.
        let is_of_system = self.view.cursor(self.call).is_none_or(Cursor::is_of_system);
        match pointee.map(Type::kind) {
            Some(TypeKind::Byte | TypeKind::Number | TypeKind::Other) => {
                let end = self.length(Does::Unknown, name);
                let end = end.unwrap_or_else(|| End::Elements { by: name.to_owned() });
                follower.end(self.call, state, end);
            }
            Some(TypeKind::Void) if !name.starts_with("operator<") => {
                match keeps_pointer(self.view, self.call) && !is_of_system {
                    true => follower.hand(self.call, state, names::KEPT_POINTERS.to_owned(), None),
                    false => follower.end(self.call, state, End::Unknown),
                }
            }
            _ => {}
        }
    }

    /// The bytes of a pointer are kept as those of a string, or written to a stream.
    fn bytes_kept(&self, follower: &mut Follower<'_, '_, '_, 'u>, pointee: Option<Type<'u>>, state: State) {
        let is_bytes = pointee.is_some_and(|own| matches!(own.kind(), TypeKind::Byte | TypeKind::Void));
        if is_bytes {
            let state = State { level: state.level.saturating_sub(1), ..state };
            follower.hand(self.call, state, names::FILES.to_owned(), None);
        }
    }

    /// Whether a function returns a pointer into an array that it is handed: `std::begin(array)`.
    fn gives_element_of(&self, own: Type<'u>) -> bool {
        let result = self.view.cursor(self.call).and_then(|call| call.ty().pointee());
        own.element().zip(result).is_some_and(|(element, result)| element.equals(result))
    }

    /// Whether the argument and one beside it are the begin and the end of the same array.
    fn is_whole_range(&self) -> bool {
        let own = self.arguments.get(self.number).and_then(|own| array_of(self.view, *own));
        own.is_some_and(|own| {
            let others = self.arguments.iter().enumerate().filter(|(number, _)| *number != self.number);
            let mut others = others.filter_map(|(_, other)| array_of(self.view, *other));
            others.any(|other| other.identity() == own.identity())
        })
    }
}

/// The array member whose begin or end a function of C++'s library gives.
fn array_of<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Cursor<'u>> {
    let call = view.peeled(index);
    let by = function(view, call).filter(|by| view.tree.kind(call) == Kind::Call && by.is_of_system())?;
    let array = arguments(view, call).first().and_then(|array| view.cursor(view.peeled(*array)))?;
    let is_end = ["begin", "end", "cbegin", "cend"].contains(&by.name().as_str());
    array.referenced().filter(|_| is_end && array.ty().kind() == TypeKind::Array)
}

/// Whether a function of C++'s library writes numbers and addresses as text.
fn prints(name: &str) -> bool {
    ["operator<<", "to_string", "to_chars", "format", "format_to", "print", "println"].contains(&name)
}
