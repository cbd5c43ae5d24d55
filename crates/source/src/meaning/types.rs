//! Types as declarations spell them, and all declarations that are known.

use super::macros::Macros;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Type<'t> {
    /// Nothing is known of it.
    #[default]
    Unknown,
    Void,
    /// `char` and its kin: any object's bytes may be looked at by it.
    Byte,
    /// A number, by its first word, and its size in bytes where all machines agree.
    Number(&'t [u8], u8),
    /// A name that is, perhaps, a typedef's.
    Named(&'t [u8]),
    Record(&'t [u8]),
    Pointer(Arc<Self>),
    Array(Arc<Self>, Option<u64>),
    /// A function, by what it returns.
    Function(Arc<Self>),
}

impl<'t> Type<'t> {
    pub(super) fn pointer(self) -> Self {
        Self::Pointer(Arc::new(self))
    }

    /// The type that a pointer points to, or that an array consists of.
    pub(super) fn element(&self) -> Option<&Self> {
        match self {
            Self::Pointer(inner) | Self::Array(inner, _) => Some(inner),
            _ => None,
        }
    }
}

/// A member of a struct; those of unnamed ones inside stand among the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Member<'t> {
    pub(super) name: &'t [u8],
    pub(super) ty: Type<'t>,
    /// In C++, the words and signs of its type.
    pub(super) words: Vec<&'t [u8]>,
    /// Of a bit-field, its bits, if a number says so.
    pub(super) bits: Option<u32>,
    /// Whether it is volatile itself, rather than what it points to.
    pub(super) is_volatile: bool,
}

/// A struct, class or union.
#[derive(Clone, Debug, Default)]
pub(super) struct Record<'t> {
    pub(super) members: Vec<Member<'t>>,
    pub(super) is_union: bool,
    /// Its attributes, or lines around it, leave no room between members.
    pub(super) is_packed: bool,
    /// Whether a base class comes first.
    pub(super) has_base: bool,
    /// Whether a constructor is declared: lists are arguments.
    pub(super) has_constructor: bool,
    /// Whether a constructor is declared whose body stands elsewhere.
    pub(super) is_made_elsewhere: bool,
    /// Members with defaults.
    pub(super) defaults: Vec<DefaultValue<'t>>,
    /// Whether an assignment of its own is declared.
    pub(super) has_copy: bool,
    /// Whether a destructor does something.
    pub(super) has_destructor: bool,
    /// Whether it has its own storage, by `operator new`.
    pub(super) has_storage: bool,
    /// Whether it gives back its own storage, by `operator delete`.
    pub(super) has_release: bool,
    pub(super) line: u32,
}

/// The default of a member.
#[derive(Clone, Debug, Default)]
pub(super) struct DefaultValue<'t> {
    /// The member.
    pub(super) member: &'t [u8],
    /// Whether it changes something itself, or numbers what it stands in.
    pub(super) changes: bool,
    /// Names of what it calls.
    pub(super) calls: Vec<&'t [u8]>,
    /// Whether it reads anything but literals.
    pub(super) reads: bool,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(super) struct Function<'t> {
    pub(super) returns: Type<'t>,
    pub(super) parameters: Vec<(Option<&'t [u8]>, Type<'t>)>,
    /// Whether its body is known.
    pub(super) is_defined: bool,
    /// The file that alone knows it, if it is static.
    pub(super) home: Option<usize>,
}

/// A member of a struct that is looked at, as the compiler has placed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetMember {
    /// Names that code has for it: of unnamed ones those inside.
    pub names: Vec<String>,
    /// Offset in bytes.
    pub offset: u64,
    /// Size in bytes; 0 for a flexible array.
    pub size: u64,
}

/// A struct whose uses are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetStruct {
    /// Its tag, or the name of its typedef.
    pub name: String,
    /// The file that defines it, from the top of the tree.
    pub file: String,
    /// Its members in declared order.
    pub members: Vec<TargetMember>,
    /// Its size in bytes.
    pub size: u64,
}

impl TargetStruct {
    /// The number of the member that a name is one of.
    pub(super) fn number(&self, name: &[u8]) -> Option<usize> {
        let is_named = |member: &TargetMember| member.names.iter().any(|own| own.as_bytes() == name);
        self.members.iter().position(is_named)
    }

    pub(super) fn member(&self, name: &[u8]) -> Option<&TargetMember> {
        self.members.get(self.number(name)?)
    }

    /// The name of a member by its number.
    pub(super) fn label(&self, number: usize) -> Option<&String> {
        self.members.get(number)?.names.first()
    }
}

/// Declarations by their names: a file's own, and those it shares with others.
#[derive(Clone, Debug)]
pub(super) struct Table<'t, V> {
    pub(super) own: FxHashMap<&'t [u8], V>,
    pub(super) shared: Arc<FxHashMap<&'t [u8], V>>,
}

impl<V> Default for Table<'_, V> {
    fn default() -> Self {
        Self { own: FxHashMap::default(), shared: Arc::default() }
    }
}

impl<'t, V> Table<'t, V> {
    pub(super) fn get(&self, name: &[u8]) -> Option<&V> {
        self.own.get(name).or_else(|| self.shared.get(name))
    }

