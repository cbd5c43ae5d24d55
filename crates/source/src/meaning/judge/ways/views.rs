//! Memory that is taken for a struct and was made as something else: numbers, bytes that were put together, members of
//! other objects.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::Does;
use crate::meaning::types::{Type, innermost, lossy};
use crate::meaning::value::{Base, Sum, Term, Value};

/// Where is kept that memory of no file is read or written as something else than objects.
const MAPPED_OTHERWISE: Slot<'static> = Slot::Global(b"(mapped)");

impl<'t> Evaluator<'_, '_, 't> {
    /// Memory of no file is taken for something.
    pub(in crate::meaning) fn mapped_as(&mut self, to: &Type<'t>) {
        match to {
            Type::Record(wanted) if !self.kept(MAPPED_OTHERWISE).is_empty() => {
                self.tell_whole(wanted, "memory that is taken for numbers is taken for it".to_owned());
            }
            Type::Number(..) | Type::Pointer(_) | Type::Array(..) | Type::Named(_) => self.mapped_otherwise(),
            _ => {}
        }
    }

    /// Memory of no file is read or written as something else than objects.
    pub(in crate::meaning) fn mapped_otherwise(&mut self) {
        let seen = Sum { base: Some(Base::Mapped(b"")), terms: Vec::new() };
        self.keep(MAPPED_OTHERWISE, &[seen]);
    }

