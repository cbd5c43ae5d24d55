//! Types and declarations as C spells them.

use crate::types::{Enumeration, PointerKind, Prototype, Qualifier, Type, TypeId, TypeTable};
use std::borrow::Cow;

/// How deep declarators nest before they are cut with `…`, so that corrupt debug info ends.
const MAX_DEPTH: u32 = 32;
/// Types that one declaration names before it is cut likewise: with each function that takes functions they
/// may double.
const MAX_TYPES: u32 = 256;
/// Bytes of text for the types of one layout. The most that one of a kernel takes (Linux 6.12, x86-64) is 22
/// KB.
const MAX_TEXT: usize = 1 << 24;

/// The type alone: `struct list_head *`, `int[4]`, `void (*)(int)`.
pub fn type_name(table: &TypeTable, id: TypeId) -> String {
    declare(table, id, "")
}

/// A declaration of `name`: `struct list_head *next`, `int v[4]`, `void (*func)(int)`.
pub fn declare(table: &TypeTable, id: TypeId, name: &str) -> String {
    DeclarationPrinter { table, remaining: MAX_TYPES }.declarator(id, name.to_owned(), MAX_DEPTH)
}

/// Spells the types of one layout's members, at most so much: 65 536 members may be of types that each take
/// kilobytes.
pub(crate) struct TypeNames<'t> {
    table: &'t TypeTable,
    remaining: usize,
}

impl<'t> TypeNames<'t> {
    /// Names of a table's types.
    pub(crate) fn new(table: &'t TypeTable) -> Self {
        Self { table, remaining: MAX_TEXT }
    }

    /// The type alone, or `…` if others took all the room.
    pub(crate) fn get(&mut self, id: TypeId) -> String {
        if self.remaining == 0 {
            return "…".to_owned();
        }
        let name = type_name(self.table, id);
        self.remaining = self.remaining.saturating_sub(name.len());
        name
    }
}

/// Prints one declaration.
struct DeclarationPrinter<'t> {
    table: &'t TypeTable,
    /// Types that may still be named.
    remaining: u32,
}

impl DeclarationPrinter<'_> {
    fn declarator(&mut self, id: TypeId, inner: String, depth: u32) -> String {
        if depth == 0 || self.remaining == 0 {
            return join("…", &inner);
        }
        self.remaining -= 1;
        match self.table.get(id) {
            Type::Pointer { kind, target, .. } => {
                let sign = match kind {
                    PointerKind::Pointer | PointerKind::Member => "*",
                    PointerKind::Reference => "&",
                    PointerKind::RvalueReference => "&&",
                };
                let star = format!("{sign}{inner}");
                // Arrays and functions bind tighter.
                let inner = match self.table.get(*target) {
                    Type::Array { .. } | Type::Function(_) => format!("({star})"),
                    _ => star,
                };
                self.declarator(*target, inner, depth - 1)
            }
            Type::Qualified { qualifier, target } => self.qualified(*qualifier, *target, &inner, depth),
            Type::Tag { name, target } => self.declarator(*target, join(name, &inner), depth - 1),
            Type::Array { element, dimensions, .. } => {
                let mut inner = inner;
                for count in dimensions {
                    inner.push_str(&count.map_or_else(|| "[]".to_owned(), |count| format!("[{count}]")));
                }
                self.declarator(*element, inner, depth - 1)
            }
            Type::Function(prototype) => {
                let parameters = self.parameters(prototype, depth);
                self.declarator(prototype.returns, format!("{inner}({parameters})"), depth - 1)
            }
            other => join(&simple_name(other), &inner),
        }
    }

    /// `const` and friends stand before the type they qualify, except behind a pointer's star.
    fn qualified(&mut self, qualifier: Qualifier, target: TypeId, inner: &str, depth: u32) -> String {
        let word = match qualifier {
            Qualifier::Const => "const",
            Qualifier::Volatile => "volatile",
            Qualifier::Restrict => "restrict",
            Qualifier::Atomic => "_Atomic",
        };
        if matches!(self.table.get(target), Type::Pointer { .. }) {
            return self.declarator(target, join(word, inner), depth - 1);
        }
        format!("{word} {}", self.declarator(target, inner.to_owned(), depth - 1))
    }

    fn parameters(&mut self, prototype: &Prototype, depth: u32) -> String {
        let mut texts: Vec<String> = Vec::new();
        for (_, ty) in &prototype.parameters {
            if self.remaining == 0 {
                texts.push("…".to_owned());
                break;
            }
            texts.push(self.declarator(*ty, String::new(), depth - 1));
        }
        if prototype.variadic {
            texts.push("...".to_owned());
        }
        if texts.is_empty() { "void".to_owned() } else { texts.join(", ") }
    }
}

fn simple_name(ty: &Type) -> String {
    match ty {
        Type::Base(base) => base.name.to_string(),
        Type::Typedef { name, .. } | Type::Unspecified(name) => name.to_string(),
        Type::Aggregate(aggregate) => match &aggregate.name {
            Some(name) => format!("{} {name}", aggregate.kind),
            None => format!("{} {{…}}", aggregate.kind),
        },
        Type::Enum(Enumeration { name: Some(name), .. }) => format!("enum {name}"),
        Type::Enum(_) => "enum {…}".to_owned(),
        _ => "void".to_owned(),
    }
}

