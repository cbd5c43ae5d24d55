//! BTF as compilers and kernels write it, put together record by record, and BTF that is broken.

use fieldline_debuginfo::btf::{self, Btf, BtfError, BtfKind, BtfReader, BtfTypeId};
use fieldline_layout::types::{AggregateKind, Encoding, MemberDecl, Type, TypeId, TypeTable};
use std::path::Path;

/// Writes BTF record by record (include/uapi/linux/btf.h).
struct Writer {
    types: Vec<u32>,
    strings: Vec<u8>,
    /// Strings of the base that offsets begin behind.
    base_strings: u32,
    layout: Vec<u8>,
    big_endian: bool,
}

impl Writer {
    fn new() -> Self {
        Self { types: Vec::new(), strings: vec![0], base_strings: 0, layout: Vec::new(), big_endian: false }
    }

    fn name(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.base_strings + self.strings.len() as u32;
        self.strings.extend(name.as_bytes());
        self.strings.push(0);
        at
    }

    fn record(&mut self, name: &str, kind: u32, vlen: u32, flag: bool, size_or_type: u32, rest: &[u32]) {
        let name = self.name(name);
        let info = u32::from(flag) << 31 | kind << 24 | vlen;
        self.types.extend([name, info, size_or_type]);
        self.types.extend(rest);
    }

    fn int(&mut self, name: &str, size: u32, encoding: u32) {
        self.record(name, 1, 0, false, size, &[(encoding << 24) | (size * 8)]);
    }

    fn structure(&mut self, name: &str, size: u32, flag: bool, members: &[(&str, u32, u32)]) {
        let mut rest = Vec::new();
        for (name, ty, place) in members {
            let name = self.name(name);
            rest.extend([name, *ty, *place]);
        }
        self.record(name, 4, members.len() as u32, flag, size, &rest);
    }

    fn bytes(&self) -> Vec<u8> {
        let word = |word: u32| if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        let header_len: u32 = if self.layout.is_empty() { 24 } else { 32 };
        let types_len = self.types.len() as u32 * 4;
        let strings_len = self.strings.len() as u32;
        let mut bytes = if self.big_endian { vec![0xeb, 0x9f] } else { vec![0x9f, 0xeb] };
        bytes.extend([1, 0]);
        let mut fields = vec![header_len, 0, types_len, types_len, strings_len];
        if !self.layout.is_empty() {
            fields.extend([types_len + strings_len, self.layout.len() as u32]);
        }
        bytes.extend(fields.into_iter().flat_map(word));
        bytes.extend(self.types.iter().flat_map(|value| word(*value)));
        bytes.extend(&self.strings);
        bytes.extend(&self.layout);
        bytes
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/layout").join(name);
    std::fs::read(path).expect("the fixture is there")
}

fn only(btf: &Btf<'_>, name: &str) -> BtfTypeId {
    let found = btf.find(name);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found[0]
}

/// One type with what it needs.
fn read(btf: &Btf<'_>, id: BtfTypeId, table: &mut TypeTable) -> Result<TypeId, BtfError> {
    BtfReader::new(btf).read(id, table)
}

/// All types, those of the base included, but for functions, which are none.
struct All {
    table: TypeTable,
    ids: Vec<TypeId>,
}

impl All {
    fn read(btf: &Btf<'_>) -> Result<Self, BtfError> {
        let (mut table, mut reader) = (TypeTable::new(btf.target()), BtfReader::new(btf));
        let last = btf.ids().last().map_or(0, |id| id.0);
        let ids = (0..=last).map(BtfTypeId).map(|id| match btf.kind(id) {
            None | Some(BtfKind::Function) => Ok(TypeId::VOID),
            Some(_) => reader.read(id, &mut table),
        });
        let ids = ids.collect::<Result<_, _>>()?;
        Ok(Self { table, ids })
    }

    fn get(&self, id: u32) -> &Type {
        self.table.get(self.ids[id as usize])
    }

