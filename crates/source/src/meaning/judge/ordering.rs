//! Addresses of members that are put in order.

use crate::meaning::code::evaluator::{Callee, Evaluator};
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::{Does, does};
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Sum, Value};

/// Values that are kept of the program as a whole.
const COMPARED: Slot<'static> = Slot::Global(b"(compared)");
const MEMORY: Slot<'static> = Slot::Global(b"(memory)");

/// The type of numbers, where types of pointers are kept.
const NUMBER: &[u8] = b"*";

/// All types, where the pointers that are compared are of whatever type.
const ANY: &[u8] = b"auto";

fn is_among_kinds(compared: &[Sum<'_>], kind: &[u8]) -> bool {
    [kind, ANY].iter().any(|kind| compared.iter().any(|known| known.base == Some(Base::Object(kind))))
}

impl<'t> Evaluator<'_, '_, 't> {
    /// Keeps that pointers of a type are compared for which comes first.
    pub(in crate::meaning) fn pointers_compared(&mut self, left: &Value<'t>, right: &Value<'t>) {
        // A pointer that is read out of an array is one of those that the array has in some order.
        let is_single =
            |value: &Value<'t>| value.name.is_some() || value.place.is_some() && value.member.is_none();
        if !self.world().is_complete || !is_single(left) || !is_single(right) {
            return;
        }
        self.addresses_compared(left, right);
        // `[](auto *a, auto *b) { return a < b; }`
        let is_open = matches!(self.world().pointee(&left.ty), Some(Type::Unknown)) && self.is_cpp;
        if let Some(kind) = self.pointed(&left.ty).or(is_open.then_some(ANY)) {
            self.keep(COMPARED, &[Sum::object(kind)]);
        }
    }

    /// Addresses that a function is handed, as pointers or as numbers made of them, and compares for which comes first.
    pub(in crate::meaning) fn members_compared(&mut self, left: &Value<'t>, right: &Value<'t>) {
        if !self.world().is_complete {
            return;
        }
        let members = |value: &Value<'t>| -> Vec<(&'t [u8], &'t [u8])> {
            value.sums.iter().filter(|sum| sum.base.is_some()).filter_map(Sum::member).collect()
        };
        let (ours, theirs) = (members(left), members(right));
        let mut records: Vec<&'t [u8]> = ours.iter().map(|(record, _)| *record).collect();
        records.sort_unstable();
        records.dedup();
        for record in records {
            let members_of = |all: &[(&'t [u8], &'t [u8])]| -> Vec<&'t [u8]> {
                all.iter().filter(|(own, _)| *own == record).map(|(_, member)| *member).collect()
            };
            let (first, second) = (members_of(&ours), members_of(&theirs));
            if first.iter().any(|member| second.iter().any(|other| other != member)) {
                let what = "addresses of its members are put in order".to_owned();
                self.tell_pins(record, &[first, second].concat(), what);
            }
        }
    }

    /// Pointers that are compared as numbers, or as pointers to anything.
    fn addresses_compared(&mut self, left: &Value<'t>, right: &Value<'t>) {
        let ours = self.kinds_of(left);
        let mut both = self.kinds_of(right);
        both.retain(|kind| ours.contains(kind));
        for kind in both {
            self.keep(COMPARED, &[Sum::object(kind)]);
        }
    }

    fn kinds_of(&self, value: &Value<'t>) -> Vec<&'t [u8]> {
        let is_open = match self.world().resolve(&value.ty) {
            Type::Number(_, 8) => true,
            ty => matches!(self.world().pointee(&ty), Some(Type::Void | Type::Byte)),
        };
        let sums = value.sums.iter().filter(|sum| is_open && sum.terms.is_empty());
        let kinds = sums.filter_map(|sum| match sum.base {
            Some(Base::Object(kind)) => Some(kind),
            _ => None,
        });
        kinds.collect()
    }

    /// An array of pointers beside functions that are handed its elements: they may compare what these keep.
    pub(in crate::meaning) fn elements_handed(&mut self, argument: &Value<'t>, called: &[Callee<'t>]) {
        let is_complete = self.world().is_complete;
        let element = self.world().pointee(&argument.ty).filter(|_| is_complete);
        let Some(kind) = element.and_then(|element| self.pointed(&element)) else { return };
        let content = [Sum { base: Some(Base::Content(kind)), terms: Vec::new() }];
        for callee in called {
            self.keep(callee.parameter(0), &content);
            self.keep(callee.parameter(1), &content);
        }
    }

    fn pointed(&self, ty: &Type<'t>) -> Option<&'t [u8]> {
        match self.world().pointee(ty) {
            Some(Type::Record(record)) => Some(record),
            Some(Type::Number(..)) => Some(NUMBER),
            _ => None,
        }
    }

    /// Addresses of members of one object, side by side, of a type whose pointers are put in order.
    pub(in crate::meaning) fn side_by_side(&mut self, values: &[Value<'t>]) {
        let compared = self.kept(COMPARED);
        if compared.is_empty() {
            return;
        }
        let mut found: Vec<(&'t [u8], &'t [u8])> = Vec::new();
        for value in values.iter().filter(|value| !value.is_type) {
            let kind = self.pointed(&value.ty);
            let is_compared = kind.is_some_and(|kind| is_among_kinds(&compared, kind));
            if is_compared && !matches!(self.world().resolve(&value.ty), Type::Array(..)) {
                let sums = value.sums.iter().filter(|sum| sum.base.is_some());
                found.extend(sums.filter_map(Sum::member));
            }
        }
        self.put_in_order(&found);
    }

    fn put_in_order(&mut self, found: &[(&'t [u8], &'t [u8])]) {
        for (record, first) in found {
            let mut others = found.iter().filter(|(own, member)| own == record && member != first);
            if let Some((_, second)) = others.next_back() {
                let what =
                    format!("the addresses of {} and {} may be put in order", lossy(first), lossy(second));
                self.tell_pins(record, &[first, second], what);
            }
        }
    }

    /// The address of a member that is stored in an array whose pointers are put in order.
    pub(in crate::meaning) fn stored_beside(&mut self, ty: &Type<'t>, sums: &[Sum<'t>]) {
        let compared = self.kept(COMPARED);
        let kind = self.pointed(ty).filter(|kind| is_among_kinds(&compared, kind));
        for sum in sums.iter().filter(|_| kind.is_some()) {
            let Some((record, _)) = sum.member().filter(|_| sum.base.is_some()) else { continue };
            self.keep(Slot::Sorted(record), std::slice::from_ref(sum));
            let found: Vec<_> = self.kept(Slot::Sorted(record)).iter().filter_map(Sum::member).collect();
            self.put_in_order(&found);
        }
    }

    /// Keeps that a function of the library that copies or compares bytes is a value.
    pub(in crate::meaning) fn memory_function(&mut self, name: &[u8]) {
        if self.is_memory_function(name) && self.world().is_complete {
            self.keep(MEMORY, &[Sum::object(NUMBER)]);
        }
    }

    /// Whether a name is that of a function which copies or compares bytes.
    pub(in crate::meaning) fn is_memory_function(&self, name: &[u8]) -> bool {
        let is_known = [&b"memcmp"[..], b"bcmp", b"memchr", b"fwrite", b"strncmp"].contains(&name);
        is_known || matches!(does(name), Does::Moves)
    }

    /// Whether a call through a pointer may be one of a function that copies or compares bytes.
    pub(in crate::meaning) fn may_be_memory(&self) -> bool {
        !self.kept(MEMORY).is_empty()
    }
}
