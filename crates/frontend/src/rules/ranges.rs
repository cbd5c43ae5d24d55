//! Offsets of members and differences of their addresses, and what comes of them.

use super::pairs;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::{Demand, Edge};
use crate::records::{Part, named_holder};
use crate::report::{Findings, Found, before, behind};
use crate::sum::plain::constant;
use crate::sum::{Sum, Term, View};
use crate::tree::Index;

/// The role of an expression in what holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// A constant that the program relies on.
    Constant,
    /// A length that the program computes or compares with.
    Compared,
    /// An operand of assembler code.
    Assembler,
    /// An argument of a function.
    Argument,
    /// All else.
    Plain,
}

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    if !is_arithmetic(view, index) || is_part(view, index) {
        return;
    }
    let (sum, Some(node)) = (view.sum(index), view.cursor(index)) else { return };
    if !sum.has_offsets() {
        return open_end(view, node, &sum, found);
    }
    let node = written_at(view, index).unwrap_or(node);
    let found_there = Judged { view, node, sum: &sum, context: context(view, index) };
    found_there.judge(found);
}

/// More bytes than a struct has, whose last member is an array: they may go on behind it.
fn open_end<'u>(view: View<'_, '_, 'u>, node: Cursor<'u>, sum: &Sum<'u>, found: &mut Findings<'u>) {
    let is_more = sum.start.is_none()
        && sum.terms.iter().any(|(added, term)| *added && matches!(term, Term::Other | Term::Number(1..)));
    for (ty, _) in sum.sizes(true).filter(|_| is_more) {
        let Some(subject) = view.records.subject(ty) else { continue };
        let members = view.records.members(ty);
        let Some(last) = members.last().filter(|last| last.ty.kind() == TypeKind::Array) else { continue };
        let why = format!("lengths go on behind {}", last.name);
        found.push(Found { subject, node, demand: Demand::Last { member: last.name.clone() }, why });
    }
}

/// `is_short ? offsetof(struct short, a) : offsetof(struct long, b)`: a length of objects of both.
pub(super) fn chosen<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let holder = |branch: Index| {
        let sum = view.sum(branch);
        let member = sum.offsets(true).next().and_then(|path| path.first().copied());
        let size = sum.sizes(true).map(|(ty, _)| ty).find(|ty| ty.kind() == TypeKind::Record);
        member.and_then(named_holder).map(Cursor::ty).or(size)
    };
    let holders: Vec<Type<'u>> = view.tree.values(index).skip(1).filter_map(holder).collect();
    if let [first, second] = holders.as_slice()
        && node.ty().kind() == TypeKind::Number
        && !first.equals(*second)
    {
        pairs::sizes(view, node, (*first, *second), found);
    }
}

/// Addresses of members that tell whether another one lies before or behind.
pub(super) fn compared<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index).filter(|node| node.binary_operator() == Operator::Order) else {
        return;
    };
    for side in view.tree.values(index) {
        if view.cursor(side).is_none_or(|side| side.ty().kind() != TypeKind::Pointer) {
            continue;
        }
        let sum = view.sum(side);
        let (Some(_), [(true, Term::Offset(path)), ..]) = (&sum.start, sum.terms.as_slice()) else {
            continue;
        };
        let Some(part) = path.first().and_then(|member| view.records.part(*member)) else { continue };
        // An array's own bounds are compared with what points into it.
        if path.iter().any(|member| member.ty().kind() == TypeKind::Array) {
            continue;
        }
        let why = format!("addresses are compared with that of {}", part.member);
        let demand = Demand::Range { from: Edge::Begin, to: before(&part) };
        found.push(Found { subject: part.subject, node, demand, why });
    }
}

/// A size that must be a number.
pub(super) fn size<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let sum = view.sum(index);
    let Some((ty, None)) = sum.sizes(true).next() else { return };
    if let Some(subject) = view.records.subject(ty)
        && context(view, index) == Use::Constant
    {
        let why = "its size is asserted".to_owned();
        found.push(Found { subject, node, demand: Demand::Room, why });
    }
}

