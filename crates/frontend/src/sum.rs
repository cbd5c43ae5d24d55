//! Numbers and addresses as sums: offsets and sizes of members, numbers, and what they are counted from.
//!
//! * `nearby`: what stands around a node: objects that end where an address points, elements of arrays.
//! * `orders`: comparisons of addresses.
//! * `plain`: numbers that expressions without addresses are.
//! * `roots`: variables that addresses are counted from.
//! * `reach`: how far code reaches that takes an object for a longer one.

pub(crate) mod nearby;
pub(crate) mod orders;
pub(crate) mod plain;
pub(crate) mod reach;
pub(crate) mod roots;

use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::flow::Flow;
use crate::records::{Records, named_holder, own_name};
use crate::tree::{Index, Tree};
use rustc_hash::FxHashSet;

/// Most variables and expressions on the way to a value.
const DEEPEST: usize = 40;
/// Most values that a pointer is followed to.
const MOST_ORIGINS: usize = 256;
/// The part of it that a step from a variable to its value costs.
const HOP: usize = 12;

/// A term that is added or, with a minus, subtracted.
#[derive(Clone, Debug)]
pub(crate) enum Term<'u> {
    /// The offset of a member, or of members inside one another.
    Offset(Vec<Cursor<'u>>),
    /// The size of a type, or of a member.
    Size(Type<'u>, Option<Cursor<'u>>),
    Number(i64),
    /// An unknown number.
    Other,
}

/// The object that an address is counted from.
#[derive(Clone, Debug)]
pub(crate) struct Start<'u> {
    /// The type that is pointed to.
    pub(crate) ty: Type<'u>,
    /// The call that gave the pointer, if one did.
    pub(crate) call: Option<Index>,
}

/// A sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum<'u> {
    pub(crate) start: Option<Start<'u>>,
    /// Terms with whether they are added.
    pub(crate) terms: Vec<(bool, Term<'u>)>,
}

impl<'u> Sum<'u> {
    fn term(term: Term<'u>) -> Self {
        Self { start: None, terms: vec![(true, term)] }
    }

    fn at(ty: Type<'u>) -> Self {
        Self { start: Some(Start { ty, call: None }), terms: Vec::new() }
    }

    /// Offsets that are added (`true`) or subtracted.
    pub(crate) fn offsets(&self, added: bool) -> impl Iterator<Item = &Vec<Cursor<'u>>> {
        self.terms.iter().filter_map(move |(sign, term)| match term {
            Term::Offset(path) if *sign == added => Some(path),
            _ => None,
        })
    }

    pub(crate) fn has_offsets(&self) -> bool {
        self.terms.iter().any(|(_, term)| matches!(term, Term::Offset(_)))
    }

    /// Sizes that are added (`true`) or subtracted.
    pub(crate) fn sizes(&self, added: bool) -> impl Iterator<Item = (Type<'u>, Option<Cursor<'u>>)> {
        self.terms.iter().filter_map(move |(sign, term)| match term {
            Term::Size(ty, member) if *sign == added => Some((*ty, *member)),
            _ => None,
        })
    }

    pub(crate) fn has_other(&self) -> bool {
        self.terms.iter().any(|(_, term)| matches!(term, Term::Other))
    }

    fn plus(mut self, other: Self, added: bool) -> Self {
        self.start = match (self.start, other.start) {
            (Some(_), Some(_)) if !added => None,
            (first, second) => first.or(second),
        };
        self.terms.extend(other.terms.into_iter().map(|(sign, term)| (sign == added, term)));
        self
    }
}

/// A unit as the rules read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'v, 's, 'u> {
    pub(crate) tree: &'v Tree<'u>,
    pub(crate) records: &'v Records<'s, 'u>,
    pub(crate) flow: &'v Flow,
}

