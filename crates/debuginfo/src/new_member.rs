//! A member a user declares, with size and alignment as the program's debug info has its type.

use crate::btf::{self, Btf, BtfKind};
use crate::dwarf::{DieRef, LazyDwarf, TypeReader};
use crate::types::{Types, strip_keyword};
use anyhow::{Context, Result, bail};
use fieldline_layout::spec::{Alignment, BaseType, Integer, Keyword, MemberSpec};
use fieldline_layout::types::{Aggregate, Base, Encoding, MemberDecl, PointerKind, Type};
use fieldline_layout::{Layout, Member, TypeId, TypeTable};

/// The member as [`fieldline_layout::abi`] takes it. `build_line` is the line size `____cacheline_aligned` means.
pub fn resolve(types: &Types<'_, '_>, spec: &MemberSpec, build_line: u64) -> Result<Member> {
    let (mut table, base) = resolve_base_type(types, spec)?;
    let ty = build_declared_type(&mut table, base, spec);
    if spec.bits.is_some() {
        check_bits(&table, base, spec)?;
    } else if table.size_of(ty) == 0 {
        bail!("{}: its type has no size, so it can stand anywhere", spec.name);
    }
    let align = spec.align.map(|align| match align {
        Alignment::Bytes(bytes) => bytes,
        Alignment::Cacheline => build_line,
    });
    let name = Some(spec.name.as_str().into());
    let member = MemberDecl { name, ty, bit_field: spec.bits, align, ..MemberDecl::default() };
    let (size, members) = (table.size_of(ty), vec![member]);
    let holder = table.push(Type::Aggregate(Aggregate { size, members, ..Aggregate::default() }));
    Layout::from_type(&table, holder)
        .and_then(|mut layout| layout.members.pop())
        .context("the member has no place")
}

/// The type behind pointers, arrays and a width.
fn build_declared_type(table: &mut TypeTable, base: TypeId, spec: &MemberSpec) -> TypeId {
    let mut ty = base;
    let size = u64::from(table.target.pointer_size);
    for _ in 0..spec.pointers {
        ty = table.push(Type::Pointer { kind: PointerKind::Pointer, target: ty, size });
    }
    if spec.dimensions.is_empty() {
        return ty;
    }
    let dimensions = spec.dimensions.iter().map(|count| Some(*count)).collect();
    table.push(Type::Array { element: ty, dimensions, is_vector: false })
}

/// A bit-field's type is an integer that holds it (C11 section 6.7.2.1).
fn check_bits(table: &TypeTable, base: TypeId, spec: &MemberSpec) -> Result<()> {
    let width = spec.bits.unwrap_or(0);
    let room = table.size_of(base).saturating_mul(8);
    let is_integer = matches!(table.get(table.strip(base)), Type::Base(_) | Type::Enum(_));
    if spec.is_pointer() || !spec.dimensions.is_empty() || !is_integer {
        bail!("{}: a bit-field is of an integer type", spec.name);
    }
    if width == 0 || width > room {
        bail!("{}: a bit-field of this type has 1 to {room} bits, not {width}", spec.name);
    }
    Ok(())
}

/// The type before the declarator, in a table of its own.
fn resolve_base_type(types: &Types<'_, '_>, spec: &MemberSpec) -> Result<(TypeTable, TypeId)> {
    match &spec.base {
        BaseType::Integer(integer) => Ok(integer_type(empty_table(types), *integer)),
        other if spec.is_pointer() => {
            // The type pointed to doesn't count, and need not be defined anywhere.
            let mut table = empty_table(types);
            let name = match other {
                BaseType::Tagged { keyword, tag } => format!("{keyword} {tag}"),
                BaseType::Named(name) => name.clone(),
                _ => return Ok((table, TypeId::VOID)),
            };
            let id = table.push(Type::Unspecified(name.into()));
            Ok((table, id))
        }
        BaseType::Tagged { keyword: Keyword::Enum, tag } => enumeration(types, tag),
        BaseType::Tagged { keyword, tag } => aggregate(types, *keyword, tag),
        BaseType::Named(name) => typedef(types, name),
        BaseType::Incomplete => bail!("{}: void is no member", spec.name),
    }
}