    fn members(&self, id: BtfTypeId) -> &[MemberDecl] {
        &self.table.aggregate(self.ids[id.0 as usize]).expect("a struct").members
    }
}

#[test]
fn members_are_read_with_their_types() {
    let mut writer = Writer::new();
    writer.int("int", 4, 1);
    writer.record("", 2, 0, false, 4, &[]);
    writer.record("", 3, 0, false, 0, &[1, 1, 5]);
    writer.structure("node", 32, false, &[("next", 2, 0), ("values", 3, 64)]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    let mut table = TypeTable::new(btf.target());
    let id = read(&btf, only(&btf, "node"), &mut table).expect("well-formed");
    let node = table.aggregate(id).expect("a struct");
    assert_eq!((node.kind, node.size, node.members.len()), (AggregateKind::Struct, 32, 2));
    assert_eq!(table.size_of(node.members[0].ty), 8);
    assert_eq!((node.members[1].bit_offset, table.size_of(node.members[1].ty)), (64, 20));
    let Type::Pointer { target, .. } = table.get(node.members[0].ty) else {
        panic!("next is a pointer");
    };
    assert_eq!(*target, id, "the pointer leads back to the struct");
}

#[test]
fn structs_behind_pointers_are_declarations_until_they_are_held() {
    let mut writer = Writer::new();
    writer.int("int", 4, 1);
    writer.structure("far", 4, false, &[("x", 1, 0)]);
    writer.record("", 2, 0, false, 2, &[]);
    writer.structure("points", 8, false, &[("far", 3, 0)]);
    writer.structure("holds", 4, false, &[("far", 2, 0)]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    let mut table = TypeTable::new(btf.target());
    let mut reader = BtfReader::new(&btf);
    reader.read(only(&btf, "points"), &mut table).expect("well-formed");
    let far = |table: &TypeTable| {
        let all = table.iter().filter_map(|(_, ty)| match ty {
            Type::Aggregate(aggregate) if aggregate.name.as_deref() == Some("far") => Some(aggregate.clone()),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    assert!(far(&table)[0].is_declaration);
    reader.read(only(&btf, "holds"), &mut table).expect("well-formed");
    assert_eq!(far(&table).len(), 1, "completed in place");
    assert_eq!(far(&table)[0].members.len(), 1);
}

#[test]
fn holders_are_found_through_arrays_and_words_but_not_pointers() {
    let mut writer = Writer::new();
    writer.int("int", 4, 1);
    // 2 is declared before what it holds; 3 to 5: an array of a typedef of what is const.
    writer.structure("outer", 48, false, &[("middle", 6, 0), ("end", 1, 320)]);
    writer.record("", 10, 0, false, 7, &[]);
    writer.record("inner_t", 8, 0, false, 3, &[]);
    writer.record("", 3, 0, false, 0, &[4, 1, 2]);
    writer.structure("middle", 32, false, &[("pair", 5, 0), ("number", 1, 256)]);
    writer.structure("inner", 16, false, &[("number", 1, 0)]);
    writer.record("", 2, 0, false, 7, &[]);
    writer.structure("points", 8, false, &[("inner", 8, 0)]);
    // Nobody can hold himself, but a file can say so.
    writer.structure("snake", 8, false, &[("tail", 10, 0)]);
    writer.structure("snakes", 24, false, &[("snake", 10, 0), ("inner", 7, 64)]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    let ids = |ids: &[u32]| ids.iter().copied().map(BtfTypeId).collect::<Vec<_>>();
    assert_eq!(btf.holders(&btf.find("inner")), ids(&[2, 6, 7, 11]));
    assert_eq!(btf.holders(&btf.find("points")), btf.find("points"));
    assert_eq!(btf.holders(&btf.find("outer")), btf.find("outer"));
    assert_eq!(btf.holders(&ids(&[9999, 0])), []);
}

#[test]
fn bit_fields_are_read_in_both_notations() {
    let mut writer = Writer::new();
    writer.int("unsigned int", 4, 0);
    // With kind_flag: width in the upper 8 bits of the place.
    writer.structure("new", 4, true, &[("a", 1, 3 << 24), ("b", 1, 5 << 24 | 3), ("c", 1, 32)]);
    // Without: an INT of 5 bits that lie 2 bits behind the member's offset.
    writer.record("unsigned int", 1, 0, false, 4, &[2 << 16 | 5]);
    writer.structure("old", 4, false, &[("a", 3, 8)]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    let all = All::read(&btf).expect("well-formed");
    let places = |name| {
        let members = all.members(only(&btf, name));
        members.iter().map(|member| (member.bit_offset, member.bit_field)).collect::<Vec<_>>()
    };
    assert_eq!(places("new"), [(0, Some(3)), (3, Some(5)), (32, None)]);
    assert_eq!(places("old"), [(10, Some(5))]);
}

#[test]
fn all_kinds_of_type_are_read() {
    let mut writer = Writer::new();
    writer.int("char", 1, 1);
    writer.int("_Bool", 1, 4);
    writer.record("float", 16, 0, false, 4, &[]);
    writer.record("gone", 7, 0, true, 0, &[]);
    let (minus, plus) = (writer.name("MINUS"), writer.name("PLUS"));
    writer.record("small", 6, 2, true, 4, &[minus, u32::MAX, plus, 7]);
    writer.record("large", 19, 1, false, 8, &[minus, 1, u32::MAX]);
    writer.record("__rcu", 18, 0, false, 3, &[]);
    writer.record("", 10, 0, false, 7, &[]);
    writer.record("", 13, 2, false, 1, &[0, 3, 0, 0]);
    writer.record("function", 12, 0, false, 9, &[]);
    writer.record("", 3, 0, false, 0, &[12, 1, 2]);
    writer.record("", 3, 0, false, 0, &[1, 1, 3]);
    writer.record("complex", 0, 0, false, 8, &[]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    let all = All::read(&btf).expect("well-formed");
    let encoding = |id| match all.get(id) {
        Type::Base(base) => base.encoding,
        other => panic!("{other:?}"),
    };
    assert_eq!(encoding(1), Encoding::SignedChar);
    assert_eq!(encoding(2), Encoding::Boolean);
    assert_eq!(encoding(3), Encoding::Float);
    assert_eq!(btf.find_kind("gone", |kind| kind == BtfKind::Forward).len(), 1);
    assert_eq!(btf.find("gone"), []);
    let values = |id| match all.get(id) {
        Type::Enum(enumeration) => enumeration.values.iter().map(|(_, value)| *value).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(values(5), [-1, 7]);
    assert_eq!(values(6), [0xffff_ffff_0000_0001]);
    assert!(matches!(all.get(7), Type::Tag { name, target } if &**name == "__rcu" && *target == all.ids[3]));
    assert!(
        matches!(all.get(9), Type::Function(prototype) if prototype.variadic && prototype.parameters.len() == 1)
    );
    assert!(read(&btf, BtfTypeId(10), &mut TypeTable::new(btf.target())).is_err(), "a function is no type");
    assert!(
        matches!(all.get(11), Type::Array { element, dimensions, .. } if *element == all.ids[1] && dimensions == &[Some(2), Some(3)])
    );
    assert!(matches!(all.get(13), Type::Unspecified(name) if &**name == "complex"));
}

#[test]
fn names_are_found_whole_and_in_order() {
    let bytes = fixture("x86_64.btf");
    let btf = btf::parse(&bytes, None).expect("well-formed");
    assert_eq!(btf.find("fects"), [], "the end of a name is another name");
    assert_eq!(btf.find(""), []);
    assert_eq!(btf.find("no such\0thing"), []);
    let definitions: Vec<_> = btf.definitions().collect();
    assert!(definitions.is_sorted_by_key(|definition| definition.id));
    let kinds = |name: &[u8]| {
        definitions.iter().filter(|found| found.name == name).map(|found| found.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(b"pair"), [BtfKind::Struct]);
    assert_eq!(kinds(b"typedef_union"), [BtfKind::Typedef]);
    assert_eq!(kinds(b"unknown"), [], "declared only");
    assert_eq!(btf.find_kind("unknown", |kind| kind == BtfKind::Forward).len(), 1);
    assert_eq!(btf.find("typedef_pair").len(), 1, "a typedef of a struct that has a tag");
    assert_eq!(btf.find("typedef_array"), [], "no struct behind it");
}

#[test]
fn many_names_are_found_as_one_by_one() {
    let (base_bytes, split_bytes) = (fixture("x86_64.btf"), fixture("module.btf"));
    let base = btf::parse(&base_bytes, None).expect("well-formed");
    let split = btf::parse(&split_bytes, Some(&base)).expect("well-formed");
    let own = base.definitions().chain(split.definitions());
    let mut names: Vec<&str> = own.map(|found| std::str::from_utf8(found.name).expect("ASCII")).collect();
    names.extend(["gone", "", "fects", "unknown", "no such\0thing", "pair"]);
    let together = split.find_many(&names);
    assert_eq!(together.len(), names.len());
    for (name, found) in names.iter().zip(&together) {
        assert_eq!(*found, split.find(name), "{name}");
        let kind = |kind| matches!(kind, BtfKind::Struct | BtfKind::Union | BtfKind::Typedef);
        let each: Vec<_> = split.find_kind(name, kind);
        assert!(found.iter().all(|id| each.contains(id)), "{name}");
    }
    assert!(together.iter().filter(|found| !found.is_empty()).count() > 10);
}

#[test]
fn a_name_may_point_into_another() {
    let mut writer = Writer::new();
    writer.int("outer_name", 4, 1);
    let tail = 1 + "outer_".len() as u32;
    writer.types.extend([tail, 4 << 24, 0]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    assert_eq!(btf.find("name"), [BtfTypeId(2)]);
}

#[test]
fn split_btf_counts_on_from_its_base() {
    let (base_bytes, split_bytes) = (fixture("x86_64.btf"), fixture("module.btf"));
    let base = btf::parse(&base_bytes, None).expect("well-formed");
    let split = btf::parse(&split_bytes, Some(&base)).expect("well-formed");
    assert_eq!(split.ids().next().map(|id| id.0), base.ids().last().map(|id| id.0 + 1));
    let own: Vec<_> =
        split.definitions().map(|found| String::from_utf8_lossy(found.name).into_owned()).collect();
    assert_eq!(own, ["module_own", "module_other"]);
    assert_eq!(split.find("pair"), base.find("pair"), "types of the base are found too");
    let all = All::read(&split).expect("well-formed");
    let own = all.members(only(&split, "module_own"));
    assert_eq!(all.table.aggregate(own[0].ty).and_then(|pair| pair.name.as_deref()), Some("pair"));
}

#[test]
fn byte_order_and_pointer_size_come_from_the_data() {
    let (little, big) = (fixture("x86_64.btf"), fixture("ppc.btf"));
    let target = |bytes| btf::parse(bytes, None).expect("well-formed").target();
    assert_eq!((target(&little).big_endian, target(&little).pointer_size), (false, 8));
    assert_eq!((target(&big).big_endian, target(&big).pointer_size), (true, 4));
    let mut writer = Writer::new();
    writer.big_endian = true;
    writer.int("int", 4, 1);
    writer.structure("s", 4, false, &[("x", 1, 0)]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    assert_eq!(btf.target().pointer_size, 8, "without a long, that of most machines");
    let mut table = TypeTable::new(btf.target());
    let id = read(&btf, only(&btf, "s"), &mut table).expect("well-formed");
    assert_eq!(table.size_of(id), 4);
}

#[test]
fn a_kind_from_the_future_is_stepped_over_if_the_file_tells_its_length() {
    let mut writer = Writer::new();
    writer.int("int", 4, 1);
    // One word once, two words for each of three elements.
    writer.record("later", 20, 3, false, 0, &[0; 7]);
    writer.structure("s", 4, false, &[("x", 1, 0)]);
    let bytes = writer.bytes();
    let unknown = btf::parse(&bytes, None).map(drop).expect_err("its length is not known");
    assert_eq!(
        unknown.to_string(),
        "BTF: type 2 at offset 0x28: unknown kind 20, and no layout section tells its length"
    );
    writer.layout = vec![0; 21 * 4];
    writer.layout[80] = 4;
    writer.layout[81] = 8;
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("its length is known");
    assert_eq!(btf.kind(BtfTypeId(2)), Some(BtfKind::Other(20)));
    assert_eq!(only(&btf, "s"), BtfTypeId(3));
    assert_eq!(btf.ids().count(), 3);
    assert!(matches!(All::read(&btf).expect("known").get(2), Type::Unspecified(_)));
}

#[test]
fn broken_references_and_names_are_errors_with_their_place() {
    let mut writer = Writer::new();
    writer.record("", 2, 0, false, 9, &[]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("references are checked when they are read");
    assert_eq!(btf.kind(BtfTypeId(9)), None);
    let error = All::read(&btf).map(drop).expect_err("there is no type 9");
    assert_eq!(error.to_string(), "BTF: type 1 at offset 0x18 refers to type 9, but ids end at 1");

    let mut writer = Writer::new();
    writer.record("f", 12, 0, false, 0, &[]);
    writer.record("t", 8, 0, false, 1, &[]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("references are checked when they are read");
    let error = All::read(&btf).map(drop).expect_err("a function is no type");
    assert_eq!(error.to_string(), "BTF: type 2 at offset 0x24 refers to 1, which is a FUNC, not a type");

    let mut writer = Writer::new();
    writer.types.extend([77, 8 << 24, 0]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("names are checked when they are read");
    assert_eq!(btf.name(BtfTypeId(1)), None);
    let error = All::read(&btf).map(drop).expect_err("there is no such name");
    assert_eq!(error.to_string(), "BTF: type 1 at offset 0x18: name offset 0x4d lies outside the strings");
    let mut table = TypeTable::new(btf.target());
    let error = read(&btf, BtfTypeId(5), &mut table).expect_err("there is one type");
    assert_eq!(error.to_string(), "BTF: there is no type 5");
}

#[test]
fn cycles_end() {
    let mut writer = Writer::new();
    writer.record("a", 8, 0, false, 2, &[]);
    writer.record("b", 8, 0, false, 1, &[]);
    writer.record("", 3, 0, false, 0, &[3, 3, 2]);
    writer.structure("self", 8, false, &[("x", 4, 0), ("y", 1, 0)]);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    assert_eq!(btf.find("a"), []);
    let all = All::read(&btf).expect("every reference is to a type");
    let mut other = TypeTable::new(btf.target());
    let id = read(&btf, only(&btf, "self"), &mut other).expect("every reference is to a type");
    assert_eq!((all.table.size_of(all.ids[4]), other.size_of(id)), (8, 8));
    assert!(read(&btf, BtfTypeId(3), &mut other).is_ok());
}

#[test]
fn a_long_chain_does_not_exhaust_the_stack() {
    let mut writer = Writer::new();
    let count = 200_000;
    for id in 1..count {
        writer.types.extend([0, 10 << 24, id + 1]);
    }
    writer.int("int", 4, 1);
    let bytes = writer.bytes();
    let btf = btf::parse(&bytes, None).expect("well-formed");
    let mut table = TypeTable::new(btf.target());
    read(&btf, BtfTypeId(1), &mut table).expect("every reference is to a type");
    assert_eq!(table.len(), count as usize + 1);
}

#[test]
fn headers_that_lie_are_refused() {
    let good = fixture("x86_64.btf");
    let with = |at: usize, word: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        btf::parse(&bytes, None).map(drop).expect_err("refused").to_string()
    };
    let field = |at: usize| u64::from(u32::from_le_bytes(good[at..at + 4].try_into().expect("four bytes")));
    let (size, most) = (good.len(), u64::from(u32::MAX));
    let (types, strings) = ((24 + field(8), field(12)), (24 + field(16), field(20)));
    assert_eq!(with(0, 0x464c_457f), "BTF: magic 0x457f at offset 0 instead of 0xeb9f");
    assert_eq!(with(0, 0x0002_eb9f), "BTF: version 2 at offset 2, only version 1 is known");
    let too_short = |needed| format!("BTF: {size} bytes are too short for a header of {needed}");
    assert_eq!(with(4, 12), too_short(24));
    assert_eq!(with(4, u32::MAX), too_short(most));
    let outside = |section, (offset, len)| {
        format!("BTF: {section} section at {offset:#x} of {len} bytes does not fit the data of {size} bytes")
    };
    assert_eq!(with(8, u32::MAX), outside("type", (24 + most, types.1)));
    assert_eq!(with(12, u32::MAX), outside("type", (types.0, most)));
    assert_eq!(with(16, u32::MAX), outside("string", (24 + most, strings.1)));
    assert_eq!(with(20, u32::MAX), outside("string", (strings.0, most)));
    assert_eq!(with(8, 2), "BTF: type section at 0x1a: does not begin at a multiple of 4");
    assert!(btf::parse(&[], None).is_err());
    assert!(btf::parse(b"\x9f\xeb\x01", None).is_err());
}

#[test]
fn a_struct_may_not_claim_more_members_than_there_are_bytes() {
    let mut writer = Writer::new();
    writer.types.extend([0, 4 << 24 | 0x00ff_ffff, 8]);
    let error = btf::parse(&writer.bytes(), None).map(drop).expect_err("refused");
    let expected = "BTF: type 1 at offset 0x18: its record ends beyond the type section";
    assert_eq!(error.to_string(), expected);
}

/// Everything that can be asked of BTF, whatever it holds.
fn use_all(btf: &Btf<'_>) {
    let _ = All::read(btf);
    let mut table = TypeTable::new(btf.target());
    let mut reader = BtfReader::new(btf);
    for found in btf.definitions() {
        let _ = reader.read(found.id, &mut table);
        let _ = btf.find(&String::from_utf8_lossy(found.name));
    }
    for id in 0..table.len() as u32 {
        table.size_of(TypeId(id));
        table.align_of(TypeId(id));
    }
}

#[test]
fn every_cut_is_an_error() {
    for name in ["x86_64.btf", "ppc.btf"] {
        let bytes = fixture(name);
        for len in 0..bytes.len() {
            assert!(btf::parse(&bytes[..len], None).is_err(), "{name} cut to {len} bytes");
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    let (base_bytes, split_bytes) = (fixture("x86_64.btf"), fixture("module.btf"));
    let base = btf::parse(&base_bytes, None).expect("well-formed");
    for (bytes, base, step) in [(&base_bytes, None, 31), (&split_bytes, Some(&base), 1)] {
        for bit in (0..bytes.len() * 8).step_by(step) {
            let mut broken = bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            if let Ok(btf) = btf::parse(&broken, base) {
                use_all(&btf);
            }
        }
    }
}
