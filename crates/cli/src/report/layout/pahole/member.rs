//! One member's line: cacheline boundary, declaration, and the comment with its place.

use super::declaration::{is_tagged, tag_of};
use super::facts::Placed;
use super::printer::{Context, Printer, Suffix};
use super::text::plural;
use fieldline_layout::types::{Aggregate, MemberDecl, Type};

/// Length of the attribute that a packed struct written out in place adds before the name, with pahole's
/// count of its terminating zero.
const PACKED_LEN: i64 = "__attribute__((__packed__))".len() as i64 + 1;

impl<'t> Printer<'t> {
    /// Writes a member of the struct or union at `context.base`, without indentation and newline.
    pub(super) fn member(
        &mut self,
        member: &'t MemberDecl,
        placed: &Placed,
        in_union: bool,
        context: Context<'t>,
    ) {
        let mut inner = context;
        let mut offset = placed.offset;
        if !context.is_relative {
            offset = offset.saturating_add(context.base);
            if !in_union {
                inner.base = offset;
            }
        }
        self.boundary(offset, context.indent);
        let start = self.text.len();
        if member.is_base {
            self.text.push_str("/* ");
        }
        if member.is_static {
            self.text.push_str("static ");
        }
        self.declared(member, inner);
        if placed.bits != 0 {
            self.text.push_str(":");
            self.text.number(placed.bits);
        }
        let align_start = self.text.len();
        if let Some(align) = placed.align {
            self.aligned_attribute(align);
        }
        let attribute = (self.text.len() - align_start) as i64;
        self.text.push_str(";");
        let ty = self.table.get(member.ty);
        let columns = context.type_column + context.name_column;
        let spaces = if is_tagged(ty) && tag_of(ty).is_none() {
            // After a closing brace only what follows it counts.
            let name = member.name.as_deref().map_or(-1, |name| name.len() as i64);
            let packed = self.packed_excess(member);
            (columns - (attribute + name + packed) - 3).abs()
        } else {
            let mut written = (self.text.len() - start) as i64;
            if member.is_base {
                self.text.push_str(" */");
                written += 3;
            }
            (columns - written).max(0)
        };
        self.text.spaces(usize::try_from(spaces.max(1)).unwrap_or(1));
        self.place_comment(offset, placed);
    }

    fn declared(&mut self, member: &'t MemberDecl, context: Context<'t>) {
        let name = if member.is_base { Some("<ancestor>") } else { member.name.as_deref() };
        let ty = self.table.get(member.ty);
        if !is_tagged(ty) {
            return self.declare(member.ty, Some(Suffix::new(name.unwrap_or(""))), context);
        }
        self.declare(member.ty, None, context);
        if let Some(name) = name {
            if tag_of(ty).is_none() {
                self.text.push_str(" ");
            }
            self.text.push_str(name);
        }
    }

    fn packed_excess(&mut self, member: &MemberDecl) -> i64 {
        match self.table.get(member.ty) {
            Type::Aggregate(aggregate) if self.is_packed(member.ty, aggregate) => PACKED_LEN,
            _ => 0,
        }
    }

    pub(super) fn aligned_attribute(&mut self, align: u64) {
        self.text.put(format_args!(" __attribute__((__aligned__({align})))"));
    }

    /// `/*    16: 3  4 */`
    fn place_comment(&mut self, offset: u64, placed: &Placed) {
        self.text.push_str("/* ");
        self.text.column(offset, 5);
        let mut width = 5;
        if placed.bits != 0 {
            self.text.push_str(":");
            self.text.column(placed.bit_in_unit, 2);
            width = 2;
        }
        self.text.push_str(" ");
        self.text.column(placed.size, width);
        self.text.push_str(" */");
    }

    /// Says that a cacheline begins, once, before the first member at or beyond its start.
    fn boundary(&mut self, offset: u64, indent: usize) {
        let size = u64::from(self.options.cacheline_size);
        let line = offset / size;
        if line <= self.cacheline {
            return;
        }
        self.cacheline = line;
        let past = offset % size;
        self.text.put(format_args!("/* --- cacheline {line} boundary ({} bytes)", offset - past));
        if past != 0 {
            self.text.put(format_args!(" was {past} byte{} ago", plural(past)));
        }
        self.text.push_str(" --- */\n");
        self.text.tabs(indent);
    }

    /// The members of a union, each on its line, each counting cachelines from the union's start.
    pub(super) fn union_members(&mut self, outer: &'t Aggregate, members: &[Placed], context: Context<'t>) {
        let line = self.cacheline;
        for (member, placed) in outer.members.iter().zip(members) {
            self.text.tabs(context.indent);
            self.member(member, placed, true, context);
            self.text.end_line();
            self.cacheline = line;
        }
    }
}