/// `count * sizeof(struct s) + sizeof(void *)`: memory for so many objects and the first bytes of one more, as a table
/// has that ends where the first member is null.
pub(super) fn begun<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let is_sum = view.cursor(index).is_some_and(|node| node.binary_operator() == Operator::Add);
    let sides: Vec<Index> = view.tree.values(index).filter(|_| is_sum).collect();
    let [left, right] = sides.as_slice() else { return };
    for (product, rest) in [(*left, *right), (*right, *left)] {
        let Some(ty) = counted(view, product) else { continue };
        let (Some(node), Some(subject)) = (view.cursor(index), view.records.subject(ty)) else { continue };
        let bytes = view.cursor(rest).and_then(Cursor::constant).and_then(|bytes| u64::try_from(bytes).ok());
        let Some(bytes) = bytes.filter(|bytes| ty.size().is_some_and(|size| *bytes < size)) else { continue };
        let is_begun = |member: &Cursor<'u>| member.bit_offset().is_some_and(|offset| offset / 8 < bytes);
        let count = ty.members().into_iter().filter(is_begun).count();
        if count > 0 {
            let why = format!("memory is for the first {bytes} bytes of one more");
            found.push(Found { subject, node, demand: Demand::First { count }, why });
        }
    }
}

/// The type whose size an expression multiplies by something unknown.
fn counted<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Type<'u>> {
    let index = view.peeled(index);
    let node = view.cursor(index)?;
    if node.binary_operator() != Operator::Multiply || node.constant().is_some() {
        return None;
    }
    view.tree.values(index).find_map(|side| view.sum(side).sizes(true).next()).map(|(ty, _)| ty)
}

/// Whether an expression can be a sum of offsets: only those are asked.
fn is_arithmetic(view: View<'_, '_, '_>, index: Index) -> bool {
    let Some(cursor) = view.cursor(index) else { return false };
    match view.tree.kind(index) {
        Kind::Unexposed if view.is_offset_of(index) => true,
        Kind::Binary => matches!(cursor.binary_operator(), Operator::Add | Operator::Subtract),
        // `(size_t)&((T *)0)->m`
        Kind::Cast => {
            let inner = view.tree.only(index);
            let is_pointer =
                |inner| view.cursor(inner).is_some_and(|inner| inner.ty().kind() == TypeKind::Pointer);
            cursor.ty().kind() == TypeKind::Number && inner.is_some_and(is_pointer)
        }
        _ => false,
    }
}

/// Whether an expression is a term of a larger one that is asked itself.
fn is_part(view: View<'_, '_, '_>, index: Index) -> bool {
    let mut at = index;
    while let Some(parent) = view.tree.parent(at) {
        match view.tree.kind(parent) {
            Kind::Paren | Kind::Unexposed | Kind::Cast if !view.is_offset_of(parent) => {
                if view.tree.kind(parent) == Kind::Cast && is_arithmetic(view, parent) {
                    return true;
                }
                at = parent;
            }
            Kind::Binary => {
                let operator = view.cursor(parent).map(Cursor::binary_operator);
                return matches!(operator, Some(Operator::Add | Operator::Subtract));
            }
            _ => return false,
        }
    }
    false
}

/// The name of a member inside, which tells the macro it was written in.
fn written_at<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Cursor<'u>> {
    let mut below = view.tree.below(index);
    let name = below.find(|below| matches!(view.tree.kind(*below), Kind::MemberName | Kind::MemberAccess))?;
    let cursor = view.cursor(name)?;
    Some(cursor)
}

