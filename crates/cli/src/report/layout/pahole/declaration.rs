//! A type together with the name it declares, the type padded to its column.

use super::facts::is_union;
use super::printer::{Context, MAX_TEXT, Printer, Suffix};
use fieldline_layout::types::{AggregateKind, PointerKind, Prototype, Qualifier, Type, TypeId};

/// How deep declarations nest before corrupt debug info is assumed.
const MAX_DEPTH: u32 = 64;

impl<'t> Printer<'t> {
    /// Writes `type name`. Without a name a named struct, union or enum is written up to where the name goes.
    pub(super) fn declare(&mut self, id: TypeId, name: Option<Suffix<'t>>, context: Context<'t>) {
        let mut context = Context { depth: context.depth + 1, ..context };
        if context.depth > MAX_DEPTH || self.text.len() > MAX_TEXT {
            return self.text.push_str("…");
        }
        if is_tagged(self.table.get(id)) {
            context.suffix = name;
            context.with_sums = false;
        }
        self.declare_unwrapped(id, name, context);
    }

    fn declare_unwrapped(&mut self, id: TypeId, name: Option<Suffix<'t>>, mut context: Context<'t>) {
        let table = self.table;
        let mut id = id;
        // Ends at the first type that is neither qualifier nor tag.
        for _ in 0..64 {
            match table.get(id) {
                Type::Qualified { qualifier: qualifier @ (Qualifier::Const | Qualifier::Atomic), target } => {
                    let word = if *qualifier == Qualifier::Const { "const " } else { "_Atomic " };
                    self.text.push_str(word);
                    context.type_column -= word.len() as i64;
                    if *target == TypeId::VOID {
                        break;
                    }
                    id = *target;
                }
                Type::Tag { target, .. } => id = *target,
                _ => break,
            }
        }
        match table.get(id) {
            Type::Pointer { kind: PointerKind::Pointer, target, .. } => {
                self.declare_pointer(id, *target, name, context)
            }
            Type::Function(prototype) => self.declare_function(prototype, "", name, context),
            Type::Array { .. } => self.declare_array(id, name, context),
            ty if is_tagged(ty) => self.declare_tagged(id, name, context),
            _ => self.declare_plain(id, name, context),
        }
    }

    fn declare_plain(&mut self, id: TypeId, name: Option<Suffix<'t>>, context: Context<'t>) {
        let start = self.text.len();
        self.name(id);
        self.text.pad(start, context.type_column);
        self.text.push_str(" ");
        self.suffix_name(name);
    }

    /// A pointer to a function, to an anonymous struct (which is written out), or to anything else.
    fn declare_pointer(&mut self, id: TypeId, to: TypeId, name: Option<Suffix<'t>>, context: Context<'t>) {
        let to = self.untagged(to);
        match self.table.get(to) {
            Type::Function(prototype) => self.declare_function(prototype, "*", name, context),
            ty if is_tagged(ty) && tag_of(ty).is_none() => {
                let name = Some(Suffix { star: true, name: name.map_or("", |name| name.name) });
                let context = Context {
                    suffix: name,
                    with_sums: false,
                    is_relative: true,
                    type_column: context.type_column - 8,
                    ..context
                };
                self.declare_tagged(to, name, context);
            }
            _ => self.declare_plain(id, name, context),
        }
    }

    /// The type that tags such as `__rcu` annotate.
    fn untagged(&self, id: TypeId) -> TypeId {
        let mut id = id;
        for _ in 0..64 {
            match self.table.get(id) {
                Type::Tag { target, .. } => id = *target,
                _ => break,
            }
        }
        id
    }

    fn declare_function(
        &mut self,
        prototype: &'t Prototype,
        star: &str,
        name: Option<Suffix<'t>>,
        context: Context<'t>,
    ) {
        let start = self.text.len();
        self.name(prototype.returns);
        self.text.pad(start, context.type_column);
        self.text.push_all(&[" (", star]);
        self.suffix_name(name);
        self.text.push_str(")");
        self.parameters(prototype);
    }

