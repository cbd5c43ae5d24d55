//! Facts of a unit about addresses.

use crate::demand::MacroPlace;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The number of a shape in its unit.
pub(crate) type ShapeNumber = usize;

/// The result of functions without a body: memory that nothing is known of.
pub(crate) const RAW: &str = "memory";

/// Begins the name of the type of a variable that is one number or character: nothing stands behind it.
pub(crate) const SINGLE: &str = "one ";

/// Begins the name of the type of an array whose elements are read or written one by one, by their numbers.
pub(crate) const NUMBERED: &str = "numbered ";

/// A place that holds addresses and that other units may know too: a parameter, a member, a result.
pub(crate) type Place = String;

/// All that a unit says of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitFlows {
    pub(crate) shapes: Vec<Shape>,
    /// Addresses that stop being pointers to their type.
    pub(crate) departures: Vec<Departure>,
    /// Addresses that come from places, and where they go.
    pub(crate) passages: Vec<Passage>,
    /// Variables that other units may know, with the types they have here.
    pub(crate) symbols: Vec<(String, ShapeNumber, CodePlace)>,
    /// Names that attributes give to variables of subjects, and of other units' tables that addresses are moved by.
    pub(crate) attributed: Vec<String>,
    /// Parameters of such functions that don't say what they point to.
    pub(crate) open: Vec<Place>,
    /// Functions with a body that other units may call.
    pub(crate) defined: Vec<String>,
    /// Numbers that parameters and members are given, each once.
    pub(crate) numbers: Vec<(Place, Given)>,
    /// Records whose bytes are taken for another's.
    pub(crate) overlaid: Vec<(ShapeNumber, ShapeNumber)>,
    /// Records that go to files or come from there.
    pub(crate) filed: Vec<ShapeNumber>,
    /// Members that may keep addresses and are only read.
    pub(crate) read: Vec<Place>,
    /// Members that may keep addresses and are given some.
    pub(crate) written: Vec<Place>,
    /// Records of which code asks for two addresses, which is the lower one, or how far apart they are (`true`), each with
    /// one place that does.
    pub(crate) ordered: Vec<((ShapeNumber, bool), CodePlace)>,
    /// Members of subjects that are records, and whose addresses may come there.
    pub(crate) taken: Vec<TakenMember>,
    /// Addresses of members that functions of other units are handed.
    pub(crate) lent: Vec<Lent>,
    /// Variables and functions that this unit uses and others define.
    pub(crate) external: Vec<External>,
    /// Functions with a body, as the linker knows them, each with a number for its type.
    pub(crate) types: Vec<(String, u64)>,
    /// Variables that have their memory from this unit, as the linker knows them.
    pub(crate) made: Vec<String>,
    /// Subjects that variables in sections are of.
    pub(crate) in_sections: Vec<usize>,
    /// Functions without a body here that are given a subject's address as what it is, with the place of a call.
    pub(crate) given: Vec<(String, ShapeNumber, CodePlace)>,
    /// Symbols that assembler code between functions makes, as far as others see them.
    pub(crate) assembled: Vec<String>,
    /// Symbols that it names beside those.
    pub(crate) mentioned: Vec<(String, CodePlace)>,
}

/// The address of a member, for a function of another unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Lent {
    pub(crate) place: Place,
    pub(crate) holder: ShapeNumber,
    pub(crate) offset: u64,
}

/// A variable of subjects, or a function that passes them by value, or leads to one that does, which other code defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct External {
    /// The name that the linker knows it by.
    pub(crate) symbol: String,
    /// A function's type, as it is declared here.
    pub(crate) function: Option<String>,
    pub(crate) subjects: Vec<usize>,
    pub(crate) at: CodePlace,
}

/// A member that is a record or several, and whose address is taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct TakenMember {
    pub(crate) holder: ShapeNumber,
    /// Bytes in front of the holder's own member that it is or lies in.
    pub(crate) offset: u64,
    /// The record.
    pub(crate) ty: ShapeNumber,
}

/// A number that a parameter or a member is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Given {
    /// A member's offset that the compiler takes: the definition of the record, and the bytes in front of the member.
    Offset {
        record: Place,
        bytes: u64,
    },
    /// A sum with one.
    OffsetSum,
    Number(i64),
    /// A number that is made of sizes of types, as it is in this order.
    Size(i64),
    /// Nobody knows how many, but at least so many.
    Unknown(i64),
    /// The values that another place is given.
    From(Place),
}

