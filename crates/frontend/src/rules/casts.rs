//! Bytes and members of other types taken for objects.

mod arenas;
mod headers;
mod numbers;
mod variadic;

pub(super) use variadic::find as variadic;

use super::pairs::{self, Evidence};
use crate::addresses::maps;
use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::nearby::is_element_used;
use crate::sum::plain::is_null;
use crate::sum::{Sum, Term, View};
use crate::tree::Index;

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let Some(to) = node.ty().pointee() else { return };
    let Some(inner) = view.tree.only(index) else { return };
    if view.is_never_run(index) {
        return;
    }
    let own = view.cursor(inner).and_then(|inner| inner.ty().pointee());
    // The address of a function that isn't said to be one, or of another.
    if to.kind() == TypeKind::Function
        && own.is_none_or(|own| own.kind() != TypeKind::Function)
        && view.cursor(inner).is_some_and(|inner| inner.ty().kind() != TypeKind::Function)
        && !is_null(view, inner)
    {
        return handed_by_value(view, node, to, found);
    }
    let Some(own) = own else { return numbers::find(view, index, inner, found) };
    if to.kind() == TypeKind::Void && is_sent(view, index) {
        return sent(view, node, inner, found);
    }
    let cast = Cast { view, node, to };
    if to.kind() == TypeKind::Other {
        cast.alignment(inner, own, found);
    }
    if own.kind() == TypeKind::Function && to.kind() == TypeKind::Void {
        return handed_by_value(view, node, own, found);
    }
    // References bind to what derives from their type; decay and qualifiers change nothing.
    if matches!(to.kind(), TypeKind::Void | TypeKind::Byte | TypeKind::Other) || own.equals(to) {
        return;
    }
    if to.kind() == TypeKind::Function {
        return functions(view, node, (own, to), found);
    }
    cast.room(inner, found);
    cast.alignment(inner, own, found);
    if to.kind() == TypeKind::Record && is_shared_array(view, inner, to) {
        return cast.whole("is laid over an array of bytes", found);
    }
    let peeled = view.peeled(inner);
    let is_of_bytes = matches!(own.kind(), TypeKind::Byte | TypeKind::Void);
    if to.kind() == TypeKind::Record && is_of_bytes && arenas::is_arena(view, inner, to) {
        return;
    }
    if matches!(own.kind(), TypeKind::Number | TypeKind::Pointer)
        && view.tree.kind(peeled) == Kind::MemberAccess
    {
        cast.read_at_once(index, own, found);
    }
    if to.kind() == TypeKind::Record && headers::is_in_front(view, index, inner, to) {
        return;
    }
    let given = view.origins(peeled);
    if given.is_empty() {
        cast.judge(&view.sum(inner), Evidence::Certain, view.tree.kind(peeled), found);
    }
    let evidence = match view.tree.kind(peeled) {
        Kind::Name => Evidence::Likely,
        _ => Evidence::Possible,
    };
    for value in given {
        cast.judge(&view.sum(value), evidence, view.tree.kind(view.peeled(value)), found);
    }
}

/// Whether bytes that an object is laid over are a text, too few, or read and written by their numbers too.
fn is_shared_array<'u>(view: View<'_, '_, 'u>, index: Index, to: Type<'u>) -> bool {
    let mut at = view.peeled(index);
    if view.cursor(at).map(Cursor::unary_operator) == Some(Operator::AddressOf) {
        at = view.tree.only(at).map_or(at, |inner| view.peeled(inner));
        // `&array[n]`
        if view.tree.kind(at) == Kind::Subscript {
            if view.cursor(at).is_some_and(|element| element.ty().kind() == TypeKind::Number) {
                return true;
            }
            at = view.tree.values(at).next().map_or(at, |array| view.peeled(array));
        }
    }
    let Some(cursor) = view.cursor(at) else { return false };
    if view.tree.kind(at) == Kind::Text {
        return true;
    }
    let Some(element) = cursor.ty().element() else { return false };
    let has_room = matches!((cursor.ty().size(), to.size()), (Some(room), Some(size)) if room >= size);
    if !matches!(element.kind(), TypeKind::Byte | TypeKind::Number) {
        return false;
    }
    let declared =
        cursor.referenced().filter(|_| matches!(view.tree.kind(at), Kind::Name | Kind::MemberAccess));
    !has_room || declared.is_some_and(|declared| is_numbered(view, declared.identity()))
}

/// Whether elements of an array are read or written.
fn is_numbered(view: View<'_, '_, '_>, array: Identity) -> bool {
    let is_own = |index: Index| {
        matches!(view.tree.kind(index), Kind::Name | Kind::MemberAccess)
            && view.cursor(index).and_then(Cursor::referenced).is_some_and(|own| own.identity() == array)
    };
    (0..view.tree.len()).filter(|index| is_own(*index)).any(|index| is_element_used(view, index))
}