    fn declare_array(&mut self, id: TypeId, name: Option<Suffix<'t>>, context: Context<'t>) {
        let Type::Array { element, dimensions, is_vector } = self.table.get(id) else { return };
        let is_empty = dimensions.first().is_some_and(|count| count.unwrap_or(0) == 0);
        let element = match self.table.get(*element) {
            Type::Qualified { qualifier: Qualifier::Const, target } if is_empty => *target,
            _ => *element,
        };
        self.declare(element, name, context);
        if *is_vector {
            let size = self.table.size_of(id);
            return self.text.put(format_args!(" __attribute__ ((__vector_size__ ({size})))"));
        }
        // `[]` can only be written where it can only stand: last, not alone, not in a union.
        let may_be_open = context.is_last && !context.is_first && !context.in_union;
        for count in dimensions {
            match count.unwrap_or(0) {
                0 if may_be_open => self.text.push_str("[]"),
                count => self.text.put(format_args!("[{}]", count & u64::from(u32::MAX))),
            }
        }
    }

    /// A struct, union or enum: by its tag, or written out if it has none.
    fn declare_tagged(&mut self, id: TypeId, name: Option<Suffix<'t>>, context: Context<'t>) {
        let table = self.table;
        let ty = table.get(id);
        if tag_of(ty).is_some() {
            let start = self.text.len();
            self.tagged_name(ty);
            // pahole reserves the width of `struct` for `class` too.
            let is_class = matches!(ty, Type::Aggregate(aggregate) if aggregate.kind == AggregateKind::Class);
            self.text.pad(start, context.type_column - i64::from(is_class));
            self.text.push_str(" ");
            return self.suffix_name(name);
        }
        let inner = Context { type_column: context.type_column - 8, ..context };
        match ty {
            // A qualified struct loses its name here, a qualified union does not.
            Type::Aggregate(aggregate) if is_union(aggregate) => {
                self.union_body(id, aggregate, Context { suffix: name, ..inner });
            }
            Type::Aggregate(aggregate) => self.struct_body(id, aggregate, inner),
            Type::Enum(enumeration) => self.enum_body(enumeration, context),
            _ => {}
        }
    }

    pub(super) fn suffix_name(&mut self, name: Option<Suffix<'t>>) {
        let Some(name) = name else { return };
        if name.star {
            self.text.push_str("* ");
        }
        self.text.push_str(name.name);
    }

    /// `typedef struct {...} name`, or just what a typedef of something named names.
    pub(super) fn typedef(&mut self, name: &'t str, target: TypeId, context: Context<'t>) {
        self.text.push_str("typedef ");
        let table = self.table;
        let suffix = Some(Suffix::new(name));
        let type_column = context.type_column - 8;
        let ty = table.get(target);
        match ty {
            _ if tag_of(ty).is_some() => self.typedef_plain(target, name),
            Type::Aggregate(aggregate) if is_union(aggregate) => {
                self.union_body(target, aggregate, Context { suffix, type_column, ..context });
            }
            Type::Aggregate(aggregate) => {
                self.struct_body(target, aggregate, Context { suffix, type_column, ..context });
            }
            Type::Enum(enumeration) => self.enum_body(enumeration, Context { suffix, ..context }),
            Type::Array { .. } => self.declare_array(target, suffix, context),
            Type::Function(prototype) => self.typedef_function(prototype, "", name, context),
            Type::Pointer { target: pointee, .. } => match table.get(*pointee) {
                Type::Function(prototype) => self.typedef_function(prototype, "*", name, context),
                _ => self.typedef_plain(target, name),
            },
            _ => self.typedef_plain(target, name),
        }
    }

    fn typedef_function(&mut self, function: &'t Prototype, star: &str, name: &'t str, context: Context<'t>) {
        let context = Context { type_column: 0, ..context };
        self.declare_function(function, star, Some(Suffix::new(name)), context);
    }

    fn typedef_plain(&mut self, target: TypeId, name: &str) {
        self.name(target);
        self.text.push_all(&[" ", name]);
    }
}

/// Whether a type is written out where it has no name.
pub(super) fn is_tagged(ty: &Type) -> bool {
    matches!(ty, Type::Aggregate(_) | Type::Enum(_))
}

/// The tag of a struct, union or enum.
pub(super) fn tag_of(ty: &Type) -> Option<&str> {
    match ty {
        Type::Aggregate(aggregate) => aggregate.name.as_deref(),
        Type::Enum(enumeration) => enumeration.name.as_deref(),
        _ => None,
    }
}
