//! Accesses of a recorded program, each with the object that attribution found.

use super::accesses::{FLAG_STORE, TIME_MARK};
use fieldline_cachemodel::MAX_CPUS;
use fieldline_debuginfo::FileBytes;
use fieldline_layout::Member;
use fieldline_layout::layout::Layout;
use rustc_hash::FxHashMap;

/// The largest access that a trace's record has room for, as log2 of its bytes.
const LARGEST: u32 = 7;

/// An access of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedAccess {
    /// The thread. Each has a modelled CPU of its own; from the 257th on they share these.
    pub thread: u32,
    /// Nanoseconds.
    pub time: u64,
    /// Address of the instruction, as linked.
    pub code: u64,
    /// Address of the first byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Whether it stored.
    pub is_store: bool,
    /// Where the object begins, and the index of its struct.
    pub object: Option<(u64, usize)>,
}

/// All accesses of a recording in order.
#[derive(Clone, Debug, Default)]
pub struct RecordedAccesses {
    trace: Vec<u8>,
    time: u64,
    cpus: FxHashMap<u32, u8>,
    numbers: FxHashMap<(u64, usize), usize>,
    /// By access: the number of its object, and the index of its struct.
    objects: Vec<Option<(usize, usize)>>,
}

impl RecordedAccesses {
    /// Adds an access.
    pub fn add(&mut self, access: &RecordedAccess) {
        if access.address == 0 {
            return;
        }
        let next = (self.cpus.len() % MAX_CPUS) as u8;
        let cpu = *self.cpus.entry(access.thread).or_insert(next);
        if access.time != self.time {
            self.time = access.time;
            self.push(access.time, 0, cpu, TIME_MARK);
        }
        let log = access.size.max(1).checked_next_power_of_two().map_or(LARGEST, u64::trailing_zeros);
        let store = if access.is_store { FLAG_STORE } else { 0 };
        self.push(access.address, access.code as u32, cpu, store | log.min(LARGEST) as u8);
        let next = self.numbers.len();
        let object = access.object.map(|object| (*self.numbers.entry(object).or_insert(next), object.1));
        self.objects.push(object);
    }

    /// A record of a trace (docs/formats.md).
    fn push(&mut self, address: u64, code: u32, cpu: u8, flags: u8) {
        self.trace.extend(address.to_le_bytes());
        self.trace.extend(code.to_le_bytes());
        self.trace.extend([cpu, flags, 0, 0]);
    }

    /// How many there are of each struct.
    #[must_use]
    pub fn count(&self, structs: usize) -> Vec<u64> {
        let mut counts = vec![0; structs];
        for (_, index) in self.objects.iter().flatten() {
            if let Some(count) = counts.get_mut(*index) {
                *count += 1;
            }
        }
        counts
    }

    pub(super) fn to_trace(&self) -> FileBytes {
        FileBytes::from_vec("the recording", self.trace.clone())
    }

    pub(super) fn object(&self, access: usize) -> Option<(usize, usize)> {
        self.objects.get(access).copied().flatten()
    }
}

/// The innermost of some structs at an offset of a struct: where it begins in that struct, and its index. Arrays
/// within it are not looked into: an offset doesn't tell their elements apart from other members of the same type.
#[must_use]
pub fn find_object(layout: &Layout, offset: u64, structs: &[String]) -> Option<(u64, usize)> {
    let index_of = |name: &str| structs.iter().position(|wanted| wanted == name);
    let mut found = index_of(&layout.name).map(|index| (0, index));
    let mut members = layout.members.as_slice();
    while let Some((member, begin)) =
        members.iter().find_map(|member| Some((member, begin_of(member, offset)?)))
    {
        let tag = tag_of(&member.type_name);
        found = index_of(tag).map(|index| (begin, index)).or(found);
        members = &member.members;
    }
    found
}

/// Where a member that holds others begins, if an offset lies in it.
fn begin_of(member: &Member, offset: u64) -> Option<u64> {
    let (begin, size) = (member.offset(), member.size());
    (offset >= begin && offset - begin < size && !member.members.is_empty()).then_some(begin)
}

/// The tag of a type: of `const struct a` it is `a`.
fn tag_of(spelled: &str) -> &str {
    let words = spelled.trim_start_matches("const ").trim_start_matches("volatile ");
    ["struct ", "union ", "class "].iter().find_map(|kind| words.strip_prefix(kind)).unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct outer { long a; struct inner { int b; struct leaf { int c; } d; } e; long f[2]; }`
    fn outer() -> Layout {
        let member =
            |name: &str, type_name: &str, bit_offset: u64, bit_size: u64, members: Vec<Member>| Member {
                name: Some(name.to_owned()),
                type_name: type_name.to_owned(),
                bit_offset,
                bit_size,
                members,
                ..Member::default()
            };
        let leaf = member("d", "const struct leaf", 96, 32, vec![member("c", "int", 96, 32, Vec::new())]);
        let inner = member("e", "struct inner", 64, 64, vec![member("b", "int", 64, 32, Vec::new()), leaf]);
        let members =
            vec![member("a", "long", 0, 64, Vec::new()), inner, member("f", "long[2]", 128, 128, Vec::new())];
        let text =
            r#"{"kind": "struct", "name": "outer", "size": 32, "align": 8, "members": [], "items": []}"#;
        let template: Layout = serde_json::from_str(text).unwrap();
        Layout::from_members(&template, members, 32)
    }

    #[test]
    fn the_innermost_struct_asked_for_is_found() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let layout = outer();
        let find = |offset, wanted: &[&str]| find_object(&layout, offset, &names(wanted));
        assert_eq!([find(0, &["outer"]), find(20, &["outer"])], [Some((0, 0)); 2]);
        assert_eq!(find(9, &["outer", "inner"]), Some((8, 1)));
        assert_eq!(find(12, &["inner", "leaf"]), Some((12, 1)));
        assert_eq!(find(13, &["outer", "leaf"]), Some((12, 1)));
        assert_eq!((find(0, &["inner"]), find(20, &["inner"]), find(99, &["leaf"])), (None, None, None));
    }

    #[test]
    fn objects_have_numbers_and_threads_have_cpus() {
        let mut accesses = RecordedAccesses::default();
        let access = RecordedAccess {
            thread: 70_000,
            time: 5,
            code: 1,
            address: 0x1008,
            size: 24,
            is_store: true,
            object: Some((0x1000, 0)),
        };
        accesses.add(&access);
        accesses.add(&RecordedAccess { thread: 70_001, object: None, ..access });
        accesses.add(&RecordedAccess { object: Some((0x2000, 0)), ..access });
        accesses.add(&RecordedAccess { address: 0, ..access });
        accesses.add(&access);
        assert_eq!(accesses.count(1), [3]);
        let numbers: Vec<_> = (0..5).map(|number| accesses.object(number)).collect();
        assert_eq!(numbers, [Some((0, 0)), None, Some((1, 0)), Some((0, 0)), None]);
        // A mark of time, then accesses: 32 bytes, stores, on two CPUs.
        let cpus: Vec<(u8, u8)> = accesses.trace.chunks(16).map(|record| (record[12], record[13])).collect();
        assert_eq!(cpus, [(0, TIME_MARK), (0, 0x85), (1, 0x85), (0, 0x85), (0, 0x85)]);
    }
}
