//! Sorted containers of addresses: where members' addresses are kept in one, their order shows.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::stream::Kind;
use crate::meaning::syntax::words::{NUMBERS, is_among};
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Sum, Value};

/// Members that sorted containers keep, of the program as a whole.
const KINDS: Slot<'static> = Slot::Global(b"(sorted)");

/// Templates that compare what they keep.
const SORTED: &str = " map set multimap multiset flat_map flat_set priority_queue less greater less_equal \
     hash ";

/// Templates whose elements others may sort.
const ROWS: &str = " vector array deque list span ";

/// Functions that sort or compare elements.
const SORTS: &str = " sort stable_sort partial_sort nth_element min_element max_element minmax_element lower_bound \
     upper_bound binary_search is_sorted min max make_heap ";

/// Kinds of pointers that have no name.
const NUMBER: &[u8] = b"*";
const VOID: &[u8] = b"void";
const BYTE: &[u8] = b"char";

/// Most words of a template's first argument.
const MOST: usize = 16;

impl<'t> Evaluator<'_, '_, 't> {
    /// Keeps the kinds of pointers that containers of this file sort.
    pub(in crate::meaning) fn sorted_kinds(&mut self) {
        if !self.is_cpp {
            return;
        }
        let pieces = self.cursor.pieces;
        let sorts = (0..pieces.len())
            .any(|at| is_among(SORTS, self.cursor.text(at)) && self.cursor.text(at + 1) == b"(");
        for at in 0..pieces.len() {
            let word = self.cursor.text(at);
            let is_sorted = is_among(SORTED, word) || sorts && is_among(ROWS, word);
            let row = self.row_of_pointers(at).filter(|_| sorts);
            if let Some(kind) = self.first_argument(at + 1).filter(|_| is_sorted).or(row) {
                self.keep(KINDS, &[Sum::object(kind)]);
            }
        }
    }

    /// The kind of pointer of an array that is declared by the word here: `lock *all[2];`.
    fn row_of_pointers(&self, at: usize) -> Option<&'t [u8]> {
        let word = self.cursor.word(at).filter(|_| self.cursor.text(at + 1) == b"*")?;
        let is_row = self.cursor.word(at + 2).is_some() && self.cursor.text(at + 3) == b"[";
        match is_row {
            true if is_among(NUMBERS, word) => Some(NUMBER),
            true => kind_of(&self.world().resolve(&Type::Named(word))),
            false => None,
        }
    }

    /// The kind of pointer that is a template's first argument.
    fn first_argument(&self, open: usize) -> Option<&'t [u8]> {
        if self.cursor.text(open) != b"<" {
            return None;
        }
        let end = (open + 1..open + MOST)
            .find(|at| matches!(self.cursor.text(*at), b"," | b">" | b">>" | b"<" | b""))?;
        let is_pointer = (open + 1..end).any(|at| self.cursor.text(at) == b"*");
        let words = (open + 1..end)
            .filter(|at| self.cursor.pieces.get(*at).is_some_and(|piece| piece.kind == Kind::Word));
        let names = words.map(|at| self.cursor.text(at));
        let names: Vec<&'t [u8]> =
            names.filter(|name| !matches!(*name, b"const" | b"struct" | b"std")).collect();
        let last = names.last().filter(|_| is_pointer)?;
        match () {
            () if names.contains(&BYTE) => Some(BYTE),
            () if is_among(NUMBERS, last) => Some(NUMBER),
            () if *last == VOID => Some(VOID),
            () => kind_of(&self.world().resolve(&Type::Named(last))),
        }
    }

    /// Members that a function is handed, perhaps by reference: it may sort their addresses.
    pub(in crate::meaning) fn handed_by_reference(&mut self, arguments: &[Value<'t>]) {
        let is_cpp = self.is_cpp;
        for argument in arguments.iter().filter(|argument| is_cpp && !argument.is_type) {
            if matches!(self.world().resolve(&argument.ty), Type::Record(_) | Type::Named(_)) {
                self.may_be_sorted(argument);
            }
        }
    }

    /// The address of a member, of a kind that is sorted.
    pub(in crate::meaning) fn may_be_sorted(&mut self, member: &Value<'t>) {
        let Some((record, name)) =
            member.member.filter(|(record, _)| self.is_cpp && self.subject(record).is_some())
        else {
            return;
        };
        let kinds = self.kept(KINDS);
        let kind = kind_of(&self.world().resolve(&member.ty));
        let is_kind = |sum: &Sum<'t>| matches!(sum.base, Some(Base::Object(known)) if known == VOID || Some(known) == kind);
        let sums = member.place.clone().unwrap_or_default();
        if !kinds.iter().any(is_kind) || !sums.iter().any(|sum| sum.member() == Some((record, name))) {
            return;
        }
        self.keep(Slot::Sorted(record), &sums);
        let kept = self.kept(Slot::Sorted(record));
        let names: Vec<&[u8]> = kept.iter().filter_map(Sum::member).map(|(_, name)| name).collect();
        if names.len() > 1 {
            let what = format!("addresses of {} and other members may be put in order", lossy(name));
            self.tell_pins(record, &names, what);
        }
    }
}

/// The kind of pointer that the address of something is.
fn kind_of<'t>(ty: &Type<'t>) -> Option<&'t [u8]> {
    match ty {
        Type::Number(..) => Some(NUMBER),
        Type::Byte => Some(BYTE),
        Type::Record(name) | Type::Named(name) => Some(name),
        _ => None,
    }
}