/// The role of an expression in what holds it.
fn context(view: View<'_, '_, '_>, index: Index) -> Use {
    let (mut at, mut is_compared) = (index, false);
    while let Some(parent) = view.tree.parent(at) {
        let other = || view.tree.values(parent).find(|side| *side != at).and_then(|side| view.cursor(side));
        match view.tree.kind(parent) {
            Kind::StaticAssert | Kind::Enumerator | Kind::Member => return Use::Constant,
            // Beside other operands, the offset leads to the member in one of them.
            Kind::Asm if view.tree.values(parent).all(|value| constant(view, value).is_some()) => {
                return Use::Assembler;
            }
            Kind::Asm => return Use::Plain,
            Kind::Return => return Use::Compared,
            // `case offsetof(…) ... offsetof(…):`
            Kind::Case => return if is_range(view, parent) { Use::Compared } else { Use::Plain },
            Kind::Call => return if is_compared { Use::Compared } else { Use::Argument },
            Kind::Variable => return declared(view, parent, is_compared),
            Kind::Binary => match view.cursor(parent).map(Cursor::binary_operator) {
                Some(Operator::Remainder | Operator::Bits) => is_compared = true,
                Some(Operator::Compare | Operator::Order) => {
                    if other().is_some_and(|other| other.constant().is_some()) {
                        return Use::Constant;
                    }
                    is_compared = true;
                }
                Some(Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide) => {}
                Some(Operator::Logic) if is_compared => {}
                _ => break,
            },
            Kind::Paren | Kind::Unexposed | Kind::Cast | Kind::Unary | Kind::Conditional | Kind::SizeOf => {}
            _ => break,
        }
        at = parent;
    }
    if is_compared { Use::Compared } else { Use::Plain }
}

/// Whether a case stands for many values.
fn is_range(view: View<'_, '_, '_>, case: Index) -> bool {
    view.tree.values(case).take(2).filter(|value| view.sum(*value).has_offsets()).count() > 1
}

/// A variable: what stands below it is its value, or how many elements it has.
fn declared(view: View<'_, '_, '_>, variable: Index, is_compared: bool) -> Use {
    let ty = view.cursor(variable).map(Cursor::ty);
    // What other units make of it is not known.
    let is_shared = view.cursor(variable).is_some_and(Cursor::is_shared);
    // Of an object of a class it is an argument of a template.
    let is_constant = ty.is_some_and(|ty| matches!(ty.kind(), TypeKind::Array | TypeKind::Record));
    match (is_constant, is_compared) {
        (true, _) => Use::Constant,
        (_, true) => Use::Compared,
        _ if is_shared => Use::Compared,
        _ => Use::Plain,
    }
}

/// A sum with what comes of it.
struct Judged<'j, 'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    node: Cursor<'u>,
    sum: &'j Sum<'u>,
    context: Use,
}

