//! Bytes behind the last member of an object that is a part of another one: C++ may put the other's members there, and what
//! writes the part as a whole writes them, too.

use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

/// A type whose last bytes other members may lie in, and the class that has these.
struct Shared<'u> {
    part: Type<'u>,
    holder: Cursor<'u>,
}

pub(super) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let shared: Vec<Shared<'u>> = (0..view.tree.len()).filter_map(|index| shared(view, index)).collect();
    let is_asked = |own: &Shared<'u>| {
        view.records.subject(own.part).is_some() || view.records.declared(own.holder).is_some()
    };
    if !shared.iter().any(is_asked) {
        return;
    }
    for call in (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Call) {
        let Some(node) = view.cursor(call) else { continue };
        for own in shared.iter().filter(|own| is_asked(own) && is_written(view, call, own.part)) {
            judge(view, node, own, found);
        }
    }
}

/// `struct holder : part`, `[[no_unique_address]] part member;`
fn shared<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Shared<'u>> {
    let node = view.cursor(index)?;
    let tree = view.tree;
    let is_shared = match tree.kind(index) {
        Kind::Base => true,
        Kind::Member => tree.children(index).any(|child| {
            tree.kind(child) == Kind::Attribute
                && view
                    .cursor(child)
                    .is_some_and(|own| own.words().iter().any(|word| word == "no_unique_address"))
        }),
        _ => false,
    };
    if !is_shared {
        return None;
    }
    let holder = view.cursor(tree.parent(index)?)?;
    let part = node.ty();
    // Plain structs of C keep their last bytes.
    let is_of_c = || part.is_plain_data() && part.members().into_iter().all(Cursor::is_public);
    (part.kind() == TypeKind::Record && !is_of_c()).then_some(Shared { part, holder })
}

/// Whether a call is given an object's address and as many bytes as its type has.
fn is_written<'u>(view: View<'_, '_, 'u>, call: Index, ty: Type<'u>) -> bool {
    let arguments: Vec<Index> = view.tree.values(call).collect();
    let is_object = |at: &Index| {
        let pointee = view.cursor(view.peeled(*at)).and_then(|own| own.ty().pointee());
        pointee.is_some_and(|pointee| pointee.equals(ty))
    };
    let has_size = |at: &Index| view.sum(*at).sizes(true).any(|(own, _)| own.equals(ty));
    arguments.iter().any(is_object) && arguments.iter().any(has_size)
}

fn judge<'u>(view: View<'_, '_, 'u>, node: Cursor<'u>, shared: &Shared<'u>, found: &mut Findings<'u>) {
    let part = shared.part;
    if let Some(subject) = view.records.subject(part) {
        let members: u64 = part.members().into_iter().filter_map(|member| member.ty().size()).sum();
        let bases: u64 = view.records.bases(part).into_iter().filter_map(Type::size).sum();
        // Without holes, no order of the same size has any.
        let is_full = part.size() == Some(members.saturating_add(bases));
        let demand = if is_full { Demand::Size } else { Demand::Whole };
        let why = "is written as a whole, and members of others may lie in its last bytes".to_owned();
        found.push(Found { subject, node, demand, why });
    }
    if let Some(subject) = view.records.declared(shared.holder).filter(|_| has_hole(view, part)) {
        let why =
            format!("may have members in the last bytes of {}, which is written as a whole", part.spelling());
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}

/// Whether there are bytes behind a type's last member.
fn has_hole<'u>(view: View<'_, '_, 'u>, ty: Type<'u>) -> bool {
    let members = view.records.members(ty);
    let ends =
        members.iter().filter_map(|member| member.offset.checked_add(member.ty.size()?.checked_mul(8)?));
    ends.max().zip(ty.size()).is_some_and(|(end, size)| end < size.saturating_mul(8))
}
