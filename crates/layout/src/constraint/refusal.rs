//! Why the members of a type can't be reordered at all.

use super::requests::PlacementRequests;
use crate::abi::{AbiExceptionCause, AbiStruct};
use crate::layout::{Layout, Member};
use crate::types::MemberOrder;

/// Why the members of a type can't be reordered at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReorderRefusal {
    /// Members of a union lie over one another.
    #[error("it is a union")]
    Union,
    /// The compiler orders the members.
    #[error("{}", describe_order(*.0))]
    Order(MemberOrder),
    /// A packed struct describes bytes outside the program.
    #[error("it is packed, so its order is an exchange format")]
    Packed,
    /// The header is part of the kernel's user interface.
    #[error("{0} is user interface")]
    UserInterface(String),
    /// A member reserves room for a frozen binary interface.
    #[error("member {0} reserves room for a frozen binary interface")]
    Reserved(String),
    /// Offsets that no order of members explains.
    #[error("the offset of {0} follows no placement rule")]
    Unexplained(String),
    /// Nothing can move.
    #[error("none of its members may move")]
    Fixed,
    /// A request names a member the struct doesn't have.
    #[error("there is no member {0}")]
    NoSuchMember(usize),
    /// There is not one note for each member: how many there are of both.
    #[error("{0} notes for {1} members")]
    Notes(usize, usize),
}

fn describe_order(order: MemberOrder) -> &'static str {
    match order {
        MemberOrder::Compiler => {
            "the Rust compiler orders its members itself, and they don't lie as written; with #[repr(C)] they would"
        }
        MemberOrder::Inherited => {
            "it has base classes or virtual functions, and where those stand is the C++ compiler's choice; a plan needs \
             the members in a struct of their own"
        }
        MemberOrder::Declared | MemberOrder::PerhapsCompiler => "its members lie as declared",
    }
}

pub(super) fn check_reorderable(
    layout: &Layout,
    inferred: &AbiStruct,
    requests: &PlacementRequests,
) -> Result<(), ReorderRefusal> {
    if layout.is_union() {
        return Err(ReorderRefusal::Union);
    }
    if !matches!(layout.order, MemberOrder::Declared | MemberOrder::PerhapsCompiler) {
        return Err(ReorderRefusal::Order(layout.order));
    }
    if inferred.is_packed() {
        return Err(ReorderRefusal::Packed);
    }
    if let Some(file) = layout.file.as_ref().filter(|file| file.contains("/uapi/")) {
        return Err(ReorderRefusal::UserInterface(file.clone()));
    }
    let count = layout.members.len();
    if !requests.notes.is_empty() && requests.notes.len() != count {
        return Err(ReorderRefusal::Notes(requests.notes.len(), count));
    }
    if let Some(index) = requests.requested_members().find(|index| *index >= count) {
        return Err(ReorderRefusal::NoSuchMember(index));
    }
    if let Some(member) = layout.members.iter().find(|member| is_reserved(member)) {
        return Err(ReorderRefusal::Reserved(member.label().to_owned()));
    }
    let unexplained = inferred.exceptions.iter().find(|found| found.cause == AbiExceptionCause::Overlap);
    let Some(found) = unexplained else { return Ok(()) };
    let member = found.member.and_then(|index| layout.members.get(index));
    Err(ReorderRefusal::Unexplained(member.map_or("the end", Member::label).to_owned()))
}

/// Vendor kernels freeze structs and mark spare room: `RH_KABI_RESERVE`, `ANDROID_KABI_RESERVE`,
/// `__kabi_reserved1`.
fn is_reserved(member: &Member) -> bool {
    let name = member.label().to_ascii_lowercase();
    name.contains("kabi_reserve") || name.starts_with("rh_reserved") || name.starts_with("android_kabi")
}
