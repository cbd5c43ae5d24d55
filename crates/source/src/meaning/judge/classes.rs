//! Members of C++ classes whose construction, copying or destruction others may see.

use crate::meaning::code::evaluator::{Evaluator, Slot};
use crate::meaning::stream::Kind;
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::{Member, Type, innermost};
use crate::uses::UseDemand;
use std::ops::Range;

/// Deepest nesting of classes that are looked at.
const DEEPEST: usize = 8;

/// Most members of a class whose types are looked at.
const MOST: usize = 400;

/// Words of types that nobody sees being made, copied or destroyed.
const QUIET: &str = " const volatile mutable struct class enum typename std chrono unsigned signed char short int \
     long float double bool void auto inline alignas size_t string wstring u8string u16string u32string string_view \
     wstring_view atomic atomic_flag atomic_bool atomic_int atomic_uint atomic_long atomic_ulong atomic_size_t mutex \
     shared_mutex recursive_mutex timed_mutex condition_variable once_flag complex bitset span time_point duration \
     nanoseconds microseconds milliseconds seconds minutes hours steady_clock system_clock high_resolution_clock \
     reference_wrapper type_index less greater hash equal_to nullptr_t byte ptrdiff_t regex random_device mt19937 \
     mt19937_64 filesystem path error_code thread id locale monostate ";

/// Templates whose objects show as much as what they hold.
const HOLDERS: &str = " vector array deque list forward_list map multimap set multiset unordered_map unordered_set \
     unordered_multimap unordered_multiset optional variant pair tuple unique_ptr shared_ptr weak_ptr stack queue \
     priority_queue basic_string allocator default_delete initializer_list ";

/// Classes that hold what they run, or write what they hold, as they go.
const BUSY: &str = " thread jthread ofstream fstream basic_ofstream basic_fstream osyncstream lock_guard unique_lock \
     scoped_lock shared_lock ";

impl<'t> Evaluator<'_, '_, 't> {
    /// The places of a class's definition in this file, between its braces.
    pub(in crate::meaning) fn class_body(&self, name: &[u8]) -> Option<Range<usize>> {
        let pieces = self.cursor.pieces;
        for at in 1..pieces.len() {
            let is_named =
                self.cursor.text(at) == name && matches!(self.cursor.text(at - 1), b"struct" | b"class");
            if !is_named {
                continue;
            }
            let open = (at + 1..pieces.len())
                .find(|at| matches!(self.cursor.text(*at), b"{" | b";" | b")" | b"(" | b"="));
            if let Some(open) = open.filter(|open| self.cursor.text(*open) == b"{") {
                return Some(open + 1..self.cursor.behind(open).saturating_sub(1));
            }
        }
        None
    }

    /// Members whose construction, copying or destruction shows keep their order.
    pub(in crate::meaning) fn members_with_effects(
        &self,
        name: &[u8],
        members: &[Member<'t>],
    ) -> Vec<&'t [u8]> {
        let body = self.class_body(name).unwrap_or_default();
        let shows =
            |member: &&Member<'t>| self.shows(&member.ty, DEEPEST) || self.is_named(&body, member.name);
        members.iter().take(MOST).filter(shows).map(|member| member.name).collect()
    }

    /// Whether objects of a type show as they are made, copied or destroyed.
    fn shows(&self, ty: &Type<'t>, depth: usize) -> bool {
        let world = self.world();
        let Type::Record(class) = innermost(world, ty) else { return false };
        let Some(known) = world.records.get(class).filter(|_| depth > 0) else { return false };
        let is_made = known.has_constructor || known.has_copy;
        let is_effect = |name: &'t [u8]| !self.kept(Slot::Effect(None, name)).is_empty();
        known.has_destructor
            || is_made && is_effect(class)
            || known.has_copy && is_effect(b"operator")
            || !known.computed.is_empty()
            || known.members.iter().any(|member| self.shows(&member.ty, depth - 1))
    }

    /// Whether the words of a member's type say a class that shows.
    fn is_named(&self, body: &Range<usize>, name: &[u8]) -> bool {
        let found = body.clone().find(|at| {
            let is_declared = matches!(self.cursor.text(at + 1), b";" | b"=" | b"{" | b"[" | b",");
            is_declared && self.cursor.text(*at) == name
        });
        let Some(end) = found else { return false };
        let is_edge = |at: &usize| matches!(self.cursor.text(*at), b";" | b"{" | b"}" | b":" | b")");
        let start = (body.start..end).rev().find(is_edge).map_or(body.start, |edge| edge + 1);
        let words = self.cursor.pieces.get(start..end).unwrap_or_default();
        let is_pointer = words.last().is_some_and(|last| matches!(last.text, b"*" | b"&"));
        if is_pointer || words.iter().any(|piece| piece.text == b"static") {
            return false;
        }
        let mut named = words.iter().filter(|piece| piece.kind == Kind::Word).map(|piece| piece.text);
        let is_held = words.iter().any(|piece| piece.text == b"<");
        named.any(|word| self.word_shows(word, is_held))
    }

    fn word_shows(&self, word: &'t [u8], is_held: bool) -> bool {
        if is_among(BUSY, word) {
            return true;
        }
        let world = self.world();
        if is_among(QUIET, word) || is_among(HOLDERS, word) || self.cursor.is_type(word) {
            return self.shows(&Type::Named(word), DEEPEST) && (is_held || world.templates.contains(word));
        }
        // A class that nobody declares here; of a type in another's brackets as well.
        world.templates.contains(word) && self.shows(&Type::Record(word), DEEPEST)
    }

    /// Values of members that are computed by methods, or that hand the object on: they read what stands above.
    pub(in crate::meaning) fn defaults_of_class(&mut self, name: &'t [u8], line: u32) {
        let Some(body) = self.class_body(name).filter(|_| self.is_cpp) else { return };
        let mut at = body.start;
        let mut is_default = false;
        while at < body.end {
            match self.cursor.text(at) {
                b"=" => is_default = true,
                b";" => is_default = false,
                b"{" | b"(" if !is_default => at = self.cursor.behind(at).saturating_sub(1),
                _ if is_default && self.reads_siblings(name, at) => {
                    let before = self.found.len();
                    let what = "a member's default value is made of the object itself".to_owned();
                    self.tell(name, UseDemand::Whole, Vec::new(), what);
                    for found in self.found.iter_mut().skip(before) {
                        (found.line, found.source) = (line, 0);
                    }
                    return;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Whether a word in an initialiser is the object itself, or a method of it that is called.
    pub(in crate::meaning) fn reads_siblings(&self, class: &[u8], at: usize) -> bool {
        let word = self.cursor.text(at);
        if word == b"this" {
            return !matches!(self.cursor.text(at + 1), b"->");
        }
        let is_called = self.cursor.word(at).is_some() && self.cursor.text(at + 1) == b"(";
        let before = self.cursor.text(at.wrapping_sub(1));
        if !is_called || matches!(before, b"::" | b"." | b"->") {
            return false;
        }
        let Some(mut body) = self.class_body(class) else { return false };
        body.any(|place| {
            let is_declared = self.cursor.word(place.wrapping_sub(1)).is_some_and(|word| word != b"return")
                || matches!(self.cursor.text(place.wrapping_sub(1)), b"*" | b"&");
            is_declared && self.cursor.text(place) == word && self.cursor.text(place + 1) == b"("
        })
    }
}