impl<'u> Judged<'_, '_, '_, 'u> {
    fn tell(&self, subject: usize, demand: Demand, why: String, found: &mut Findings<'u>) {
        found.push(Found { subject, node: self.node, demand, why });
    }

    fn judge(&self, found: &mut Findings<'u>) {
        let parts = |added: bool| {
            let paths = self.sum.offsets(added).flatten();
            paths.filter_map(|member| self.view.records.part(*member).map(|part| (part, *member))).collect()
        };
        let (added, taken): (Vec<(Part, Cursor<'u>)>, Vec<(Part, Cursor<'u>)>) = (parts(true), parts(false));
        for (part, member) in &taken {
            match added.iter().find(|(other, _)| other.subject == part.subject) {
                Some((end, last)) => self.between((part, *member), (end, *last), found),
                None => self.up_to_end(part, *member, found),
            }
        }
        for (part, member) in &added {
            if !taken.iter().any(|(other, _)| other.subject == part.subject) {
                self.alone(part, *member, found);
            }
        }
    }

    /// The place right behind a member, if its size is in the sum with the same sign.
    fn edge(&self, part: &Part, member: Cursor<'u>, added: bool) -> Edge {
        let mut sizes = self.sum.sizes(added);
        let is_own = |(ty, operand): (Type<'u>, Option<Cursor<'u>>)| {
            operand.map_or_else(|| ty.equals(member.ty()), |operand| operand.identity() == member.identity())
        };
        if sizes.any(is_own) { behind(part) } else { before(part) }
    }

    fn between(
        &self,
        (first, first_member): (&Part, Cursor<'u>),
        (last, last_member): (&Part, Cursor<'u>),
        found: &mut Findings<'u>,
    ) {
        let (from, to) = (self.edge(first, first_member, false), self.edge(last, last_member, true));
        if first.member == last.member {
            return;
        }
        let why = format!("the bytes from {} to {} are counted", first.member, last.member);
        let demand = Demand::Range { from, to };
        self.tell(first.subject, demand, why, found);
        if self.context == Use::Constant {
            self.offset(first, found);
            self.offset(last, found);
        }
    }

    /// The offset is subtracted: from an address (as container_of does), or from a size.
    fn up_to_end(&self, part: &Part, member: Cursor<'u>, found: &mut Findings<'u>) {
        let is_size = |ty: Type<'u>| self.view.records.subject(ty) == Some(part.subject);
        let from = self.edge(part, member, false);
        if self.sum.sizes(true).any(|(ty, _)| is_size(ty)) {
            let why = format!("the bytes from {} to the end are counted", part.member);
            self.tell(part.subject, Demand::Range { from, to: Edge::End }, why, found);
        } else if self.sum.start.is_none() && self.sum.has_other() && self.context != Use::Plain {
            let why = format!("a length is counted from {} on", part.member);
            self.tell(part.subject, Demand::Range { from: Edge::Begin, to: from }, why, found);
        }
    }

    /// The offset stands alone, or something is added to it.
    fn alone(&self, part: &Part, member: Cursor<'u>, found: &mut Findings<'u>) {
        // The address of a member is right wherever that stands.
        if self.sum.start.is_some() {
            return;
        }
        let to = self.edge(part, member, true);
        match self.context {
            Use::Constant => self.offset(part, found),
            Use::Assembler => {
                let demand = Demand::Assembler { member: part.member.clone() };
                self.tell(part.subject, demand, "assembler code is given its offset".to_owned(), found);
            }
            Use::Compared => {
                let why = format!("lengths come of the offset of {}", part.member);
                self.tell(part.subject, Demand::Range { from: Edge::Begin, to }, why, found);
            }
            Use::Argument | Use::Plain if self.is_length() => self.tail(part, member, to, found),
            _ => {}
        }
    }

    /// Whether something unknown is added to the offset, as in the length of an allocation.
    fn is_length(&self) -> bool {
        let is_more =
            |(added, term): &(bool, Term<'u>)| *added && !matches!(term, Term::Offset(_) | Term::Number(0));
        self.sum.terms.iter().any(is_more) && self.sum.offsets(true).count() == 1
    }

    /// An allocation ends behind a member: it is the last one, or those behind it aren't there.
    fn tail(&self, part: &Part, member: Cursor<'u>, to: Edge, found: &mut Findings<'u>) {
        let is_last = member.holder().is_some_and(|holder| {
            let members = self.view.records.members(holder.ty());
            members.last().is_some_and(|last| last.name == part.member)
        });
        let is_open = is_last || member.ty().kind() == TypeKind::Array;
        if is_last {
            let why = format!("lengths go on behind the offset of {}", part.member);
            self.tell(part.subject, Demand::Last { member: part.member.clone() }, why, found);
        } else if !is_open || self.context == Use::Argument {
            let why = format!("lengths are counted up to {}", part.member);
            self.tell(part.subject, Demand::Range { from: Edge::Begin, to }, why, found);
        }
    }

    fn offset(&self, part: &Part, found: &mut Findings<'u>) {
        let why = format!("the offset of {} is a constant that is relied on", part.member);
        self.tell(part.subject, Demand::Offset { member: part.member.clone() }, why, found);
    }
}