    /// A name as it is kept.
    pub(super) fn name(&self, name: &[u8]) -> Option<&'t [u8]> {
        let found = self.own.get_key_value(name).or_else(|| self.shared.get_key_value(name));
        found.map(|(name, _)| *name)
    }

    pub(super) fn contains_key(&self, name: &[u8]) -> bool {
        self.own.contains_key(name) || self.shared.contains_key(name)
    }

    /// Shares all that is known with others.
    pub(super) fn share(&mut self) {
        self.shared = Arc::new(std::mem::take(&mut self.own));
    }
}

/// All declarations that a file knows.
#[derive(Clone, Debug, Default)]
pub(super) struct World<'t> {
    pub(super) typedefs: Table<'t, Type<'t>>,
    pub(super) records: Table<'t, Record<'t>>,
    /// Tags that are declared and, perhaps, defined nowhere.
    pub(super) declared: Arc<FxHashSet<&'t [u8]>>,
    pub(super) functions: Table<'t, Function<'t>>,
    pub(super) globals: Table<'t, Type<'t>>,
    pub(super) macros: Arc<Macros<'t>>,
    pub(super) subjects: Arc<FxHashMap<&'t [u8], usize>>,
    /// Members of structs that have a subject's type, by their names.
    pub(super) holders: Arc<FxHashMap<&'t [u8], Type<'t>>>,
    /// Whether all code is read: what isn't defined there is opaque.
    pub(super) is_complete: bool,
    /// Whether no header of the system that a file includes is another library's than C's.
    pub(super) has_only_c_library: bool,
    /// Whether a file is C++.
    pub(super) has_cpp: bool,
    /// Whether the program has its own `operator new` or `operator delete` for all types.
    pub(super) replaces_storage: bool,
    /// Names that assembler code says.
    pub(super) assembler: Arc<FxHashSet<&'t [u8]>>,
    /// Words behind the bodies of several structs.
    pub(super) after_bodies: Arc<FxHashSet<&'t [u8]>>,
    /// In C++, the names of enums.
    pub(super) enums: Arc<FxHashSet<&'t [u8]>>,
    /// Names of templates; of operators their signs.
    pub(super) templates: Arc<FxHashSet<&'t [u8]>>,
}

/// Most typedefs on the way to a type.
const DEEPEST: usize = 16;

impl<'t> World<'t> {
    /// The type behind typedefs.
    pub(super) fn resolve(&self, ty: &Type<'t>) -> Type<'t> {
        let mut ty = ty;
        for _ in 0..DEEPEST {
            let Type::Named(name) = ty else { break };
            match self.typedefs.get(name) {
                Some(next) => ty = next,
                None if self.records.contains_key(name) || self.subjects.contains_key(name) => {
                    return Type::Record(name);
                }
                None => return fixed_width(name).unwrap_or_else(|| ty.clone()),
            }
        }
        ty.clone()
    }

    /// The type that a pointer points to, typedefs resolved.
    pub(super) fn pointee(&self, ty: &Type<'t>) -> Option<Type<'t>> {
        Some(self.resolve(self.resolve(ty).element()?))
    }

    pub(super) fn subject(&self, record: &[u8]) -> Option<usize> {
        self.subjects.get(record).copied()
    }

    /// The type of a record's member.
    pub(super) fn member(&self, record: &[u8], name: &[u8]) -> Option<Type<'t>> {
        let mut left = vec![(record, 0)];
        while let Some((record, depth)) = left.pop() {
            let Some(known) = self.records.get(record) else { continue };
            if let Some(member) = known.members.iter().find(|member| member.name == name) {
                return Some(member.ty.clone());
            }
            // Members of what it is derived from.
            let bases = known.members.iter().filter(|member| member.name.is_empty() && depth < DEEPEST);
            left.extend(bases.filter_map(|member| match self.resolve(&member.ty) {
                Type::Record(base) => Some((base, depth + 1)),
                _ => None,
            }));
        }
        None
    }

    /// Whether a record begins with another, through any number of first members.
    pub(super) fn begins_with(&self, record: &[u8], wanted: &[u8]) -> bool {
        let mut record = record;
        for _ in 0..DEEPEST {
            let Some(known) = self.records.get(record) else { return false };
            if known.is_union && known.members.iter().any(|member| self.holds(&member.ty, wanted)) {
                return true;
            }
            let Some(first) = known.members.first() else { return false };
            let mut ty = self.resolve(&first.ty);
            while let Type::Array(inner, _) = &ty {
                ty = self.resolve(inner);
            }
            let Type::Record(name) = ty else { return false };
            if name == wanted {
                return true;
            }
            record = name;
        }
        false
    }

    /// The record that a record begins with.
    pub(super) fn first_record(&self, record: &[u8]) -> Option<&'t [u8]> {
        let first = self.records.get(record).filter(|known| !known.is_union)?.members.first()?;
        let mut ty = self.resolve(&first.ty);
        while let Type::Array(inner, _) = &ty {
            ty = self.resolve(inner);
        }
        match ty {
            Type::Record(name) if name != record => Some(name),
            _ => None,
        }
    }