impl<'u> View<'_, '_, 'u> {
    pub(crate) fn cursor(&self, index: Index) -> Option<Cursor<'u>> {
        self.tree.get(index).map(|node| node.cursor)
    }

    /// Whether a node is `offsetof`.
    pub(crate) fn is_offset_of(&self, index: Index) -> bool {
        self.tree.kind(index) == Kind::Unexposed
            && self.tree.children(index).any(|child| self.tree.kind(child) == Kind::MemberName)
            && self.cursor(index).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Number)
    }

    /// Whether a node stands below a case that its switch never takes, as in macros that switch over `sizeof`.
    pub(crate) fn is_never_run(&self, index: Index) -> bool {
        let parents = std::iter::successors(self.tree.parent(index), |parent| self.tree.parent(*parent));
        let mut case = None;
        for parent in parents {
            match self.tree.kind(parent) {
                Kind::Case => case = self.tree.values(parent).next().and_then(|value| self.constant(value)),
                Kind::Switch => {
                    let taken = self.tree.values(parent).next().and_then(|value| self.constant(value));
                    if case.is_some() && taken.is_some() && case != taken {
                        return true;
                    }
                    case = None;
                }
                Kind::Function => return false,
                _ => {}
            }
        }
        false
    }

    fn constant(&self, index: Index) -> Option<i64> {
        self.cursor(index)?.constant()
    }

    /// The value in brackets, casts and conversions.
    pub(crate) fn peeled(&self, index: Index) -> Index {
        let mut index = index;
        while matches!(self.tree.kind(index), Kind::Paren | Kind::Unexposed | Kind::Cast)
            && !self.is_offset_of(index)
            && let Some(inner) = self.tree.only(index)
        {
            index = inner;
        }
        index
    }

    /// All values that a variable, a member or a call of type `void *` can have, where the unit tells.
    pub(crate) fn origins(&self, index: Index) -> Vec<Index> {
        let (mut found, mut seen, mut open) = (Vec::new(), FxHashSet::default(), vec![self.peeled(index)]);
        while let Some(index) = open.pop() {
            if seen.len() >= MOST_ORIGINS || !seen.insert(index) {
                continue;
            }
            let given = self.untyped(index);
            if given.is_empty() && seen.len() > 1 {
                found.push(index);
            }
            open.extend(given.iter().map(|value| self.peeled(*value)));
        }
        found
    }

    /// The values of an expression whose type doesn't say what it points to.
    fn untyped(&self, index: Index) -> &[Index] {
        let is_name = matches!(self.tree.kind(index), Kind::Name | Kind::MemberAccess | Kind::Call);
        let Some(cursor) = self.cursor(index).filter(|_| is_name) else { return &[] };
        if cursor.ty().pointee().is_none_or(|pointee| pointee.kind() != TypeKind::Void) {
            return &[];
        }
        let declared = cursor.referenced();
        let declared = match self.tree.kind(index) {
            Kind::Call => declared.and_then(|function| function.definition()),
            _ => declared,
        };
        declared.map_or(&[], |declared| self.flow.given(declared.identity()))
    }

    /// The sum that an expression is.
    pub(crate) fn sum(&self, index: Index) -> Sum<'u> {
        self.value(index, DEEPEST).unwrap_or_else(|| Sum::term(Term::Other))
    }

    /// The address of what an expression names.
    pub(crate) fn address_sum(&self, index: Index) -> Sum<'u> {
        self.address(index, DEEPEST).unwrap_or_else(|| Sum::term(Term::Other))
    }

    fn value(&self, index: Index, depth: usize) -> Option<Sum<'u>> {
        let depth = depth.checked_sub(1)?;
        let cursor = self.cursor(index)?;
        match self.tree.kind(index) {
            Kind::Unexposed if self.is_offset_of(index) => Some(self.offset_of(index)),
            Kind::Paren | Kind::Unexposed | Kind::Cast => self.converted(index, depth),
            Kind::StatementExpression => self.last(index, depth),
            Kind::Binary => self.binary(index, cursor.binary_operator(), depth),
            Kind::Conditional => self.branches(index, depth),
            Kind::Unary => self.unary(index, cursor, depth),
            Kind::Integer => Some(Sum::term(Term::Number(cursor.constant()?))),
            Kind::SizeOf => Some(
                self.offset_in_type(index, depth).unwrap_or_else(|| Sum::term(self.size_of(index, cursor))),
            ),
            Kind::Name => self.named(cursor, depth),
            Kind::MemberAccess | Kind::Subscript if cursor.ty().kind() == TypeKind::Array => {
                self.address(index, depth)
            }
            Kind::This => Some(Sum::at(cursor.ty().pointee()?)),
            Kind::Call => {
                let ty = cursor.ty().pointee()?;
                Some(Sum { start: Some(Start { ty, call: Some(index) }), terms: Vec::new() })
            }
            _ => Some(Sum::at(cursor.ty().pointee()?)),
        }
    }

    /// A conversion keeps the address, and gives a type to what had none.
    fn converted(&self, index: Index, depth: usize) -> Option<Sum<'u>> {
        let inner = self.tree.only(index)?;
        let is_array = |cursor: Cursor<'u>| cursor.ty().kind() == TypeKind::Array;
        let is_place =
            matches!(self.tree.kind(inner), Kind::Name | Kind::MemberAccess | Kind::Subscript | Kind::Paren);
        let sum = match is_place && self.cursor(inner).is_some_and(is_array) {
            true => decayed(self.address(inner, depth)?),
            false => self.value(inner, depth)?,
        };
        let is_untyped = |start: &Start<'u>| matches!(start.ty.kind(), TypeKind::Void);
        let pointee = self.cursor(index)?.ty().pointee();
        match (&sum.start, pointee) {
            // `(T *)malloc(…)`, a `void *` that is only now given its type.
            (Some(start), Some(ty)) if is_untyped(start) && sum.terms.is_empty() => {
                Some(Sum { start: Some(Start { ty, call: start.call }), terms: Vec::new() })
            }
            _ => Some(sum),
        }
    }

    fn last(&self, index: Index, depth: usize) -> Option<Sum<'u>> {
        let block = self.tree.children(index).last()?;
        self.value(self.tree.children(block).last()?, depth)
    }

    fn branches(&self, index: Index, depth: usize) -> Option<Sum<'u>> {
        let sums: Vec<_> =
            self.tree.values(index).skip(1).filter_map(|branch| self.value(branch, depth)).collect();
        let telling = sums
            .iter()
            .position(Sum::has_offsets)
            .or_else(|| sums.iter().position(|sum| sum.start.is_some()));
        sums.into_iter().nth(telling.unwrap_or(0))
    }

    fn binary(&self, index: Index, operator: Operator, depth: usize) -> Option<Sum<'u>> {
        let mut sides = self.tree.values(index);
        let (left, right) = (sides.next()?, sides.next()?);
        match operator {
            Operator::Comma | Operator::Assign => self.value(right, depth),
            Operator::Add | Operator::Subtract => {
                let other = || Sum::term(Term::Other);
                if let Some(sum) = self.element(left, right, depth) {
                    return Some(sum);
                }
                let value = |side: Index, by: Index| {
                    let sum = self.value(side, depth).unwrap_or_else(other);
                    self.scaled(sum, side, by)
                };
                Some(value(left, right).plus(value(right, left), operator == Operator::Add))
            }
            Operator::Multiply => Some(self.product(left, right, depth)),
            // Counts of members between two keep the two.
            Operator::Divide | Operator::ShiftLeft | Operator::ShiftRight => {
                self.value(left, depth).filter(Sum::has_offsets)
            }
            _ => None,
        }
    }

    /// Objects beside one another: an address counted from any of them.
    fn element(&self, pointer: Index, number: Index, depth: usize) -> Option<Sum<'u>> {
        let pointee = self.cursor(pointer)?.ty().pointee()?;
        let (array, count) = (self.cursor(self.peeled(pointer))?, self.cursor(number)?);
        let is_number = count.ty().kind() == TypeKind::Number;
        // What lies behind a single object is another one: `(struct tail *)(head + 1)`.
        if count.constant().is_some_and(|count| count != 0) && array.ty().kind() != TypeKind::Array {
            return None;
        }
        let sum = self.value(pointer, depth).filter(|sum| is_number && sum.terms.is_empty())?;
        let start = sum.start.as_ref()?;
        (pointee.kind() != TypeKind::Void && start.ty.equals(pointee)).then_some(sum)
    }

    /// Many times the size of one type is told as that size, and what isn't known.
    fn product(&self, left: Index, right: Index, depth: usize) -> Sum<'u> {
        let sides = [self.value(left, depth), self.value(right, depth)];
        let size =
            sides.iter().flatten().find(|sum| sum.terms.len() == 1 && sum.sizes(true).next().is_some());
        match size {
            Some(size) => Sum { start: None, terms: size.terms.clone() },
            None => Sum::term(Term::Other),
        }
    }

    /// A number that is added to a pointer counts what that points to.
    fn scaled(&self, sum: Sum<'u>, side: Index, by: Index) -> Sum<'u> {
        let pointee = self.cursor(by).and_then(|cursor| cursor.ty().pointee());
        let is_number = self.cursor(side).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Number);
        let (Some(pointee), true) = (pointee, is_number) else { return sum };
        let Some(size) = pointee.size().filter(|size| *size > 1) else { return sum };
        match sum.terms.as_slice() {
            [(sign, Term::Number(1))] => {
                let member = self.peeled(by);
                let member =
                    self.tree.values(member).next().and_then(|inner| self.cursor(inner)?.referenced());
                let member = member.filter(|member| member.kind() == Kind::Member);
                Sum { start: None, terms: vec![(*sign, Term::Size(pointee, member))] }
            }
            [(sign, Term::Number(number))] => {
                let bytes = i64::try_from(size).ok().and_then(|size| number.checked_mul(size));
                Sum { start: None, terms: vec![(*sign, bytes.map_or(Term::Other, Term::Number))] }
            }
            _ => Sum::term(Term::Other),
        }
    }

    fn unary(&self, index: Index, cursor: Cursor<'u>, depth: usize) -> Option<Sum<'u>> {
        let inner = self.tree.only(index)?;
        match cursor.unary_operator() {
            Operator::AddressOf => self.address(inner, depth),
            Operator::Minus => Some(Sum::default().plus(self.value(inner, depth)?, false)),
            Operator::Step | Operator::StepBack => self.value(inner, depth),
            _ => Some(Sum::at(cursor.ty().pointee()?)),
        }
    }

    /// The address of what an expression names.
    fn address(&self, index: Index, depth: usize) -> Option<Sum<'u>> {
        let depth = depth.checked_sub(1)?;
        let cursor = self.cursor(index)?;
        let inner = || self.tree.values(index).next();
        match self.tree.kind(index) {
            Kind::Paren | Kind::Unexposed => self.address(inner()?, depth),
            Kind::MemberAccess => self.member_address(index, cursor, depth),
            Kind::Subscript => {
                let mut sides = self.tree.values(index);
                let (array, number) = (sides.next()?, sides.next()?);
                if let Some(sum) = self.element(array, number, depth) {
                    return Some(sum);
                }
                let count = self.value(number, depth).unwrap_or_else(|| Sum::term(Term::Other));
                Some(self.value(array, depth)?.plus(self.scaled(count, number, array), true))
            }
            Kind::Unary if cursor.unary_operator() == Operator::Dereference => self.value(inner()?, depth),
            _ => Some(Sum::at(cursor.ty())),
        }
    }

    fn member_address(&self, index: Index, cursor: Cursor<'u>, depth: usize) -> Option<Sum<'u>> {
        let member = cursor.referenced().filter(|member| member.kind() == Kind::Member)?;
        let holder = named_holder(member)?.ty();
        let Some(inner) = self.tree.values(index).next() else {
            return Some(Sum {
                start: Sum::at(holder).start,
                terms: vec![(true, Term::Offset(vec![member]))],
            });
        };
        let is_pointer = self.cursor(inner).is_some_and(|inner| inner.ty().kind() == TypeKind::Pointer);
        let mut sum = if is_pointer { self.value(inner, depth)? } else { self.address(inner, depth)? };
        // Members of unnamed structs are reached through them, which are no members of their own.
        sum.terms.retain(|(_, term)| !matches!(term, Term::Offset(path) if path.last().is_some_and(|last| own_name(*last).is_none())));
        match sum.terms.last_mut() {
            Some((true, Term::Offset(path))) if !is_pointer => path.push(member),
            _ => {
                if is_pointer && (sum.start.is_some() || sum.has_other()) {
                    sum = Sum::at(holder);
                } else if sum.start.is_none() {
                    // `&((T *)0)->m`
                    sum.terms.clear();
                }
                sum.terms.push((true, Term::Offset(vec![member])));
            }
        }
        Some(sum)
    }

    fn offset_of(&self, index: Index) -> Sum<'u> {
        let names = self.tree.children(index).filter(|child| self.tree.kind(*child) == Kind::MemberName);
        let members = names.filter_map(|name| self.cursor(name)?.referenced());
        let members: Vec<_> = members.filter(|member| own_name(*member).is_some()).collect();
        Sum::term(Term::Offset(members))
    }

    fn size_of(&self, index: Index, cursor: Cursor<'u>) -> Term<'u> {
        let constant = cursor.constant();
        let number = constant.map_or(Term::Other, Term::Number);
        let Some(inner) = self.tree.children(index).next() else { return number };
        let peeled = self.peeled(inner);
        let Some(operand) = self.cursor(peeled) else { return number };
        let ty = operand.ty();
        if ty.size().and_then(|size| i64::try_from(size).ok()) != constant {
            return number;
        }
        let is_access = self.tree.kind(peeled) == Kind::MemberAccess;
        Term::Size(ty, operand.referenced().filter(|member| is_access && member.kind() == Kind::Member))
    }

    /// `sizeof(char[offsetof(T, m)])`: as many bytes as an offset in the type says.
    fn offset_in_type(&self, size: Index, depth: usize) -> Option<Sum<'u>> {
        let offset = self.tree.below(size).find(|below| self.is_offset_of(*below))?;
        let is_summed =
            |at: &Index| matches!(self.tree.kind(*at), Kind::Paren | Kind::Unexposed | Kind::Binary);
        let parents = std::iter::successors(self.tree.parent(offset), |parent| self.tree.parent(*parent));
        let whole = parents.take_while(is_summed).last().unwrap_or(offset);
        self.value(whole, depth).filter(Sum::has_offsets)
    }

    /// A variable: an array's address, or the value it was given if that tells more than its type.
    fn named(&self, cursor: Cursor<'u>, depth: usize) -> Option<Sum<'u>> {
        let ty = cursor.ty();
        if let Some(element) = ty.element() {
            return Some(Sum::at(element));
        }
        let own = ty.pointee();
        let is_vague = own.is_none_or(|pointee| pointee.kind() != TypeKind::Record);
        let given =
            cursor.referenced().map(|variable| self.flow.given(variable.identity())).unwrap_or_default();
        let mut values: Vec<Sum<'u>> = Vec::new();
        if is_vague {
            values = given
                .iter()
                .take(3)
                .filter_map(|value| self.value(*value, depth.checked_sub(HOP)?))
                .collect();
        }
        let telling = values.iter().position(Sum::has_offsets);
        let typed =
            |sum: &Sum<'u>| sum.start.as_ref().is_some_and(|start| start.ty.kind() == TypeKind::Record);
        let telling = telling.or_else(|| values.iter().position(typed));
        let has_sizes = |sum: &Sum<'u>| sum.sizes(true).next().is_some();
        let telling = telling.or_else(|| values.iter().position(has_sizes));
        match telling {
            Some(telling) => values.into_iter().nth(telling),
            None => own.map(Sum::at),
        }
    }
}

/// An array's address is its first element's.
fn decayed(mut sum: Sum<'_>) -> Sum<'_> {
    if let Some(start) = sum.start.as_mut().filter(|_| sum.terms.is_empty()) {
        start.ty = start.ty.element().unwrap_or(start.ty);
    }
    sum
}