/// Whether a pointer becomes the address of bytes to send or to receive (`struct iovec`).
fn is_sent(view: View<'_, '_, '_>, index: Index) -> bool {
    let names_bytes = |node: Index| {
        matches!(view.tree.kind(node), Kind::MemberAccess | Kind::MemberName)
            && view.cursor(node).is_some_and(|node| node.name() == "iov_base")
    };
    let Some(parent) = view.tree.parent(index) else { return false };
    match view.tree.kind(parent) {
        Kind::Binary | Kind::Unexposed => view.tree.children(parent).any(names_bytes),
        Kind::List => view.cursor(parent).is_some_and(|list| list.ty().spelling().ends_with("iovec")),
        _ => false,
    }
}

fn sent<'u>(view: View<'_, '_, 'u>, node: Cursor<'u>, inner: Index, found: &mut Findings<'u>) {
    let sum = view.sum(inner);
    let Some(start) = sum.start.filter(|_| sum.terms.is_empty()) else { return };
    for subject in view.records.within(start.ty) {
        let why = "its bytes are sent or received".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}

/// Functions called as if their parameters had other types.
fn functions<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    (from, to): (Type<'u>, Type<'u>),
    found: &mut Findings<'u>,
) {
    let counts = [from, to].map(|ty| u32::try_from(ty.parameter_count()).unwrap_or(0));
    let [common, all] = [counts[0].min(counts[1]), counts[0].max(counts[1])];
    let parameters = (0..common).map(|number| from.parameter(number).zip(to.parameter(number)));
    // `(int (*)(struct s))f`, where `f` says nothing of what it takes.
    let more = (common..all).filter_map(|number| from.parameter(number).or(to.parameter(number)));
    for subject in more.flat_map(|ty| view.records.within(ty)) {
        let why = "is handed by value to a function that is known as one of another type".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
    for (from, to) in parameters.chain([from.result().zip(to.result())]).flatten() {
        if let (Some(from), Some(to)) = (from.pointee(), to.pointee()) {
            pairs::records(view, node, (from, to), Evidence::Likely, found);
        } else if !from.equals(to) {
            for subject in [from, to].iter().flat_map(|ty| view.records.within(*ty)) {
                let why = "is handed to a function, or by one, that takes it for another type".to_owned();
                found.push(Found { subject, node, demand: Demand::Whole, why });
            }
        }
    }
}

/// A function's address stops saying what the function takes: objects by value are in registers by what their bytes are.
fn handed_by_value<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    function: Type<'u>,
    found: &mut Findings<'u>,
) {
    let count = u32::try_from(function.parameter_count()).unwrap_or(0);
    let parameters = (0..count).filter_map(|number| function.parameter(number));
    for ty in parameters.chain(function.result()) {
        for subject in view.records.within(ty) {
            let why =
                "is handed by value to a function, or by one, that may be called as one of another type";
            found.push(Found { subject, node, demand: Demand::Whole, why: why.to_owned() });
        }
    }
}

/// A cast or a conversion of pointers.
struct Cast<'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    node: Cursor<'u>,
    to: Type<'u>,
}

impl<'u> Cast<'_, '_, 'u> {
    /// An object in an array of bytes, or in memory of a number of bytes: it must not grow.
    fn room(&self, inner: Index, found: &mut Findings<'u>) {
        let view = self.view;
        let at = view.peeled(inner);
        let Some(cursor) = view.cursor(at) else { return };
        let is_array = cursor.ty().element().is_some_and(|element| {
            matches!(element.kind(), TypeKind::Byte | TypeKind::Number | TypeKind::Pointer)
        });
        let own_size = self.to.size().and_then(|size| i64::try_from(size).ok());
        let is_allocation = cursor.name().contains("alloc");
        let is_asked = |bytes: i64| bytes > 1 && (is_allocation || Some(bytes) == own_size);
        let is_number = view.tree.kind(at) == Kind::Call
            && view.tree.values(at).skip(1).any(|argument| {
                view.cursor(argument).and_then(Cursor::constant).is_some_and(is_asked)
                    && !view.sum(argument).sizes(true).any(|_| true)
                    && !view.tree.below(argument).any(|below| view.tree.kind(below) == Kind::SizeOf)
                    && view.tree.kind(argument) != Kind::SizeOf
            })
            && !view.tree.below(at).any(|below| view.tree.kind(below) == Kind::SizeOf);
        if self.to.kind() != TypeKind::Record || !(is_array || is_number) {
            return;
        }
        for subject in view.records.within(self.to) {
            let why = "lies in memory whose size is a number".to_owned();
            found.push(Found { subject, node: self.node, demand: Demand::Room, why });
        }
    }