/// A record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// The type as the front end writes it.
    pub(crate) name: String,
    /// Bytes; 0 where the unit doesn't know.
    pub(crate) size: u64,
    pub(crate) members: Vec<ShapeMember>,
    /// The name of its definition, the same in all units.
    pub(crate) place: Place,
    /// Whether its members share their bytes.
    pub(crate) is_union: bool,
    /// Whether a header of the system declares it: functions that nobody sees read and write all of it.
    pub(crate) is_of_system: bool,
    /// Subjects it is or holds by value, with the bytes in front of each, and its shape.
    pub(crate) subjects: Vec<(usize, u64, ShapeNumber)>,
    /// Classes it is derived from.
    pub(crate) bases: Vec<String>,
}

impl Shape {
    /// The place that a member is. Members of a union are one.
    pub(crate) fn place_of(&self, member: &str) -> Place {
        if self.is_union { self.place.clone() } else { format!("{}@FI@{member}", self.place) }
    }

    /// Whether two records have pointers of different types at one place.
    pub(crate) fn has_other_pointers(&self, other: &Self) -> bool {
        let is_pointer = |member: &&ShapeMember| member.size == 8 && member.value.is_some();
        self.members.iter().filter(is_pointer).any(|own| {
            let mut same = other.members.iter().filter(is_pointer).filter(|other| other.offset == own.offset);
            same.any(|other| other.value != own.value)
        })
    }
}

/// A member of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShapeMember {
    pub(crate) name: String,
    /// Bytes in front of it.
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// Its type, an array's elements' type.
    pub(crate) ty: String,
    pub(crate) is_array: bool,
    /// The record that it is.
    pub(crate) record: Option<ShapeNumber>,
    /// The type of its values, an array's elements' values: of a wrapper, that of the number in it. `None` of records.
    pub(crate) value: Option<String>,
    /// Bytes that its type's place is a multiple of.
    pub(crate) alignment: u64,
}

/// The object an address is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// The first byte of an object of a record.
    Object(ShapeNumber),
    /// A member, so many bytes behind the first one of a record, and its own number of bytes.
    Member {
        holder: ShapeNumber,
        offset: u64,
        size: u64,
        /// Whether code may count on from its first element.
        is_array: bool,
    },
    /// Bytes, numbers or an object of a type that no subject has a part in.
    Other(String),
}

/// How an address has changed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct State {
    /// Bytes it was moved by; `None` if unknown.
    pub(crate) moved: Option<i64>,
    /// Bytes it was moved by at least; `None` if it may have been moved back.
    pub(crate) least: Option<i64>,
    /// How often what is held must be read from memory to get at the address.
    pub(crate) level: u8,
    /// The bytes in front of the member that the address was led to by `offsetof`. It is moved from there.
    pub(crate) member: Option<u64>,
    /// Whether it is a number that was computed from the address by more than sums: as it is, it leads nowhere.
    pub(crate) is_number: bool,
    /// The members of a table of offsets, if one of them led to `member`.
    pub(crate) table: Option<OffsetTable>,
}

/// Members that one table of offsets leads to. The same code comes to all of them, and what it does to one row's member may
/// be meant for another row's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct OffsetTable {
    /// Bytes of the largest member.
    pub(crate) largest: u64,
    /// Bytes of the largest one that code may count on in: an array or a record. 0: there is none.
    pub(crate) largest_of_several: u64,
}

impl State {
    /// Unchanged.
    pub(crate) const PLAIN: Self =
        Self { moved: Some(0), least: Some(0), level: 0, member: None, is_number: false, table: None };

    /// Moved by a known number of bytes.
    pub(crate) fn by(self, bytes: i64) -> Self {
        self.then(Self { moved: Some(bytes), least: Some(bytes), ..Self::PLAIN })
    }

    /// Moved on by an unknown number of bytes.
    pub(crate) fn forward(self) -> Self {
        Self { moved: None, ..self }
    }

    /// Moved by an unknown number of bytes in either direction.
    pub(crate) fn anywhere(self) -> Self {
        Self { moved: None, least: None, ..self }
    }

