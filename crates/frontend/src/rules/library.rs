//! Templates of libraries, and objects in them. Their bodies are made of pieces that look dangerous and are not, so only
//! what can't be harmless is looked for: objects made by position, and objects taken for bytes.

use super::{bits, lists};
use crate::clang::{Cursor, Kind, TypeKind};
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
            }
            _ => {}
        }
        if let Some(node) = library.needed_by(index).filter(|_| !found.is_empty()) {
            all.extend(found.into_iter().map(|found| Found { node, ..found }));
        }
    }
    all
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
