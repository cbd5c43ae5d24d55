//! Values as what is known of them: addresses in objects, offsets, sizes.

use super::types::{TargetStruct, Type, World};
use std::sync::Arc;

/// The place that an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Base<'t> {
    /// An object of a record.
    Object(&'t [u8]),
    /// An array, or the place a pointer points to, keeps the address of an object.
    Content(&'t [u8]),
    /// The place behind an object.
    Behind(&'t [u8]),
    /// Memory that is declared as bytes.
    Bytes,
    /// An array of numbers that the program gives values.
    Numbers,
    /// Memory that is shared with others: the function that gave it.
    Mapped(&'t [u8]),
    /// Memory of which parts of a fixed size are counted.
    Parts,
    /// Memory of a size that the caller has told.
    Sized,
    /// An address that comes from where it isn't followed: of any object whose address went there.
    Escaped,
    /// A function, with the file that alone knows it.
    Function(Option<usize>, &'t [u8]),
    /// Any of the functions that a place keeps, by its number.
    Functions(u64),
}

/// A term of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Term<'t> {
    Offset(&'t [u8], &'t [u8]),
    Size(&'t [u8]),
    MemberSize(&'t [u8], &'t [u8]),
    Number(i64),
    /// The bytes from one object of a record to another.
    Distance(&'t [u8]),
    /// So many times a size.
    Stride,
    /// An unknown number.
    Other,
}

impl<'t> Term<'t> {
    /// The record that it says something of.
    pub(super) fn record(&self) -> Option<&'t [u8]> {
        match self {
            Self::Offset(record, _)
            | Self::Size(record)
            | Self::MemberSize(record, _)
            | Self::Distance(record) => Some(record),
            Self::Number(_) | Self::Stride | Self::Other => None,
        }
    }
}

/// A sum: terms with whether they are added, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Sum<'t> {
    pub(super) base: Option<Base<'t>>,
    pub(super) terms: Vec<(bool, Term<'t>)>,
}

/// Most terms, and most sums that a variable, or a place beyond a function, may be.
const MOST: usize = 4;
pub(super) const MOST_SUMS: usize = 128;

impl<'t> Sum<'t> {
    pub(super) fn object(record: &'t [u8]) -> Self {
        Self { base: Some(Base::Object(record)), terms: Vec::new() }
    }

    pub(super) fn term(term: Term<'t>) -> Self {
        Self { base: None, terms: vec![(true, term)] }
    }

    /// Whether it is the address of a function, or one of several.
    pub(super) fn is_function(&self) -> bool {
        matches!(self.base, Some(Base::Function(..) | Base::Functions(_)))
    }

    /// Whether it says anything of an object.
    pub(super) fn is_telling(&self) -> bool {
        let tells = |term: &Term<'_>| {
            matches!(term, Term::Offset(..) | Term::Size(_) | Term::MemberSize(..) | Term::Distance(_))
        };
        self.base.is_some() || self.terms.iter().any(|(_, term)| tells(term))
    }

    /// The records that it says anything of.
    pub(super) fn records(&self) -> impl Iterator<Item = &'t [u8]> + use<'_, 't> {
        let base = match self.base {
            Some(Base::Object(record) | Base::Content(record) | Base::Behind(record)) => Some(record),
            _ => None,
        };
        base.into_iter().chain(self.terms.iter().filter_map(|(_, term)| term.record()))
    }

    /// As what an array keeps.
    pub(super) fn as_content(&self) -> Option<Self> {
        let base = match self.base {
            Some(Base::Object(record)) if self.terms.is_empty() => Base::Content(record),
            Some(base @ (Base::Content(_) | Base::Function(..) | Base::Functions(_))) => base,
            _ => return None,
        };
        Some(Self { base: Some(base), terms: Vec::new() })
    }

    /// The value that an array of this keeps.
    pub(super) fn content(&self) -> Option<Self> {
        let base = match self.base {
            Some(Base::Content(record)) => Base::Object(record),
            Some(base @ (Base::Function(..) | Base::Functions(_))) => base,
            _ => return None,
        };
        Some(Self { base: Some(base), terms: Vec::new() })
    }

    pub(super) fn plus(&self, other: &Self, added: bool) -> Self {
        let mut sum = self.clone();
        sum.base = match (self.base, other.base) {
            (Some(_), Some(_)) if !added => None,
            (first, second) => first.or(second),
        };
        for (sign, term) in &other.terms {
            sum.add_term(*sign == added, *term);
        }
        sum.forget_what_is_lost();
        // Nobody calls what lies beside a function.
        if sum.is_function() && !sum.terms.is_empty() {
            sum.base = None;
        }
        sum
    }

    /// An address beside an unknown number: known numbers say no more, and before it nothing does.
    fn forget_what_is_lost(&mut self) {
        let Some(Base::Object(_) | Base::Content(_) | Base::Behind(_)) = self.base else { return };
        let is_before = self.terms.contains(&(false, Term::Other));
        if !is_before && !self.terms.contains(&(true, Term::Other)) {
            return;
        }
        match is_before {
            true => self.terms = vec![(false, Term::Other)],
            false => self.terms.retain(|(_, term)| !matches!(term, Term::Number(_))),
        }
    }

    /// The same with offsets and sizes of some other records as part of its unknown number, if it is an address with one.
    /// Without one they are known distances, which may lead from one member to another.
    pub(super) fn without(&self, is_other: impl Fn(&'t [u8]) -> bool) -> Self {
        let mut sum = self.clone();
        if sum.base.is_some() && sum.has_other() {
            sum.terms.retain(|(_, term)| !term.record().is_some_and(&is_other));
        }
        sum
    }

    /// Adds or subtracts a term. The order of terms says nothing, and an unknown number more or less is one unknown
    /// number: so one value has one spelling.
    fn add_term(&mut self, sign: bool, term: Term<'t>) {
        let is_number = |term: &Term<'t>| matches!(term, Term::Number(_));
        let is_counted = self.base.is_some() && is_number(&term) && term != Term::Number(0);
        let other =
            self.terms.iter().position(|(own, known)| is_number(known) && (*own, *known) != (!sign, term));
        // An address that is counted on by more than one number is so by any: loops do that.
        if let Some(other) = other.filter(|_| is_counted) {
            self.terms.remove(other);
            return self.add_term(true, Term::Other);
        }
        let is_unknown = matches!(term, Term::Other | Term::Stride);
        let opposite = self.terms.iter().position(|(own, known)| *own != sign && *known == term);
        match opposite.filter(|_| !is_unknown) {
            Some(at) => {
                self.terms.remove(at);
            }
            None if term == Term::Number(0) => {}
            None if is_unknown && self.terms.contains(&(sign, term)) => {}
            None if self.terms.len() < MOST => {
                let place = self.terms.partition_point(|(own, known)| (known, !own) <= (&term, !sign));
                self.terms.insert(place, (sign, term));
            }
            // Of so many terms nothing more is known.
            None => {
                self.terms.pop();
                self.terms.retain(|known| *known != (true, Term::Other));
                self.terms.push((true, Term::Other));
            }
        }
    }

    pub(super) fn and(mut self, added: bool, term: Term<'t>) -> Self {
        self = self.plus(&Self::term(term), added);
        self
    }

    /// The member that it is the address or offset of, if nothing else is added.
    pub(super) fn member(&self) -> Option<(&'t [u8], &'t [u8])> {
        match self.terms.as_slice() {
            [(true, Term::Offset(record, member))] => Some((record, member)),
            _ => None,
        }
    }

    pub(super) fn offsets(&self) -> impl Iterator<Item = (bool, &'t [u8], &'t [u8])> {
        self.terms.iter().filter_map(|(sign, term)| match term {
            Term::Offset(record, member) => Some((*sign, *record, *member)),
            _ => None,
        })
    }

    pub(super) fn has_other(&self) -> bool {
        self.terms.iter().any(|(_, term)| matches!(term, Term::Other | Term::Stride))
    }

    pub(super) fn subtracts(&self) -> bool {
        self.terms
            .iter()
            .any(|(sign, term)| !sign && matches!(term, Term::Offset(..) | Term::Other | Term::Size(_)))
    }

    /// Its number of bytes, by where the compiler placed a subject's members.
    pub(super) fn number(&self, subject: &TargetStruct) -> Option<i64> {
        let is_own = |record: &[u8]| record == subject.name.as_bytes();
        self.terms.iter().try_fold(0_i64, |all, (sign, term)| {
            let value = match term {
                Term::Number(number) => *number,
                Term::Size(record) if is_own(record) => i64::try_from(subject.size).ok()?,
                Term::Offset(record, name) if is_own(record) => {
                    i64::try_from(subject.member(name)?.offset).ok()?
                }
                Term::MemberSize(record, name) if is_own(record) => {
                    i64::try_from(subject.member(name)?.size).ok()?
                }
                _ => return None,
            };
            if *sign { all.checked_add(value) } else { all.checked_sub(value) }
        })
    }
}

/// A value.
#[derive(Clone, Debug, Default)]
pub(super) struct Value<'t> {
    pub(super) ty: Type<'t>,
    /// All it may be; empty if that isn't known.
    pub(super) sums: Vec<Sum<'t>>,
    /// Its own address, if it has one.
    pub(super) place: Option<Vec<Sum<'t>>>,
    /// The variable it is, if it is one.
    pub(super) name: Option<&'t [u8]>,
    /// The member of a record it is.
    pub(super) member: Option<(&'t [u8], &'t [u8])>,
    /// Whether it is a type's name.
    pub(super) is_type: bool,
    /// The function whose name or result it is.
    pub(super) call: Option<&'t [u8]>,
    /// Whether it is that function's result.
    pub(super) is_result: bool,
    /// Whether it is a text in quotes.
    pub(super) is_text: bool,
    /// That text with its quotes, if it is one piece.
    pub(super) text: &'t [u8],
    /// Of a format that is literals throughout, the text.
    pub(super) format: Option<Arc<[u8]>>,
    /// Whether it is flags, by their names, that ask for memory of no file.
    pub(super) is_anonymous: bool,
    /// Whether it is a size that something unknown multiplies.
    pub(super) is_product: bool,
    /// The member of a record that the value is an entry by: where it is the first one, the entry of a null link is null.
    pub(super) entry: Option<(&'t [u8], &'t [u8])>,
    /// Whether it is known not to be null.
    pub(super) is_object: bool,
    /// Whether that function's type was cast.
    pub(super) is_cast_function: bool,
    /// The variable, or the member of a record, that it is the address of.
    pub(super) target: Option<Kept<'t>>,
    /// Whether it is what a variable or member points to, rather than that itself.
    pub(super) is_content: bool,
    /// Of a number that is added to a variable which is one, the variable.
    pub(super) counted_from: Option<&'t [u8]>,
    /// The bits that the last operation with a constant left of it.
    pub(super) left: Option<Left>,
}

/// Bits of a number that an operation leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// All but so many of the lowest.
    Shifted(u32),
    /// These.
    Masked(u64),
}

/// A variable or member that keeps a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept<'t> {
    Variable(&'t [u8]),
    Member(&'t [u8], &'t [u8]),
}

/// The place that a pointer to a record was had from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// A member of a record.
    Member(&'t [u8], &'t [u8]),
    /// A parameter of the function here, by its number.
    Parameter(usize),
}