    /// Whether a class is derived from a record: its members stand behind those of the record, and in the padding there.
    pub(super) fn has_derived(&self, record: &[u8]) -> bool {
        let is_base = |member: &Member<'t>| member.name.is_empty() && self.holds(&member.ty, record);
        // What a base class is made of by a template is none.
        let is_derived = |(name, known): (&&'t [u8], &Record<'t>)| {
            *name != record && known.has_base && known.members.iter().any(is_base)
        };
        self.has_cpp && self.records.own.iter().chain(self.records.shared.iter()).any(is_derived)
    }

    fn holds(&self, ty: &Type<'t>, wanted: &[u8]) -> bool {
        matches!(self.resolve(ty), Type::Record(name) if name == wanted)
    }

    /// How many members two records begin with alike.
    pub(super) fn common_prefix(&self, first: &[u8], second: &[u8]) -> Option<usize> {
        let (first, second) = (self.records.get(first)?, self.records.get(second)?);
        let mut pairs = first.members.iter().zip(&second.members);
        let is_same_kind =
            |(single, other): &(&Member<'t>, &Member<'t>)| self.is_same_kind(&single.ty, &other.ty, DEEPEST);
        Some(pairs.by_ref().take_while(is_same_kind).count())
    }

    pub(super) fn is_same_kind(&self, first: &Type<'t>, second: &Type<'t>, depth: usize) -> bool {
        let (first, second) = (self.resolve(first), self.resolve(second));
        match (&first, &second) {
            (Type::Pointer(_), Type::Pointer(_)) => true,
            (Type::Array(single, count), Type::Array(other, number)) => {
                count == number && depth > 0 && self.is_same_kind(single, other, depth - 1)
            }
            (Type::Number(_, single), Type::Number(_, other)) => single == other,
            (Type::Unknown, _) | (_, Type::Unknown) => true,
            _ => first == second,
        }
    }

    /// The size of a type in bytes, if all machines agree on it.
    pub(super) fn size(&self, ty: &Type<'t>) -> Option<u64> {
        match self.resolve(ty) {
            Type::Byte => Some(1),
            Type::Number(_, size) if size > 0 => Some(size.into()),
            Type::Pointer(_) => Some(8),
            Type::Array(inner, Some(count)) => self.size(&inner)?.checked_mul(count),
            _ => None,
        }
    }

    /// Bytes that a type's place is a multiple of; 1 if not all of it is known.
    pub(super) fn alignment(&self, ty: &Type<'t>) -> u64 {
        match innermost(self, ty) {
            Type::Number(_, size) => u64::from(size.min(16)).max(1),
            Type::Pointer(_) => 8,
            Type::Record(record) => self.extent(record).map_or(1, |known| known.alignment),
            _ => 1,
        }
    }
}

/// The numbers that standard headers and kernels name by width.
pub(super) fn fixed_width<'t>(name: &'t [u8]) -> Option<Type<'t>> {
    let plain = name.strip_suffix(b"_t").unwrap_or(name);
    let plain = plain.strip_prefix(b"__").unwrap_or(plain);
    let size = match plain {
        b"u8" | b"s8" | b"uint8" | b"int8" | b"uchar" | b"u_char" | b"byte" | b"Byte" | b"Bytef" => {
            return Some(Type::Byte);
        }
        b"u16" | b"s16" | b"uint16" | b"int16" | b"ushort" | b"le16" | b"be16" | b"in_port" => 2,
        b"u32" | b"s32" | b"uint32" | b"int32" | b"uint" | b"u_int" | b"le32" | b"be32" | b"pid" | b"uid"
        | b"gid" | b"in_addr" | b"mode" | b"wchar" => 4,
        b"u64" | b"s64" | b"uint64" | b"int64" | b"size" | b"ssize" | b"uintptr" | b"intptr" | b"ptrdiff"
        | b"off" | b"time" | b"le64" | b"be64" | b"ulong" | b"u_long" | b"intmax" | b"uintmax" | b"loff"
        | b"off64" => 8,
        b"bool" | b"_Bool" => 1,
        _ => return None,
    };
    Some(Type::Number(name, size))
}

/// An array as the pointer it becomes.
pub(super) fn decayed<'t>(ty: &Type<'t>) -> Type<'t> {
    match ty {
        Type::Array(inner, _) => Type::Pointer(inner.clone()),
        other => other.clone(),
    }
}

pub(super) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// A type for messages.
pub(super) fn spell(ty: &Type<'_>) -> String {
    match ty {
        Type::Byte => "bytes".to_owned(),
        Type::Number(name, _) | Type::Named(name) => lossy(name),
        Type::Record(name) => format!("struct {}", lossy(name)),
        Type::Pointer(_) => "a pointer".to_owned(),
        _ => "another type".to_owned(),
    }
}

/// The type that an array of arrays consists of.
pub(super) fn innermost<'t>(world: &World<'t>, ty: &Type<'t>) -> Type<'t> {
    let mut ty = world.resolve(ty);
    while let Type::Array(inner, _) = &ty {
        ty = world.resolve(inner);
    }
    ty
}