    /// One of many distances, none of them less than the first.
    pub(crate) fn walked(self, first: Option<i64>) -> Self {
        let least = first.zip(self.least).filter(|(first, own)| own >= first).map(|(first, _)| first);
        Self { moved: None, least, ..self }
    }

    /// A number that was computed from the address, and from which the address may be computed again.
    pub(crate) fn as_number(self) -> Self {
        Self { is_number: self.level == 0, ..self }
    }

    /// The state after both, the second one begun at the first one's level.
    pub(crate) fn then(self, next: Self) -> Self {
        let sum = |first: Option<i64>, second: Option<i64>| first.zip(second)?.0.checked_add(second?);
        let (moved, least) = (sum(self.moved, next.moved), sum(self.least, next.least));
        let is_number = self.is_number || next.is_number;
        let (member, table) = (next.member.or(self.member), next.table.or(self.table));
        Self { moved, least, level: next.level, member, is_number, table }
    }
}

impl OffsetTable {
    /// Whether an end may be meant for another row's member. Bytes from the begin on are, if a member has as many. Code that
    /// moved on means an array or a record, if one reaches as far, and what moves on by nobody knows how much may stay
    /// inside one. Where no member reaches as far, what stands behind the member is meant.
    pub(crate) fn may_mean_another(self, state: State, end: &End) -> bool {
        let count = match end {
            End::Bytes { count: Some(count), .. } => *count,
            End::Elements { .. } | End::Text { .. } | End::Sets { .. } => 1,
            _ => return true,
        };
        match state.moved {
            Some(0) => count <= self.largest,
            Some(moved) => {
                moved.saturating_add_unsigned(count) <= self.largest_of_several.try_into().unwrap_or(i64::MAX)
            }
            None => true,
        }
    }
}

/// An address that stops being a pointer to its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Departure {
    pub(crate) origin: Origin,
    pub(crate) at: CodePlace,
    pub(crate) outcome: Outcome,
    /// The function that returned it, if it has no body here and returns addresses of nothing known.
    pub(crate) by: Option<String>,
}

/// An address that comes from a place, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Passage {
    pub(crate) place: Place,
    /// How often what is handed must be read from memory to get at the address.
    pub(crate) level: u8,
    pub(crate) outcome: Outcome,
}

/// Where an address goes inside a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) ends: Vec<(State, End, CodePlace)>,
    /// Places it is handed to, with what to think of those that no unit explains.
    pub(crate) places: Vec<(State, Place, Option<End>, CodePlace)>,
}

/// The last thing that code does with an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum End {
    /// Reads or writes so many bytes; `None` if unknown. The words name what does it.
    Bytes { count: Option<u64>, by: String },
    /// Sets so many bytes to one value, or copies them; `None` if unknown.
    Sets {
        count: Option<u64>,
        by: String,
        /// Whether the count is a number that doesn't follow the members.
        is_fixed: bool,
    },
    /// Reads or writes elements of a number's type, nobody says how many.
    Elements { by: String },
    /// Takes it for the first of several of its own type, nobody says how many.
    Several { by: String },
    /// Takes it for the address of an object of a record.
    Record(ShapeNumber),
    /// Orders or searches so many bytes of elements.
    Sorts { count: u64, by: String },
    /// Reads or writes characters, as many as there are.
    Text { by: String },
    /// Gives the memory back.
    Frees,
    /// Counts on in steps of so many bytes, whatever size the type has.
    Strides { bytes: u64 },
    /// Compares it with another address.
    Compared { by: Comparison },
    /// Takes bits of it that are zero only at multiples of so many bytes: `address | 1`, `address & ~7`.
    Masked { bytes: u64 },
    /// Takes these bits of it for a number of their own: `(address >> 3) & 3`.
    Numbered { bits: u64 },
    /// Nothing that is understood.
    Unknown,
}

/// The question that two addresses answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Comparison {
    /// Whether they are the same.
    Same,
    /// Whether one lies as many bytes behind the other as something says: `address + length == next`.
    Behind,
    /// Which is the lower one.
    Order,
    /// How many bytes it lies behind the other.
    To,
    /// How many bytes the other lies behind it.
    From,
}

/// A line of code.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct CodePlace {
    pub(crate) file: PathBuf,
    pub(crate) line: u32,
    pub(crate) macro_definition: Option<MacroPlace>,
}
