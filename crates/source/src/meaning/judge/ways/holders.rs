//! Holders of addresses: others look at them as other holders, and their bytes go to other holders.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::is_transfer;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Sum, Value, join};

/// Records whose bytes leave the program, and those that are filled with bytes from outside.
const LEAVES: Slot<'static> = Slot::Global(b"(leaves)");
const COMES: Slot<'static> = Slot::Global(b"(comes)");

/// Most records inside one another.
const DEEPEST: usize = 4;

impl<'t> Evaluator<'_, '_, 't> {
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
            let mut sums = self.kept(Slot::Member(first, own.name));
            join(&mut sums, &self.kept_in(&own.ty, DEEPEST));
            self.types_in(&other.ty, DEEPEST).iter().for_each(|ty| self.taken_as(&sums, ty));
        }
    }

    /// All values of the members of a record that is a member itself.
    fn kept_in(&self, ty: &Type<'t>, depth: usize) -> Vec<Sum<'t>> {
        let mut found = Vec::new();
        let (Type::Record(record), Some(depth)) = (self.world().resolve(ty), depth.checked_sub(1)) else {
            return found;
        };
        let members = self.world().records.get(record).map(|known| known.members.as_slice());
        for member in members.unwrap_or_default() {
            join(&mut found, &self.kept(Slot::Member(record, member.name)));
            join(&mut found, &self.kept_in(&member.ty, depth));
        }
        found
    }

    /// A member's type, or those of its own members.
    fn types_in(&self, ty: &Type<'t>, depth: usize) -> Vec<Type<'t>> {
        let (Type::Record(record), Some(depth)) = (self.world().resolve(ty), depth.checked_sub(1)) else {
            return vec![ty.clone()];
        };
        let members = self.world().records.get(record).map(|known| known.members.as_slice());
        members.unwrap_or_default().iter().flat_map(|member| self.types_in(&member.ty, depth)).collect()
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

    /// The bytes of a holder that are copied over another one: an address comes out of the member at its place.
    pub(in crate::meaning) fn moved_holder(&mut self, arguments: &[Value<'t>]) {
        let [to, from, ..] = arguments else { return };
        let world = self.world();
        let is_bytes = |value: &Value<'t>| world.pointee(&value.ty) == Some(Type::Byte);
        let (sources, targets) = (self.holders_in(from), self.holders_in(to));
        for source in &sources {
            targets.iter().for_each(|target| self.comes_out(source, target));
        }
        // Through a buffer of bytes they may go to any holder that others are filled from.
        if is_bytes(to) && targets.is_empty() {
            sources.into_iter().for_each(|source| self.leaves(source));
        } else if is_bytes(from) && sources.is_empty() {
            targets.into_iter().for_each(|target| self.comes(target));
        }
    }

    fn leaves(&mut self, holder: &'t [u8]) {
        self.keep(LEAVES, &[Sum::object(holder)]);
        for target in self.kept(COMES).iter().filter_map(object_of) {
            self.comes_out(holder, target);
        }
    }

    fn comes(&mut self, holder: &'t [u8]) {
        self.keep(COMES, &[Sum::object(holder)]);
        for source in self.kept(LEAVES).iter().filter_map(object_of) {
            self.comes_out(source, holder);
        }
    }

    /// The bytes of holders that a function of the library takes out of the program, or brings in.
    pub(in crate::meaning) fn transferred(&mut self, name: &str, arguments: &[Value<'t>]) {
        if !is_transfer(name) || !self.world().is_complete {
            return;
        }
        let is_out = ["write", "send"].iter().any(|verb| name.contains(verb));
        for argument in arguments.iter().filter(|argument| !argument.is_type) {
            for holder in self.holders_in(argument) {
                match is_out {
                    true => self.leaves(holder),
                    false => self.comes(holder),
                }
            }
        }
    }

    /// Records whose beginnings a value is the address of.
    fn holders_in(&self, value: &Value<'t>) -> Vec<&'t [u8]> {
        self.sums_of(value).iter().filter(|sum| sum.terms.is_empty()).filter_map(object_of).collect()
    }

    /// Addresses that go with the bytes of a record into another one.
    fn comes_out(&mut self, source: &'t [u8], target: &'t [u8]) {
        if source == target || !self.world().is_complete {
            return;
        }
        let world = self.world();
        let others = world.places(target);
        for own in world.places(source) {
            let mut sums = self.kept(Slot::Member(own.record, own.name));
            if let Some(Type::Record(record)) = world.pointee(&own.ty) {
                join(&mut sums, &[Sum::object(record)]);
            }
            for other in others.iter().filter(|other| other.offset == own.offset && !sums.is_empty()) {
                self.taken_out(&sums, &other.ty);
                if !self.is_typed(&other.ty) {
                    self.keep_member(other.record, other.name, &sums);
                }
            }
        }
    }

    /// Addresses that come out of a member of a type.
    fn taken_out(&mut self, sums: &[Sum<'t>], ty: &Type<'t>) {
        let Some(to) = self.world().pointee(ty) else { return };
        let is_wanted =
            |sum: &Sum<'t>| matches!((&to, object_of(sum)), (Type::Record(to), Some(own)) if *to == own);
        if sums.iter().any(is_wanted) {
            return;
        }
        for record in sums.iter().filter(|sum| sum.terms.is_empty()).filter_map(object_of) {
            self.start(record, &to, true);
        }
    }
}

fn object_of<'t>(sum: &Sum<'t>) -> Option<&'t [u8]> {
    match sum.base {
        Some(Base::Object(record)) => Some(record),
        _ => None,
    }
}
