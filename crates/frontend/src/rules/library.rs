//! Templates of libraries, and objects in them. Their bodies are made of pieces that look dangerous and are not, so only
//! what can't be harmless is looked for: objects made by position, and objects taken for bytes.

use super::effects::is_standard;
use super::{bits, lists};
use crate::addresses::is_void;
use crate::clang::{Cursor, Kind, Operator, TypeKind};
use crate::demand::Demand;
use crate::flow::Flow;
use crate::records::Records;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::{Index, Library};

/// All that functions of libraries ask of the subjects, each told where the program needs the function.
pub(crate) fn find<'u>(library: &Library<'u>, records: &Records<'_, 'u>) -> Findings<'u> {
    let flow = Flow::default();
    let view = View { tree: &library.tree, records, flow: &flow };
    let mut all = Findings::new();
    for index in 0..library.tree.len() {
        let mut found = Findings::new();
        match library.tree.kind(index) {
            Kind::List => lists::find(view, index, &mut found),
            Kind::Unexposed | Kind::Cast | Kind::FunctionalCast | Kind::BitCast => {
                bits::find(view, index, &mut found);
                bytes(view, index, &mut found);
                opened(view, index, &mut found);
            }
            _ => {}
        }
        if let Some(node) = library.needed_by(index).filter(|_| !found.is_empty()) {
            all.extend(found.into_iter().map(|found| Found { node, ..found }));
        }
    }
    all
}

/// A pointer to an object becomes a pointer to anything: what comes of it is the program's function, or whoever takes it
/// out again. Memory is made and given back so, too.
fn opened<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index).filter(|node| is_void(node.ty())) else { return };
    let own = view.tree.only(index).and_then(|inner| view.cursor(inner)?.ty().pointee());
    let Some(subject) = own.and_then(|own| view.records.subject(own)) else { return };
    if !is_for_memory(view, index) && !is_checked(view, index) {
        let why = "its address becomes one of anything in a function of a library".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}

/// Whether an address is that of a copy in a `std::any`, which gives it back as one of the copy's type alone (C++20,
/// section "Non-member functions" of `any`).
fn is_checked(view: View<'_, '_, '_>, index: Index) -> bool {
    let mut parents = std::iter::successors(Some(index), |at| view.tree.parent(*at));
    let function = parents.find(|at| matches!(view.tree.kind(*at), Kind::Function | Kind::Template));
    let function = function.and_then(|function| view.cursor(function));
    let mut holders = std::iter::successors(function, |holder| holder.holder());
    function.is_some_and(is_standard) && holders.any(|holder| holder.name() == "any")
}

/// Whether an address is handed to a function that makes memory, gives it back or copies it, or is only compared.
fn is_for_memory(view: View<'_, '_, '_>, index: Index) -> bool {
    let mut at = index;
    while let Some(parent) = view.tree.parent(at) {
        match view.tree.kind(parent) {
            Kind::Paren | Kind::Unexposed | Kind::Cast => at = parent,
            // A pointer to anything that is made keeps the address.
            Kind::New => return !view.cursor(parent).and_then(|new| new.ty().pointee()).is_some_and(is_void),
            Kind::Delete => return true,
            Kind::Binary => {
                let operator = view.cursor(parent).map(Cursor::binary_operator);
                return matches!(operator, Some(Operator::Compare | Operator::Order));
            }
            Kind::Call => {
                let callee = view.cursor(parent).and_then(Cursor::referenced);
                return callee.is_some_and(|callee| {
                    callee.kind() == Kind::Function && callee.is_of_system()
                        || callee.name().contains("operator")
                });
            }
            Kind::Return => return true,
            _ => return false,
        }
    }
    false
}

/// `reinterpret_cast<std::byte *>(objects)`
fn bytes<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let to = view.cursor(index).and_then(|node| node.ty().pointee());
    let is_bytes = to.is_some_and(|to| matches!(to.kind(), TypeKind::Byte | TypeKind::Number));
    let inner = view.tree.only(index).filter(|_| is_bytes && view.tree.kind(index) == Kind::Cast);
    let Some((node, own)) =
        view.cursor(index).zip(inner.and_then(|inner| view.cursor(inner)).map(Cursor::ty))
    else {
        return;
    };
    for subject in own.pointee().into_iter().flat_map(|own| view.records.within(own)) {
        let why = "its bytes are read by a function of a library".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}