fn empty_table(types: &Types<'_, '_>) -> TypeTable {
    TypeTable::new(match types {
        Types::Dwarf { dwarf, .. } => TypeReader::new(dwarf.first_units()).table().target,
        Types::Btf { btf, .. } => btf.target(),
    })
}

fn integer_type(mut table: TypeTable, integer: Integer) -> (TypeTable, TypeId) {
    let (name, encoding) = match integer {
        Integer::Bool => ("_Bool", Encoding::Boolean),
        Integer::Char => ("char", Encoding::SignedChar),
        Integer::Short => ("short int", Encoding::Signed),
        Integer::Int => ("int", Encoding::Signed),
        Integer::Long => ("long int", Encoding::Signed),
        Integer::LongLong => ("long long int", Encoding::Signed),
        Integer::Int128 => ("__int128", Encoding::Signed),
    };
    let size = integer.size(u64::from(table.target.pointer_size));
    let id = table.push(Type::Base(Base { name: name.into(), size, encoding }));
    (table, id)
}

fn aggregate(types: &Types<'_, '_>, keyword: Keyword, tag: &str) -> Result<(TypeTable, TypeId)> {
    let tag = strip_keyword(tag);
    let mut entries = types.find(tag)?;
    entries.retain(|entry| !entry.is_typedef);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.units));
    let missing = || format!("{}: no {keyword} {tag}", types.file());
    let entry = entries.first().with_context(missing)?;
    match types {
        Types::Dwarf { dwarf, .. } => from_dwarf(dwarf, entry.die().with_context(missing)?),
        Types::Btf { btf, .. } => from_btf(btf, tag, BtfKind::is_aggregate).with_context(missing)?,
    }
}

fn typedef(types: &Types<'_, '_>, name: &str) -> Result<(TypeTable, TypeId)> {
    let missing = || format!("{}: no type '{name}' in its debug info", types.file());
    match types {
        Types::Dwarf { dwarf, .. } => {
            let die = dwarf.find_typedefs(&[name])?.pop().flatten().with_context(missing)?;
            from_dwarf(dwarf, die)
        }
        Types::Btf { btf, .. } => {
            from_btf(btf, name, |kind| kind == BtfKind::Typedef).with_context(missing)?
        }
    }
}

/// Enumerations are found in BTF only.
fn enumeration(types: &Types<'_, '_>, tag: &str) -> Result<(TypeTable, TypeId)> {
    let btf = match types {
        Types::Dwarf { companion_btf, .. } => *companion_btf,
        Types::Btf { btf, .. } => Some(*btf),
    };
    let is_enum = |kind| matches!(kind, BtfKind::Enum | BtfKind::Enum64);
    let found = btf.and_then(|btf| from_btf(btf, tag, is_enum));
    found.with_context(|| {
        let file = types.file();
        format!("{file}: no enum {tag} in its BTF; write the integer type it has, such as 'unsigned int'")
    })?
}

fn from_dwarf(dwarf: &LazyDwarf<'_>, die: DieRef) -> Result<(TypeTable, TypeId)> {
    let mut reader = TypeReader::new(dwarf.units_for_die(die)?);
    let id = reader.read(die)?;
    Ok((reader.into_table(), id))
}

/// The first type of a name; `None` if there is none.
fn from_btf(
    btf: &Btf<'_>,
    name: &str,
    wanted: impl Fn(BtfKind) -> bool + Copy,
) -> Option<Result<(TypeTable, TypeId)>> {
    let id = *btf.find_kind(name, wanted).first()?;
    let mut table = TypeTable::new(btf.target());
    let read = btf::BtfReader::new(btf).read(id, &mut table);
    Some(read.map(|id| (table, id)).with_context(|| name.to_owned()))
}