    /// `((struct head *)list->last)->last`: a pointer that is kept as one to a pointer leads to two of them, which need not
    /// be an object's own. The members that are read there have other members' places.
    fn read_at_once(&self, index: Index, own: Type<'u>, found: &mut Findings<'u>) {
        let view = self.view;
        let mut parents = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
        let user = parents.find(|parent| !matches!(view.tree.kind(*parent), Kind::Unexposed | Kind::Paren));
        let user = user.filter(|user| view.tree.kind(*user) == Kind::MemberAccess);
        let Some(member) = user.and_then(|user| view.cursor(user)?.referenced()) else { return };
        let Some(part) = view.records.part(member) else { return };
        let why = format!("{} is read where a {} is kept", part.member, own.spelling());
        let demand = Demand::Offset { member: part.member };
        found.push(Found { subject: part.subject, node: self.node, demand, why });
    }

    /// A member's address becomes one that must be a multiple of more than its type needs.
    fn alignment(&self, inner: Index, own: Type<'u>, found: &mut Findings<'u>) {
        let is_more = matches!((self.to.alignment(), own.alignment()), (Some(to), Some(own)) if to > own);
        if !is_more || own.kind() == TypeKind::Void {
            return;
        }
        let sum = self.view.sum(inner);
        let Some((true, Term::Offset(path))) = sum.terms.last() else { return };
        let Some(part) = path.first().and_then(|first| self.view.records.part(*first)) else { return };
        let why = format!("{} is taken for one that lies at a multiple of more bytes", part.member);
        let demand = Demand::Offset { member: part.member };
        found.push(Found { subject: part.subject, node: self.node, demand, why });
    }

    fn judge(&self, sum: &Sum<'u>, evidence: Evidence, origin: Kind, found: &mut Findings<'u>) {
        let Some(start) = &sum.start else { return };
        match sum.terms.as_slice() {
            [] if start.call.is_some_and(|call| maps(self.view, call)) => {
                self.whole("lies in mapped memory", found);
            }
            [] => self.plain(start.ty, evidence, (origin, start.call.is_some()), found),
            [(true, Term::Offset(path))] => {
                if let Some(member) = path.last().filter(|member| !member.ty().equals(self.to)) {
                    self.overlaid(start.ty, *member, found);
                }
            }
            terms
                if start.ty.kind() == TypeKind::Byte
                    && !terms.iter().any(|(_, term)| matches!(term, Term::Offset(_))) =>
            {
                self.plain(start.ty, evidence, (origin, start.call.is_some()), found);
            }
            _ => {}
        }
    }

    fn plain(
        &self,
        from: Type<'u>,
        evidence: Evidence,
        (origin, is_call): (Kind, bool),
        found: &mut Findings<'u>,
    ) {
        match (from.kind(), self.to.kind()) {
            (TypeKind::Byte, TypeKind::Record)
                if !is_call && is_place(origin) && evidence != Evidence::Possible =>
            {
                self.whole("is read out of a buffer of bytes", found);
            }
            (TypeKind::Number | TypeKind::Pointer, TypeKind::Record)
                if !is_call && evidence == Evidence::Certain =>
            {
                pairs::scalar(self.view, self.node, (self.to, from), found);
            }
            _ => {}
        }
    }

    fn whole(&self, why: &str, found: &mut Findings<'u>) {
        for subject in self.view.records.within(self.to) {
            found.push(Found { subject, node: self.node, demand: Demand::Whole, why: why.to_owned() });
        }
    }
}

impl<'u> Cast<'_, '_, 'u> {
    /// An object that begins at a member of another: both have the bytes up to the other's end.
    fn overlaid(&self, from: Type<'u>, member: Cursor<'u>, found: &mut Findings<'u>) {
        let ty = member.ty();
        if ty.element().is_some() && !is_longer(self.to, ty) {
            return;
        }
        let Some(subject) = self.view.records.subject(self.to).filter(|_| !from.equals(self.to)) else {
            return;
        };
        let offset = member.bit_offset().map(|bits| bits / 8);
        let bytes = from.size().zip(offset).map_or(1, |(size, offset)| size.saturating_sub(offset));
        let count = self.view.records.covering(self.to, bytes.max(1)).max(1);
        let why = format!("begins at {} of {}", member.name(), from.spelling());
        found.push(Found { subject, node: self.node, demand: Demand::First { count }, why });
    }
}

/// Whether a place of one type is longer than one of another.
fn is_longer(to: Type<'_>, ty: Type<'_>) -> bool {
    matches!((to.size(), ty.size()), (Some(to), Some(own)) if to > own && own > 0)
}

/// Whether a value is a variable, a member or a part of them: no result of a call.
fn is_place(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Name | Kind::MemberAccess | Kind::Subscript | Kind::Unary | Kind::Binary | Kind::Text
    )
}
