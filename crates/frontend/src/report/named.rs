//! Places that say members, whatever they do with them.

use crate::clang::Kind;
use crate::records::Records;
use crate::tree::Tree;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The places that say one of the members of the only subject: `object.member`, `.member = value`, `offsetof`, a list of
/// what a constructor initialises.
pub(crate) fn places<'u>(
    tree: &Tree<'u>,
    records: &Records<'_, 'u>,
    members: &BTreeSet<&str>,
) -> BTreeSet<(PathBuf, u32)> {
    let says = |index: usize| {
        let node = tree.get(index)?;
        let is_name = matches!(node.kind, Kind::MemberAccess | Kind::MemberName | Kind::Name);
        let member = node.cursor.referenced().filter(|member| is_name && member.kind() == Kind::Member)?;
        let part = records.part(member).filter(|part| members.contains(part.member.as_str()))?;
        (part.subject == 0).then(|| node.cursor.spelled())
    };
    let places = (0..tree.len()).filter_map(says).filter(|place| !place.file.is_empty());
    places.map(|place| (records.path(&place.file), place.offset)).collect()
}
