//! Numbers that are addresses of objects here, and of numbers elsewhere: `(struct regs *)base`, `*(uint32_t *)(base + 4)`.

use crate::clang::{Cursor, Identity, Kind, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

/// A number becomes the address of an object. Where the same variable leads to numbers too, they are the object's bytes.
pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, inner: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let Some(to) = node.ty().pointee().filter(|to| to.kind() == TypeKind::Record) else { return };
    if view.records.within(to).is_empty() || !is_number(view, inner) {
        return;
    }
    let width = node.ty().size();
    let bases: Vec<Identity> = variables(view, inner, width).collect();
    let leads_to_number = |other: Index| {
        let cast = view.cursor(other).filter(|_| view.tree.kind(other) == Kind::Cast);
        let is_address =
            cast.and_then(|cast| cast.ty().pointee()).is_some_and(|to| to.kind() == TypeKind::Number);
        let base = view.tree.only(other).filter(|base| is_address && is_number(view, *base));
        base.is_some_and(|base| variables(view, base, width).any(|variable| bases.contains(&variable)))
    };
    if !bases.is_empty() && (0..view.tree.len()).any(leads_to_number) {
        for subject in view.records.within(to) {
            let why = "lies where numbers are read or written by their addresses".to_owned();
            found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }
}

fn is_number(view: View<'_, '_, '_>, index: Index) -> bool {
    view.cursor(index).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Number)
}

/// Variables in an expression that have a width in bytes, that of an address.
fn variables<'v>(
    view: View<'v, '_, '_>,
    index: Index,
    width: Option<u64>,
) -> impl Iterator<Item = Identity> + 'v {
    let all = std::iter::once(index).chain(view.tree.below(index));
    let named =
        all.filter(move |node| view.tree.kind(*node) == Kind::Name).filter_map(move |node| view.cursor(node));
    let wide = named.filter(move |name| name.ty().kind() == TypeKind::Number && name.ty().size() == width);
    wide.filter_map(Cursor::referenced).map(Cursor::identity)
}