impl<'t> Value<'t> {
    pub(super) fn typed(ty: Type<'t>) -> Self {
        Self { ty, ..Self::default() }
    }

    /// Whether it is a function, or its address.
    pub(super) fn is_function(&self) -> bool {
        match &self.ty {
            Type::Function(_) => true,
            Type::Pointer(inner) => matches!(**inner, Type::Function(_)),
            _ => false,
        }
    }

    /// Whether it is a pointer that a function gives and that is called: nothing else than one to a function, whatever the
    /// function's definition says.
    pub(super) fn is_given_function(&self, world: &World<'t>) -> bool {
        self.is_result && matches!(world.pointee(&self.ty), Some(Type::Function(_) | Type::Void))
    }

    pub(super) fn sums(ty: Type<'t>, sums: Vec<Sum<'t>>) -> Self {
        Self { ty, sums, ..Self::default() }
    }
}

/// Adds sums to others, each once.
pub(super) fn join<'t>(into: &mut Vec<Sum<'t>>, more: &[Sum<'t>]) {
    join_what_fits(into, more, usize::MAX);
}

/// The same as long as there are no more than some; gives those that have no room.
pub(super) fn join_what_fits<'s, 't>(
    into: &mut Vec<Sum<'t>>,
    more: &'s [Sum<'t>],
    most: usize,
) -> Vec<&'s Sum<'t>> {
    let mut dropped = Vec::new();
    for sum in more {
        match into.contains(sum) {
            true => {}
            false if into.len() < most => into.push(sum.clone()),
            false => dropped.push(sum),
        }
    }
    dropped
}

