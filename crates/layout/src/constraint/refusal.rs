//! Why the members of a type can't be reordered at all.

use super::requests::PlacementRequests;
use crate::abi::{self, AbiExceptionCause, AbiStruct};
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
    #[error("it is packed{0}, so its order is an exchange format")]
    Packed(String),
    /// The header is part of the kernel's user interface.
    #[error("it is part of the user interface{0}")]
    UserInterface(String),
    /// A member reserves room for a frozen binary interface.
    #[error("member {0} reserves room for a frozen binary interface")]
    Reserved(String),
    /// A base class that debug info only names.
    #[error("it is derived from {0}, of which debug info has no members")]
    UnknownBase(String),
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
        MemberOrder::Virtual => {
            "it has a virtual base class, and where that stands is the C++ compiler's choice; a plan needs the members in \
             a struct of their own"
        }
        MemberOrder::Declared | MemberOrder::PerhapsCompiler | MemberOrder::Inherited => {
            "its members lie as declared"
        }
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
    if matches!(layout.order, MemberOrder::Compiler | MemberOrder::Virtual) {
        return Err(ReorderRefusal::Order(layout.order));
    }
    if let Some(refusal) = refusal_if_shared(layout, inferred).filter(|_| !requests.is_shared_allowed) {
        return Err(refusal);
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
    if let Some(base) = layout.members.iter().find(|member| member.is_inherited() && member.bit_size == 0) {
        return Err(ReorderRefusal::UnknownBase(base.type_name.clone()));
    }
    let unexplained = inferred.exceptions.iter().find(|found| found.cause == AbiExceptionCause::Overlap);
    let Some(found) = unexplained else { return Ok(()) };
    let member = found.member.and_then(|index| layout.members.get(index));
    Err(ReorderRefusal::Unexplained(member.map_or("the end", Member::label).to_owned()))
}

/// Why something beside the program knows the layout, if debug info shows that.
pub fn shared_layout(layout: &Layout) -> Option<ReorderRefusal> {
    refusal_if_shared(layout, &abi::infer_abi(layout))
}

fn refusal_if_shared(layout: &Layout, inferred: &AbiStruct) -> Option<ReorderRefusal> {
    if inferred.is_packed() {
        return Some(ReorderRefusal::Packed(place(layout)));
    }
    let is_interface = layout.file.as_ref().is_some_and(|file| file.contains("/uapi/"));
    is_interface.then(|| ReorderRefusal::UserInterface(place(layout)))
}

/// Where the struct is declared, as the end of a clause.
fn place(layout: &Layout) -> String {
    match (&layout.file, layout.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        (None, _) => String::new(),
    }
}

/// Vendor kernels freeze structs and mark spare room: `RH_KABI_RESERVE`, `ANDROID_KABI_RESERVE`,
/// `__kabi_reserved1`.
fn is_reserved(member: &Member) -> bool {
    let name = member.label().to_ascii_lowercase();
    name.contains("kabi_reserve") || name.starts_with("rh_reserved") || name.starts_with("android_kabi")
}
