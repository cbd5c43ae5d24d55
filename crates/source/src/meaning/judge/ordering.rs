//! Addresses of members that are put in order, and holders of addresses that others look at as other holders.

use crate::meaning::code::evaluator::{Evaluator, Slot};
use crate::meaning::judge::callee::{Does, does};
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Sum, Value};

/// Values that are kept of the program as a whole.
const COMPARED: Slot<'static> = Slot::Global(b"(compared)");
const MEMORY: Slot<'static> = Slot::Global(b"(memory)");

/// The type of numbers, where types of pointers are kept.
const NUMBER: &[u8] = b"*";

impl<'t> Evaluator<'_, '_, 't> {
    /// Keeps that pointers of a type are compared for which comes first.
    pub(in crate::meaning) fn pointers_compared(&mut self, left: &Value<'t>, right: &Value<'t>) {
        let is_single = |value: &Value<'t>| value.name.is_some() && !value.is_content;
        if !self.world().is_complete || !is_single(left) || !is_single(right) {
            return;
        }
        if let Some(kind) = self.pointed(&left.ty) {
            self.keep(COMPARED, &[Sum::object(kind)]);
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
            let is_compared = kind.is_some_and(|kind| compared.contains(&Sum::object(kind)));
            if is_compared && !matches!(self.world().resolve(&value.ty), Type::Array(..)) {
                let sums = value.sums.iter().filter(|sum| sum.base.is_some());
                found.extend(sums.filter_map(Sum::member));
            }
        }
        for (record, first) in &found {
            let mut others = found.iter().filter(|(own, member)| own == record && member != first);
            if let Some((_, second)) = others.next_back() {
                let what =
                    format!("the addresses of {} and {} may be put in order", lossy(first), lossy(second));
                self.tell_pins(record, &[first, second], what);
            }
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

    /// Members of a union have one place.
    pub(in crate::meaning) fn shared_place(&mut self, record: &'t [u8], name: &'t [u8], sums: &[Sum<'t>]) {
        let world = self.world();
        let Some(known) = world.records.get(record).filter(|known| known.is_union) else { return };
        for other in known.members.iter().filter(|other| other.name != name) {
            self.keep(Slot::Member(record, other.name), sums);
            self.taken_as(sums, &other.ty);
        }
    }

    /// Pointers in a holder that is looked at as another holder.
    pub(in crate::meaning) fn alternatives(&mut self, first: &'t [u8], second: &'t [u8]) {
        let world = self.world();
        let (Some(own), Some(other)) = (world.records.get(first), world.records.get(second)) else { return };
        for (own, other) in own.members.iter().zip(&other.members) {
            let sums = self.kept(Slot::Member(first, own.name));
            self.taken_as(&sums, &other.ty);
        }
    }

    /// Addresses that are read as pointers to numbers.
    fn taken_as(&mut self, sums: &[Sum<'t>], ty: &Type<'t>) {
        let Some(number @ Type::Number(..)) = self.world().pointee(ty) else { return };
        for sum in sums.iter().filter(|sum| sum.terms.is_empty()) {
            if let Some(Base::Object(record)) = sum.base {
                self.start(record, &number, false);
            }
        }
    }

    /// The bytes of a holder that go elsewhere with the addresses in it.
    pub(in crate::meaning) fn leaves_with_addresses(&mut self, name: &str, holder: &'t [u8]) {
        let members = self.world().records.get(holder).map(|known| known.members.as_slice());
        for member in members.unwrap_or_default() {
            for sum in self.kept(Slot::Member(holder, member.name)) {
                if let Some(Base::Object(record)) = sum.base {
                    let what = format!("{name} is handed a struct {} that keeps its address", lossy(holder));
                    self.tell_whole(record, what);
                }
            }
        }
    }
}