pub(super) fn product<'t>(left: &Value<'t>, right: &Value<'t>) -> Vec<Sum<'t>> {
    let product = constant(left).zip(constant(right)).and_then(|(left, other)| left.checked_mul(other));
    let is_size = |side: &Value<'t>| constant(side).is_some_and(|number| number > 1);
    match product {
        Some(number) => vec![number_sum(number)],
        None if is_size(left) || is_size(right) => vec![Sum::term(Term::Stride)],
        None => Vec::new(),
    }
}

/// A number as a sum; zero has no terms.
pub(super) fn number_sum<'t>(number: i64) -> Sum<'t> {
    Sum::default().and(true, Term::Number(number))
}

/// The number that a value is.
pub(super) fn constant(value: &Value<'_>) -> Option<i64> {
    match value.sums.as_slice() {
        [Sum { base: None, terms }] => match terms.as_slice() {
            [] => Some(0),
            [(sign, Term::Number(number))] => Some(if *sign { *number } else { number.checked_neg()? }),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_one_spelling() {
        let offset = Term::Offset(b"s", b"a");
        let sum = |terms: &[(bool, Term<'static>)]| {
            terms.iter().fold(Sum::object(b"s"), |sum, (sign, term)| sum.and(*sign, *term))
        };
        let unknown = sum(&[(true, Term::Other), (true, offset)]);
        assert_eq!(unknown, sum(&[(true, offset), (true, Term::Other), (true, Term::Other)]));
        assert_eq!(unknown, sum(&[(true, offset), (true, Term::Number(4)), (true, Term::Number(8))]));
        assert_eq!(sum(&[(true, Term::Number(4)), (false, Term::Number(4))]), Sum::object(b"s"));
        assert_eq!(sum(&[(false, offset), (true, offset)]), Sum::object(b"s"));
        // Of more terms than are kept an unknown number is left.
        let sizes = [b"b", b"c", b"d", b"e", b"f"].map(|record| (true, Term::Size(record)));
        let many = sum(&sizes);
        assert!(many.terms.len() == MOST && many.has_other());
        let function = Sum { base: Some(Base::Function(None, b"f")), terms: Vec::new() };
        assert!(!function.clone().and(true, Term::Number(1)).is_function());
        assert!(function.is_function());
    }
}
