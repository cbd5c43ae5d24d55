//! Members of C++ classes whose construction, copying or destruction others may see.
//!
//! Known to be harmless are numbers, pointers, arrays of these, classes of the program without effects, and
//! classes of the library that hold such. All others show.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::syntax::words::{NUMBERS, is_among};
use crate::meaning::types::{Member, Record, Type, innermost};
use crate::meaning::value::{Base, Sum, Value};
use crate::uses::UseDemand;
use std::ops::Range;

/// Deepest nesting of classes that are looked at.
const DEEPEST: usize = 8;

/// Most members of a class whose types are looked at.
const MOST: usize = 400;

/// Effects that are seen of an object as it is made, copied or destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// Nothing: its bytes are all there is.
    Plain,
    /// It does something, of which nobody else sees anything.
    Quiet,
    /// Others may see it.
    Shows,
}

/// Words that say nothing of an object's class.
const SILENT: &str =
    " const volatile mutable struct class enum union typename std chrono inline alignas constexpr ";

/// Names of plain types that the library declares.
const PLAIN: &str = " size_t void auto complex bitset span time_point duration nanoseconds microseconds milliseconds \
     seconds minutes hours steady_clock system_clock high_resolution_clock reference_wrapper type_index less greater \
     hash equal_to nullptr_t byte ptrdiff_t error_code id monostate string_view wstring_view basic_string_view atomic \
     atomic_flag atomic_bool atomic_int atomic_uint atomic_long atomic_ulong atomic_size_t coroutine_handle ratio \
     timespec timeval tm sockaddr sockaddr_in sockaddr_in6 sockaddr_storage in_addr in6_addr pollfd iovec FILE DIR \
     char_traits strong_ordering weak_ordering partial_ordering source_location mt19937 mt19937_64 minstd_rand \
     initializer_list input_iterator_tag ";

/// Classes of the library that nobody sees being made, copied or destroyed.
const QUIET: &str = " string wstring u8string u16string u32string basic_string mutex shared_mutex recursive_mutex \
     timed_mutex condition_variable condition_variable_any once_flag regex random_device filesystem path locale \
     ostringstream istringstream stringstream counting_semaphore binary_semaphore latch barrier exception_ptr ";

/// Templates whose objects show as much as what they hold.
const HOLDERS: &str = " vector array deque list forward_list map multimap set multiset unordered_map unordered_set \
     unordered_multimap unordered_multiset optional variant pair tuple unique_ptr shared_ptr weak_ptr stack queue \
     priority_queue allocator default_delete enable_shared_from_this expected ";