    /// The variable that a sum of two numbers goes on from: the other one says nothing of an object.
    pub(in crate::meaning) fn counted_from(&self, left: &Value<'t>, right: &Value<'t>) -> Option<&'t [u8]> {
        let is_number = |value: &Value<'t>| matches!(self.world().resolve(&value.ty), Type::Number(..));
        let is_plain = |value: &Value<'t>| is_number(value) && !value.sums.iter().any(Sum::is_telling);
        let is_address = |value: &Value<'t>| matches!(self.world().resolve(&value.ty), Type::Number(_, 8));
        [(left, right), (right, left)].into_iter().find_map(|(from, number)| {
            let is_counted = is_address(from) && !from.is_content && is_plain(number);
            from.name.filter(|_| is_counted)
        })
    }

    fn read_at_slot(&self, name: &'t [u8]) -> Slot<'t> {
        match self.local(name) {
            Some(_) => Slot::ReadAt(self.function, name),
            None => Slot::ReadAt(b"", name),
        }
    }

    /// A number that becomes an address: that of numbers at a distance from what a variable keeps, or that of an object
    /// where the variable says.
    pub(in crate::meaning) fn number_as_address(&mut self, value: &Value<'t>, to: &Type<'t>) {
        let world = self.world();
        if !world.is_complete || !matches!(world.resolve(&value.ty), Type::Number(_, 8)) {
            return;
        }
        match (to, value.counted_from, value.name) {
            (Type::Number(..), Some(name), _) => {
                let seen = Sum { base: Some(Base::Mapped(b"")), terms: Vec::new() };
                self.keep(self.read_at_slot(name), &[seen]);
            }
            (Type::Record(wanted), _, Some(name)) if !self.kept(self.read_at_slot(name)).is_empty() => {
                let what = "numbers are read or written at distances from its address".to_owned();
                self.tell_whole(wanted, what);
            }
            _ => {}
        }
    }

    /// Values that become pointers to a record. What may be what is wanted is taken to be that.
    pub(in crate::meaning) fn viewed(
        &mut self,
        value: &Value<'t>,
        sums: &[Sum<'t>],
        wanted: &'t [u8],
        is_cast: bool,
    ) {
        let world = self.world();
        let is_wanted = |sum: &Sum<'t>| sum.base == Some(Base::Object(wanted)) && sum.terms.is_empty();
        if !world.is_complete || sums.iter().any(is_wanted) {
            return;
        }
        let is_open = !is_cast && world.pointee(&value.ty) == Some(Type::Void);
        for sum in sums {
            match (sum.base, sum.terms.as_slice()) {
                (Some(Base::Numbers), terms) if counted_back(terms, wanted).is_none() => {
                    self.tell_whole(wanted, "numbers are taken for it".to_owned());
                }
                (Some(Base::Object(holder)), [(true, Term::Offset(own, member)), rest @ ..])
                    if holder == *own && holder != wanted && is_open =>
                {
                    self.member_viewed(holder, member, wanted, rest.is_empty());
                }
                _ => {}
            }
            if let Some(member) = counted_back(&sum.terms, wanted) {
                self.counted_back_from(sum, wanted, member);
            }
        }
    }

    /// A member, or a place in one, that is taken for a record by way of a pointer to anything.
    fn member_viewed(&mut self, holder: &'t [u8], member: &'t [u8], wanted: &'t [u8], is_begin: bool) {
        let world = self.world();
        let Some(ty) = world.member(holder, member) else { return };
        let is_array = matches!(world.resolve(&ty), Type::Array(..));
        match innermost(world, &ty) {
            Type::Number(..) | Type::Pointer(_) | Type::Byte if !is_array && is_begin => {
                let what = format!("{} is taken for the beginning of a struct", lossy(member));
                self.tell_from(holder, member, what);
            }
            Type::Number(..) | Type::Byte if !self.kept(Slot::Filled(holder, member)).is_empty() => {
                self.tell_whole(
                    wanted,
                    format!("bytes that were put into {} are taken for it", lossy(member)),
                );
            }
            _ => {}
        }
    }

    /// The address of something that isn't a member of the record, less the offset of one.
    fn counted_back_from(&mut self, sum: &Sum<'t>, wanted: &'t [u8], member: &'t [u8]) {
        let world = self.world();
        let ty = world.member(wanted, member).map(|ty| innermost(world, &ty));
        let from = sum.offsets().find(|(added, _, _)| *added);
        let is_same_kind = match (sum.base, from) {
            // Heads of lists stand outside of what is linked.
            (Some(Base::Object(holder)), Some((_, own, other))) if holder == own && holder != wanted => {
                let other = world.member(own, other).map(|ty| innermost(world, &ty));
                other.is_none() || other == ty && matches!(ty, Some(Type::Record(_)))
            }
            (Some(Base::Numbers | Base::Bytes | Base::Content(_)), _) => false,
            _ => true,
        };
        if !is_same_kind {
            let what = format!("what isn't its {} is taken for it", lossy(member));
            self.tell_whole(wanted, what);
        }
    }

    /// Bytes that a function puts into a member of numbers: what they are, nobody says.
    pub(in crate::meaning) fn filled(
        &mut self,
        does: Does,
        name: &[u8],
        (arguments, all): (&[Value<'t>], &[Vec<Sum<'t>>]),
    ) {
        let is_read = name.ends_with(b"read") || name.ends_with(b"recv");
        let is_filling = self.world().is_complete && (is_read || does == Does::Moves);
        let Some((to, from)) = all.first().zip(arguments.get(1)).filter(|_| is_filling) else { return };
        let to = if is_read && !name.ends_with(b"fread") { all.get(1).unwrap_or(to) } else { to };
        // An object's own bytes may come back as that.
        let is_object = |sum: &Sum<'t>| sum.base.is_some();
        if !is_read && self.sums_of(from).iter().any(is_object) {
            return;
        }
        for sum in to {
            let Some((_, holder, member)) = sum.offsets().next().filter(|(added, _, _)| *added) else {
                continue;
            };
            let ty = self.world().member(holder, member).map(|ty| innermost(self.world(), &ty));
            if matches!(ty, Some(Type::Byte | Type::Number(..))) {
                self.is_filled(holder, member);
            }
        }
    }

    fn is_filled(&mut self, holder: &'t [u8], member: &'t [u8]) {
        let seen = Sum { base: Some(Base::Mapped(b"")), terms: Vec::new() };
        self.keep(Slot::Filled(holder, member), &[seen]);
    }

    /// `all[at] = number`, of an array of numbers.
    pub(in crate::meaning) fn number_stored(&mut self, left: &Value<'t>, start: usize) {
        let world = self.world();
        if !world.is_complete || !matches!(world.resolve(&left.ty), Type::Number(..)) {
            return;
        }
        let is_array = |ty: &Type<'t>| matches!(world.resolve(ty), Type::Array(..));
        if let Some((_, holder, member)) = left.place.iter().flatten().find_map(|sum| sum.offsets().next())
            && world.member(holder, member).is_some_and(|ty| is_array(&ty))
        {
            self.is_filled(holder, member);
        }
        let name = self.cursor.text(start);
        let ty = self.local(name).map(|local| &local.ty).or_else(|| world.globals.get(name));
        if self.cursor.text(start + 1) == b"[" && ty.is_some_and(is_array) {
            self.holds_numbers(name);
        }
    }

    /// An array of numbers that the program gives values.
    pub(in crate::meaning) fn holds_numbers(&mut self, name: &'t [u8]) {
        self.assign(name, &[Sum { base: Some(Base::Numbers), terms: Vec::new() }]);
    }

    /// Whether a type is an array of numbers.
    pub(in crate::meaning) fn is_row_of_numbers(&self, ty: &Type<'t>) -> bool {
        let world = self.world();
        matches!(world.resolve(ty), Type::Array(..)) && matches!(innermost(world, ty), Type::Number(..))
    }

    /// The place of a variable that is an array of numbers, if the program gives it values.
    pub(in crate::meaning) fn place_of_numbers(&self, ty: &Type<'t>, kept: &[Sum<'t>]) -> Vec<Sum<'t>> {
        let numbers = Sum { base: Some(Base::Numbers), terms: Vec::new() };
        match kept.contains(&numbers) && self.is_row_of_numbers(ty) {
            true => vec![numbers],
            false => Vec::new(),
        }
    }
}

/// The member of a record whose offset is subtracted.
fn counted_back<'t>(terms: &[(bool, Term<'t>)], wanted: &[u8]) -> Option<&'t [u8]> {
    terms.iter().find_map(|(added, term)| match term {
        Term::Offset(record, member) if !added && *record == wanted => Some(*member),
        _ => None,
    })
}
