//! Objects read as other types.

use super::pairs::{self, Evidence};
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::demand::{Demand, Edge};
use crate::report::{Findings, Found, before};
use crate::sum::{Sum, Term, View};
use crate::tree::Index;

/// Functions whose results are files or devices.
const MAPPINGS: [&str; 5] = ["mmap", "mmap64", "shmat", "ioremap", "memremap"];

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let Some(to) = node.ty().pointee() else { return };
    let Some(inner) = view.tree.only(index) else { return };
    let Some(own) = view.cursor(inner).and_then(|inner| inner.ty().pointee()) else { return };
    if view.is_never_run(index) {
        return;
    }
    if to.kind() == TypeKind::Void && is_sent(view, index) {
        return sent(view, node, inner, found);
    }
    // References bind to what derives from their type; decay and qualifiers change nothing.
    if matches!(to.kind(), TypeKind::Void | TypeKind::Byte | TypeKind::Other) || own.equals(to) {
        return;
    }
    if to.kind() == TypeKind::Function {
        return functions(view, node, (own, to), found);
    }
    let cast = Cast { view, node, to };
    let peeled = view.peeled(inner);
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
    let pointee = |ty: Type<'u>, number: u32| {
        ty.parameter(number)?.pointee().filter(|pointee| pointee.kind() == TypeKind::Record)
    };
    for number in 0..8 {
        if let (Some(from), Some(to)) = (pointee(from, number), pointee(to, number)) {
            pairs::records(view, node, (from, to), Evidence::Likely, found);
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
    fn judge(&self, sum: &Sum<'u>, evidence: Evidence, origin: Kind, found: &mut Findings<'u>) {
        let Some(start) = &sum.start else { return };
        let from = start.ty;
        match sum.terms.as_slice() {
            [] => {
                if start.call.as_deref().is_some_and(|call| MAPPINGS.contains(&call)) {
                    self.whole("lies in mapped memory", found);
                } else {
                    self.plain(from, evidence, (origin, start.call.is_some()), found);
                }
            }
            [(true, Term::Offset(path))] => self.member(from, path, found),
            terms
                if from.kind() == TypeKind::Byte
                    && !terms.iter().any(|(_, term)| matches!(term, Term::Offset(_))) =>
            {
                self.plain(from, evidence, (origin, start.call.is_some()), found);
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
        let (view, node, to) = (self.view, self.node, self.to);
        match (from.kind(), to.kind()) {
            (TypeKind::Record, TypeKind::Record) => pairs::records(view, node, (from, to), evidence, found),
            (TypeKind::Record, TypeKind::Number | TypeKind::Pointer) => {
                pairs::scalar(view, node, (from, to), found);
            }
            (TypeKind::Byte, TypeKind::Record)
                if !is_call && is_place(origin) && evidence != Evidence::Possible =>
            {
                self.whole("is read out of a buffer of bytes", found);
            }
            (TypeKind::Number | TypeKind::Pointer, TypeKind::Record)
                if !is_call && evidence == Evidence::Certain =>
            {
                pairs::scalar(view, node, (to, from), found);
            }
            _ => {}
        }
    }

    fn whole(&self, why: &str, found: &mut Findings<'u>) {
        for subject in self.view.records.within(self.to) {
            found.push(Found { subject, node: self.node, demand: Demand::Whole, why: why.to_owned() });
        }
    }

    /// The address of a member becomes one of something else.
    fn member(&self, from: Type<'u>, path: &[Cursor<'u>], found: &mut Findings<'u>) {
        let Some(member) = path.last() else { return };
        let (ty, to) = (member.ty(), self.to);
        if ty.equals(to) || ty.element().is_some() && !is_longer(to, ty) {
            return;
        }
        if ty.kind() == TypeKind::Record && to.kind() == TypeKind::Record {
            pairs::records(self.view, self.node, (ty, to), Evidence::Certain, found);
            // Of a list's head taken for an element, no more than that is read.
            if self.view.records.shared(ty, to) > 0 {
                return;
            }
        }
        self.overlaid(from, *member, found);
        let Some(part) = path.first().and_then(|first| self.view.records.part(*first)) else { return };
        let is_first = path.len() == 1 && member.bit_offset() == Some(0);
        let node = self.node;
        if is_first && (from.equals(to) || self.view.records.subject(to) == Some(part.subject)) {
            let why = format!("is reached by a cast from its first member {}", part.member);
            found.push(Found { subject: part.subject, node, demand: Demand::First { count: 1 }, why });
        } else if is_longer(to, ty) {
            let why = format!("{} and what follows it are read as one {}", part.member, to.spelling());
            let to = self
                .view
                .records
                .reached(from, &part.member, to.size().unwrap_or(0))
                .map_or(Edge::End, Edge::Behind);
            found.push(Found {
                subject: part.subject,
                node,
                demand: Demand::Range { from: before(&part), to },
                why,
            });
        }
    }
}

impl<'u> Cast<'_, '_, 'u> {
    /// An object that begins at a member of another: both have the bytes up to the other's end.
    fn overlaid(&self, from: Type<'u>, member: Cursor<'u>, found: &mut Findings<'u>) {
        let Some(subject) = self.view.records.subject(self.to) else { return };
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
    matches!(kind, Kind::Name | Kind::MemberAccess | Kind::Subscript | Kind::Unary | Kind::Binary)
}