/// Classes that hold objects of types that aren't said.
const OPEN: &str = " function any move_only_function packaged_task promise future shared_future ";

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

    /// Members whose construction, copying or destruction shows keep their order, also among those that do something
    /// then: a destructor may look at them.
    pub(in crate::meaning) fn members_with_effects(&self, members: &[Member<'t>]) -> Vec<&'t [u8]> {
        let seen: Vec<(Seen, &'t [u8])> =
            members.iter().take(MOST).map(|member| (self.seen_of(member, DEEPEST), member.name)).collect();
        if !seen.iter().any(|(seen, _)| *seen == Seen::Shows) {
            return Vec::new();
        }
        let busy = seen.into_iter().filter(|(seen, _)| *seen != Seen::Plain);
        busy.map(|(_, name)| name).collect()
    }

    /// Effects that are seen of a member.
    fn seen_of(&self, member: &Member<'t>, depth: usize) -> Seen {
        let world = self.world();
        let ty = innermost(world, &member.ty);
        let is_reference = member.words.last().is_some_and(|last| matches!(*last, b"&" | b"&&"));
        match ty {
            _ if is_reference => Seen::Plain,
            Type::Number(..) | Type::Byte | Type::Pointer(_) | Type::Function(_) | Type::Void => Seen::Plain,
            Type::Record(class) => self.class_seen(class, depth).max(self.words_seen(&member.words, depth)),
            // What has no words is a macro's, or C's.
            _ => self.words_seen(&member.words, depth),
        }
    }

    /// Effects that are seen of objects of a class.
    fn class_seen(&self, class: &'t [u8], depth: usize) -> Seen {
        let Some(known) = self.world().records.get(class).filter(|_| depth > 0) else { return Seen::Plain };
        let members = known.members.iter().take(MOST).map(|member| self.seen_of(member, depth - 1));
        match self.is_busy(class, known) {
            true => Seen::Shows,
            false => members.max().unwrap_or(Seen::Plain),
        }
    }

    fn is_busy(&self, class: &'t [u8], known: &Record<'t>) -> bool {
        let is_effect = |name: &'t [u8]| !self.kept(Slot::Effect(None, name)).is_empty();
        let is_made = known.has_constructor || known.has_copy;
        let is_unknown = known.is_made_elsewhere && self.kept(Slot::Constructor(class)).is_empty();
        known.has_destructor
            || is_made && (is_effect(class) || is_unknown)
            || known.has_copy && is_effect(b"operator")
            || !self.defaults_that_change(known).is_empty()
            || known.has_release && self.operators_change()
    }

    /// Effects that are seen of a type by its words.
    fn words_seen(&self, words: &[&'t [u8]], depth: usize) -> Seen {
        let mut most = Seen::Plain;
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).copied().unwrap_or_default();
            let is_pointer = next == b"*" || next == b"const" && words.get(at + 2) == Some(&&b"*"[..]);
            let is_keyword = at > 0 && matches!(words.get(at - 1), Some(&(b"struct" | b"union" | b"enum")));
            if !is_pointer && next != b"::" {
                most = most.max(self.word_seen(word, is_keyword, depth));
            }
            // `unique_ptr<T, closer>`
            if *word == b"unique_ptr" && has_second(words.get(at + 1..).unwrap_or_default()) {
                most = Seen::Shows;
            }
        }
        most
    }

    fn word_seen(&self, word: &'t [u8], is_keyword: bool, depth: usize) -> Seen {
        let world = self.world();
        let is_word = word.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        if !is_word || is_among(SILENT, word) || is_among(PLAIN, word) || is_among(NUMBERS, word) {
            return Seen::Plain;
        }
        match world.resolve(&Type::Named(word)) {
            Type::Record(class) => return self.class_seen(class, depth.saturating_sub(1)),
            Type::Named(other) if other != word && !is_among(HOLDERS, other) => {
                return self.word_seen(other, false, depth.saturating_sub(1));
            }
            Type::Named(_) | Type::Unknown => {}
            _ => return Seen::Plain,
        }
        let is_constant = world.globals.contains_key(word) || self.known.get(Slot::Global(word)).is_some();
        let is_plain = word.ends_with(b"_t") || is_keyword || world.enums.contains(word) || is_constant;
        let is_library = is_among(QUIET, word) || is_among(HOLDERS, word);
        let is_owned = word == b"shared_ptr" && !self.kept(Slot::Effect(None, word)).is_empty();
        match () {
            () if is_plain => Seen::Plain,
            () if is_owned => Seen::Shows,
            // Whatever the library's classes keep is given back by the program's own code.
            () if world.replaces_storage && is_library && self.operators_change() => Seen::Shows,
            () if is_library => Seen::Quiet,
            () if is_among(OPEN, word) && !self.has_destructors() => Seen::Quiet,
            () => Seen::Shows,
        }
    }

    /// Whether a class of the program has a destructor that does something.
    fn has_destructors(&self) -> bool {
        let world = self.world();
        world.records.own.values().chain(world.records.shared.values()).any(|known| known.has_destructor)
    }

    /// A shared pointer that is told how its object is given back.
    pub(in crate::meaning) fn deleter(&mut self, name: &[u8], values: &[Value<'t>]) {
        let Some(second) = values.get(1).filter(|_| matches!(name, b"shared_ptr" | b"reset")) else { return };
        let world = self.world();
        let is_part = world.resolve(&second.ty).element().is_some() && !second.is_function();
        if !is_part {
            let seen = Sum { base: Some(Base::Mapped(b"")), terms: Vec::new() };
            self.keep(Slot::Effect(None, b"shared_ptr"), &[seen]);
        }
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
                b"operator" if self.is_compared_in_order(name, at) => {
                    let what = "the compiler compares its members in their order".to_owned();
                    return self.tell_at(name, line, UseDemand::Whole, Vec::new(), what);
                }
                b"{" if !is_default && self.is_value_of_member(at) => {
                    let end = self.cursor.behind(at);
                    if (at..end).any(|at| self.reads_siblings(name, at)) {
                        return self.made_of_itself(name, line);
                    }
                    at = end.saturating_sub(1);
                }
                b"{" | b"(" if !is_default => at = self.cursor.behind(at).saturating_sub(1),
                _ if is_default && (self.reads_siblings(name, at) || self.is_member(name, at)) => {
                    return self.made_of_itself(name, line);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// `name{…};`
    fn is_value_of_member(&self, at: usize) -> bool {
        let before = at.wrapping_sub(1);
        let is_body = matches!(
            self.cursor.text(before),
            b"const"
                | b"noexcept"
                | b"override"
                | b"final"
                | b"try"
                | b"enum"
                | b"struct"
                | b"union"
                | b"class"
        );
        let is_type = matches!(
            self.cursor.text(before.wrapping_sub(1)),
            b"enum" | b"struct" | b"union" | b"class" | b"namespace" | b":"
        );
        self.cursor.word(before).is_some() && !is_body && !is_type
    }

    /// `operator<=>(…) … = default`, and `==` where comparing a member shows.
    fn is_compared_in_order(&self, class: &[u8], at: usize) -> bool {
        let pieces = self.cursor.pieces.get(at + 1..).unwrap_or_default();
        let declaration = pieces.iter().take_while(|piece| !matches!(piece.text, b";" | b"{"));
        let words: Vec<&[u8]> = declaration.map(|piece| piece.text).collect();
        let sign = words.split(|word| *word == b"(").next().unwrap_or_default().concat();
        let is_ordered = sign == b"<=>" || sign == b"==" && self.comparison_shows(class);
        is_ordered && words.last() == Some(&b"default".as_slice())
    }

    /// Whether a word is a member of the object itself.
    fn is_member(&self, class: &[u8], at: usize) -> bool {
        let is_qualified = matches!(self.cursor.text(at.wrapping_sub(1)), b"::" | b"." | b"->" | b"&");
        !is_qualified && self.cursor.word(at).is_some_and(|word| self.world().member(class, word).is_some())
    }

    fn made_of_itself(&mut self, name: &[u8], line: u32) {
        let what = "a member's default value is made of the object itself".to_owned();
        self.tell_at(name, line, UseDemand::Whole, Vec::new(), what);
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

/// Whether the brackets at the begin of some words have a second argument.
fn has_second(words: &[&[u8]]) -> bool {
    let mut depth = 0_usize;
    for word in words {
        match *word {
            b"<" => depth += 1,
            b">" => depth = depth.saturating_sub(1),
            b">>" => depth = depth.saturating_sub(2),
            b"," if depth == 1 => return true,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    false
}
