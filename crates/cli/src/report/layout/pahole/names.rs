//! Types by name alone, as pahole spells them: `struct list_head *`, `const char  *`, `int ()(void *)`.

use super::printer::Printer;
use fieldline_layout::types::{
    AggregateKind, Base, Encoding, PointerKind, Prototype, Qualifier, Type, TypeId,
};

/// pahole builds a name in a buffer of 128 bytes, the last of them a zero, and cuts what doesn't fit.
const MAX_NAME: usize = 127;

/// How deep names nest before corrupt debug info is assumed.
const MAX_DEPTH: u32 = 32;

impl Printer<'_> {
    /// Writes a type's name, cut to what pahole has room for.
    pub(super) fn name(&mut self, id: TypeId) {
        self.bounded_name(id, MAX_NAME, MAX_DEPTH);
    }

    fn bounded_name(&mut self, id: TypeId, max: usize, depth: u32) {
        let start = self.text.len();
        self.plain_name(id, max, depth);
        self.text.cut(start, max);
    }

    fn plain_name(&mut self, id: TypeId, max: usize, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return self.text.push_str("…") };
        match self.table.get(id) {
            Type::Void => self.text.push_str("void"),
            Type::Base(base) => self.base_name(base),
            Type::Pointer { kind, target, .. } => self.pointer_name(*kind, *target, max, depth),
            Type::Qualified { qualifier, target } => self.qualified_name(*qualifier, *target, max, depth),
            Type::Tag { target, .. } => self.bounded_name(*target, max, depth),
            Type::Typedef { name, .. } => self.text.push_str(name),
            // The dimensions are left out, also behind a pointer.
            Type::Array { element, .. } => self.bounded_name(*element, max, depth),
            ty @ (Type::Aggregate(_) | Type::Enum(_)) => self.tagged_name(ty),
            Type::Function(prototype) => self.prototype(prototype, "", "", max, depth),
            // A type without structure (`decltype(nullptr)`) refers to no type and so is called void.
            Type::Unspecified(_) => self.text.push_str("void "),
        }
    }

    /// `struct name`; the tag of one that has none is left out.
    pub(super) fn tagged_name(&mut self, ty: &Type) {
        let (keyword, tag) = match ty {
            Type::Aggregate(aggregate) => (keyword(aggregate.kind), &aggregate.name),
            Type::Enum(enumeration) => ("enum", &enumeration.name),
            _ => return,
        };
        self.text.push_all(&[keyword, " ", tag.as_deref().unwrap_or("")]);
    }

    fn base_name(&mut self, base: &Base) {
        // BTF tells floats from integers but not how wide they are meant to be; pahole calls them all single.
        if self.options.from_btf && base.encoding == Encoding::Float {
            self.text.push_str("single ");
        }
        self.text.push_str(if base.name.is_empty() { "nameless base type!" } else { &base.name });
    }

    fn pointer_name(&mut self, kind: PointerKind, target: TypeId, max: usize, depth: u32) {
        let sign = match kind {
            PointerKind::Pointer => "*",
            PointerKind::Reference => "&",
            // pahole has no spelling for `T &&`, and writes nothing at all.
            PointerKind::RvalueReference => return,
            PointerKind::Member => "::*",
        };
        let (target, constant) = match self.table.get(target) {
            Type::Qualified { qualifier: Qualifier::Const, target } if self.is_pointer(*target) => {
                (*target, "const ")
            }
            _ => (target, ""),
        };
        self.bounded_name(target, max, depth);
        self.text.push_all(&[" ", constant, sign]);
    }

    fn is_pointer(&self, id: TypeId) -> bool {
        matches!(self.table.get(id), Type::Pointer { kind: PointerKind::Pointer, .. })
    }

    /// A qualified name ends with a space, so that `const char` behind a pointer is `const char  *`.
    fn qualified_name(&mut self, qualifier: Qualifier, target: TypeId, max: usize, depth: u32) {
        let (before, after) = match qualifier {
            Qualifier::Const => ("const ", ""),
            Qualifier::Volatile => ("volatile ", ""),
            Qualifier::Restrict => ("", " restrict"),
            Qualifier::Atomic => ("_Atomic ", ""),
        };
        self.text.push_str(before);
        self.bounded_name(target, max.min(MAX_NAME), depth);
        self.text.push_all(&[after, " "]);
    }

    /// `int (*name)(void *)`
    fn prototype(&mut self, prototype: &Prototype, star: &str, name: &str, max: usize, depth: u32) {
        self.bounded_name(prototype.returns, max.min(MAX_NAME), depth);
        self.text.push_all(&[" (", star, name, ")"]);
        self.parameters_within(prototype, max, depth);
    }

    /// `(int, struct page *, ...)`.
    pub(super) fn parameters(&mut self, prototype: &Prototype) {
        self.parameters_within(prototype, usize::MAX, MAX_DEPTH);
    }

    fn parameters_within(&mut self, prototype: &Prototype, max: usize, depth: u32) {
        let start = self.text.len();
        self.text.push_str("(");
        for (index, (name, ty)) in prototype.parameters.iter().enumerate() {
            // What lies beyond the cut need not be spelled, or nested prototypes could grow without bound.
            if self.text.len() - start > max.min(super::printer::MAX_DECLARATION) {
                return;
            }
            if index > 0 {
                self.text.push_str(", ");
            }
            self.parameter(name.as_deref(), *ty, max, depth);
        }
        self.text.push_str(match (prototype.parameters.is_empty(), prototype.variadic) {
            (true, _) => "void)",
            (false, true) => ", ...)",
            (false, false) => ")",
        });
    }

    fn parameter(&mut self, name: Option<&str>, ty: TypeId, max: usize, depth: u32) {
        let pointee = match self.table.get(ty) {
            Type::Pointer { kind: PointerKind::Pointer, target, .. } => *target,
            _ => ty,
        };
        if let Type::Function(inner) = self.table.get(pointee)
            && let Some(depth) = depth.checked_sub(1)
        {
            let star = if pointee == ty { "" } else { "*" };
            return self.prototype(inner, star, name.unwrap_or(""), max, depth);
        }
        self.bounded_name(ty, max.min(MAX_NAME), depth);
        if let Some(name) = name {
            self.text.push_all(&[" ", name]);
        }
    }
}

/// The word before a tag.
pub(super) fn keyword(kind: AggregateKind) -> &'static str {
    match kind {
        AggregateKind::Struct => "struct",
        AggregateKind::Union => "union",
        AggregateKind::Class => "class",
    }
}
