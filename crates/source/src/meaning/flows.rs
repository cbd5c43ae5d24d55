//! Values that go from function to function.

mod places;
pub(super) mod related;
mod rounds;

use super::value::Sum;
pub(super) use places::{add, drop_record, is_followed, merge};
use related::{Related, Relations};
pub(super) use rounds::{follow, follow_rounds};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Something that values are kept in beyond a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot<'t> {
    /// Of a function, which is one file's if it is static.
    Parameter(Option<usize>, &'t [u8], usize),
    Returned(Option<usize>, &'t [u8]),
    Global(&'t [u8]),
    /// A member of a record.
    Member(&'t [u8], &'t [u8]),
    /// A member of any record, by its name.
    AnyMember(&'t [u8]),
    /// A member of a record that isn't known; in a part of a tree, of one file.
    LooseMember(Option<usize>, &'t [u8]),
    /// Values that a function leaves where a parameter points to.
    Written(Option<usize>, &'t [u8], usize),
    /// Records that a function is handed by value through a pointer, or, as the last parameter of all, gives back so.
    ByValue(Option<usize>, &'t [u8], usize),
    /// Whether bytes of unknown origin are put into a member, which is an array of numbers.
    Filled(&'t [u8], &'t [u8]),
    /// Addresses of members that a parameter may be a reference to.
    Referred(Option<usize>, &'t [u8], usize),
    /// Values that are handed to functions that nobody defines.
    Outside,
    /// Objects of a record whose addresses become something else than pointers to it.
    Escaped(&'t [u8]),
    /// Members of a record whose addresses become pointers to bytes that aren't followed.
    EscapedParts(&'t [u8]),
    /// Whether a function changes anything but its own variables.
    Effect(Option<usize>, &'t [u8]),
    /// Arguments of methods of a name, of function objects and of lambdas.
    Method(&'t [u8], usize),
    /// Whether the body of a constructor of a class is known.
    Constructor(&'t [u8]),
    /// Members by which a variable, member or result may be an entry of a null link: of a function's own, its name.
    Entry(&'t [u8], &'t [u8]),
    /// Sizes that a variable or member counts up or down by: of a function's own, its name.
    Grown(&'t [u8], &'t [u8]),
    /// Members of a record whose addresses a sorted container may keep.
    Sorted(&'t [u8]),
    /// Longer kinds, or anything behind its end, that pointers to a record lead to.
    Reached(&'t [u8]),
    /// Whether a function counts on from the record that a parameter points to.
    Counted(Option<usize>, &'t [u8], usize),
    /// Functions that one place keeps the addresses of, by the number of the place.
    Functions(u64),
    /// The places that keep a function among many.
    Among(Option<usize>, &'t [u8]),
    /// The places that keep all functions of another place, by its number.
    Within(u64),
    /// Arguments of calls of any function of a place.
    Called(u64, usize),
    /// Results of such calls.
    Results(u64),
    /// Whether numbers are read at distances from a number that a variable keeps: of a function's own, its name.
    ReadAt(&'t [u8], &'t [u8]),
    /// Lengths that stand beside the offset of a member of a record, or its address.
    Beside(&'t [u8], &'t [u8]),
    /// A record that a place had no room for.
    Dropped(&'t [u8]),
}

/// Values by slot.
pub(super) type Flows<'t> = FxHashMap<Slot<'t>, Vec<Sum<'t>>>;

/// The values that are known while a file is read, with the places that were asked for.
#[derive(Debug)]
pub(super) struct Known<'k, 't> {
    flows: &'k Flows<'t>,
    pub(super) related: &'k Related<'t>,
    asked: RefCell<FxHashSet<Slot<'t>>>,
}

impl<'k, 't> Known<'k, 't> {
    pub(super) fn new(flows: &'k Flows<'t>, related: &'k Related<'t>) -> Self {
        Self { flows, related, asked: RefCell::default() }
    }

    /// The places that were asked for.
    fn into_asked(self) -> FxHashSet<Slot<'t>> {
        self.asked.into_inner()
    }

    pub(super) fn get(&self, slot: Slot<'t>) -> Option<&'k Vec<Sum<'t>>> {
        self.asked.borrow_mut().insert(slot);
        self.flows.get(&slot)
    }
}

/// Uses that a file has, and the values that it hands on.
pub(super) type FileResult<'t, F> = (Vec<F>, Flows<'t>);

/// Files that are read again and again, for what records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a, 't> {
    /// Numbers of the files.
    pub(super) files: &'a [usize],
    pub(super) asked: Asked<'a, 't>,
}

/// The records that values are followed for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'a, 't> {
    /// These. Once none of them can be followed to its end, nothing is followed any more, and so it is once there are
    /// too many values.
    Until(&'a [&'t [u8]], &'a Relations<'t>),
    /// These and others, to the end.
    All(&'a Related<'t>),
}