fn join(left: &str, right: &str) -> String {
    let tight = right.is_empty() || right.starts_with('[');
    if tight { format!("{left}{right}") } else { format!("{left} {right}") }
}

/// A type's name with arrays of arrays as one, `u64[2][6]` as `u64[12]`, and those of no element as of no
/// length, the way pahole writes them into BTF (`btf_encoder.c`), so that names from both kinds of debug info
/// can be compared.
pub fn flat_arrays(name: &str) -> Cow<'_, str> {
    if !name.contains("][") && !name.contains("[0]") {
        return Cow::Borrowed(name);
    }
    let mut flat = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find('[') {
        let (before, dimensions) = rest.split_at(start);
        let (dimensions, behind) = dimensions.split_at(dimensions_length(dimensions));
        flat.push_str(before);
        match elements(dimensions) {
            Some(0) => flat.push_str("[]"),
            Some(elements) => flat.push_str(&format!("[{elements}]")),
            None => flat.push_str(dimensions),
        }
        rest = behind;
    }
    flat.push_str(rest);
    Cow::Owned(flat)
}

/// Bytes that a run of array dimensions takes at the start of a text.
fn dimensions_length(text: &str) -> usize {
    let mut end = 0;
    while let Some(dimension) = text.get(end..).filter(|rest| rest.starts_with('[')) {
        match dimension.find(']') {
            Some(close) => end += close + 1,
            None => return text.len(),
        }
    }
    end
}

/// Elements of a run of dimensions, none if a length is missing, or `None` if they are too many.
fn elements(dimensions: &str) -> Option<u64> {
    let inner = dimensions.strip_prefix('[')?.strip_suffix(']')?;
    let length = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    inner.split("][").try_fold(1_u64, |product, text| product.checked_mul(length(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{pointer, signed};
    use crate::types::TargetMachine;

    #[test]
    fn functions_of_functions_are_cut_where_nobody_could_read_them() {
        let mut table = TypeTable::new(TargetMachine::default());
        let int = signed(&mut table, "int", 4);
        let mut last = int;
        for _ in 0..28 {
            let parameters = vec![(None, last); 8];
            last = table.push(Type::Function(Prototype { returns: int, parameters, variadic: false }));
        }
        let text = declare(&table, last, "it");
        assert!(text.len() < 64 * MAX_TYPES as usize && text.contains('…'), "{} bytes", text.len());
    }

    #[test]
    fn types_of_one_layout_take_bounded_room() {
        let mut table = TypeTable::new(TargetMachine::default());
        let name = "i".repeat(MAX_TEXT / 4);
        let int = signed(&mut table, &name, 4);
        let mut names = TypeNames::new(&table);
        let lengths: Vec<usize> = (0..6).map(|_| names.get(int).chars().count()).collect();
        assert_eq!(lengths, [MAX_TEXT / 4, MAX_TEXT / 4, MAX_TEXT / 4, MAX_TEXT / 4, 1, 1]);
    }

    #[test]
    fn declarators_nest_as_in_c() {
        let mut table = TypeTable::new(TargetMachine::default());
        let int = signed(&mut table, "int", 4);
        let array =
            table.push(Type::Array { element: int, dimensions: vec![Some(4), None], is_vector: false });
        let to_array = pointer(&mut table, array);
        let function =
            Type::Function(Prototype { returns: int, parameters: vec![(None, to_array)], variadic: true });
        let function = table.push(function);
        let to_function = pointer(&mut table, function);
        let qualified = table.push(Type::Qualified { qualifier: Qualifier::Const, target: to_function });
        assert_eq!(declare(&table, array, "v"), "int v[4][]");
        assert_eq!(type_name(&table, to_array), "int (*)[4][]");
        assert_eq!(declare(&table, qualified, "call"), "int (*const call)(int (*)[4][], ...)");
    }

    #[test]
    fn a_cycle_of_pointers_ends() {
        let mut table = TypeTable::new(TargetMachine::default());
        let id = table.push(Type::Void);
        table.set(id, Type::Pointer { kind: PointerKind::Pointer, target: id, size: 8 });
        assert!(type_name(&table, id).starts_with("… *"));
    }

    #[test]
    fn arrays_of_arrays_are_one() {
        let flat = |name| flat_arrays(name).into_owned();
        assert_eq!(flat("u64[2][6]"), "u64[12]");
        assert_eq!(flat("struct {…}[3]"), "struct {…}[3]");
        assert_eq!(flat("int (*[2][2])[4][3]"), "int (*[4])[12]");
        assert_eq!(flat("char[][8]"), "char[]");
        assert_eq!(flat("char[0]"), flat("char[]"));
        assert_eq!(flat("char[2][99999999999999999999]"), "char[2][99999999999999999999]");
        assert_eq!(flat("char[2][4"), "char[2][4");
    }
}
