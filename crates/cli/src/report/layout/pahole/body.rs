//! Structs, unions and enums written out.

use super::declaration::tag_of;
use super::facts::{Facts, Gap, Placed, is_union};
use super::names::keyword;
use super::printer::{Context, MAX_TEXT, Printer, Suffix};
use super::text::plural;
use super::trailer::Sums;
use fieldline_layout::types::{Aggregate, Enumeration, MemberDecl, Type, TypeId};

/// The lines of a struct's members, as far as one depends on those before.
struct Lines<'f> {
    facts: &'f Facts,
    sums: Sums,
    /// Whether an empty line is due before the next member, after a comment.
    blank: bool,
    last: Option<Placed>,
    /// Size of the storage that the last members share.
    last_size: u64,
}

impl<'t> Printer<'t> {
    pub(super) fn union_body(&mut self, id: TypeId, aggregate: &'t Aggregate, context: Context<'t>) {
        self.text.push_str("union");
        self.tag(aggregate.name.as_deref());
        self.text.push_str(" {\n");
        self.mark_in_union(id, aggregate);
        let facts = self.facts(id, aggregate);
        let inner = Context { indent: context.indent + 1, in_union: true, ..context };
        self.union_members(aggregate, &facts.members, inner);
        self.text.indented(context.indent, "}");
        self.after_brace(context.suffix);
    }

    pub(super) fn enum_body(&mut self, enumeration: &'t Enumeration, context: Context<'t>) {
        self.text.push_str("enum");
        self.tag(enumeration.name.as_deref());
        if enumeration.values.is_empty() {
            return;
        }
        self.text.push_str(" {\n");
        let width = enumeration.values.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in &enumeration.values {
            self.text.indented(context.indent, "\t");
            let start = self.text.len();
            self.text.push_str(name);
            self.text.pad(start, width as i64);
            self.text.push_str(" = ");
            match i64::try_from(*value) {
                Ok(value) => self.text.put(format_args!("{value},\n")),
                Err(_) => self.text.put(format_args!("{},\n", *value as u64)),
            }
        }
        self.text.indented(context.indent, "}");
        if enumeration.size != 4 {
            self.text.push_str(" __attribute__((__packed__))");
        }
        self.after_brace(context.suffix);
    }

    pub(super) fn struct_body(&mut self, id: TypeId, aggregate: &'t Aggregate, context: Context<'t>) {
        let facts = self.facts(id, aggregate);
        self.text.push_str(keyword(aggregate.kind));
        let is_packed = self.is_packed(id, aggregate);
        self.tag(aggregate.name.as_deref());
        self.bases(aggregate);
        self.text.push_str(" {\n");
        let inner = Context { indent: context.indent + 1, ..context };
        let mut lines =
            Lines { facts: &facts, sums: Sums::default(), blank: false, last: None, last_size: 0 };
        self.gap_comments(facts.before, ("", "\n"), &mut lines, inner);
        let count = aggregate.members.len();
        for (index, (member, placed)) in aggregate.members.iter().zip(&facts.members).enumerate() {
            if self.text.len() > MAX_TEXT {
                break;
            }
            let inner = Context { is_last: index + 1 == count, is_first: lines.last.is_none(), ..inner };
            self.struct_member(member, placed, &mut lines, inner);
        }
        if !self.options.from_btf {
            self.forced_padding(aggregate, &lines, inner);
        }
        if context.with_sums {
            self.trailer(aggregate, &facts, &lines.sums, inner);
        }
        self.text.indented(context.indent, "}");
        if is_packed {
            self.text.push_str(" __attribute__((__packed__))");
        }
        self.after_brace(context.suffix);
        // A packed struct's alignment is that of its packing, which is said already.
        if let Some(align) = facts.align.filter(|_| !is_packed) {
            self.aligned_attribute(align);
        }
    }

    fn tag(&mut self, tag: Option<&str>) {
        if let Some(tag) = tag {
            self.text.push_all(&[" ", tag]);
        }
    }

    /// ` : Base, Other`
    fn bases(&mut self, aggregate: &'t Aggregate) {
        let table = self.table;
        let mut separator = " : ";
        for base in aggregate.members.iter().filter(|member| member.is_base) {
            let tag = tag_of(table.get(base.ty)).unwrap_or("");
            self.text.push_all(&[std::mem::replace(&mut separator, ", "), tag]);
        }
    }

    fn after_brace(&mut self, suffix: Option<Suffix<'t>>) {
        if suffix.is_some() {
            self.text.push_str(" ");
            self.suffix_name(suffix);
        }
    }

    fn struct_member(
        &mut self,
        member: &'t MemberDecl,
        placed: &Placed,
        lines: &mut Lines<'_>,
        context: Context<'t>,
    ) {
        if placed.align.is_some() {
            let gap = lines.last.map_or(lines.facts.before, |last| last.after);
            lines.sums.count_alignment(gap.bytes);
        }
        if let Some(last) = lines.last.filter(|_| !member.is_base && lines.last_size != 0) {
            self.separator(member, placed, &last, lines, context);
        }
        if std::mem::take(&mut lines.blank) {
            self.text.end_line();
        }
        self.text.tabs(context.indent);
        self.member(member, placed, false, context);
        self.embedded_comment(member, lines, context);
        self.gap_comments(placed.after, ("\n", ""), lines, context);
        self.text.end_line();
        let mut taken = *placed;
        if member.is_base && placed.after.bytes < 0 {
            // What follows lies in the padding of the base.
            taken.size = placed.size.saturating_add_signed(placed.after.bytes);
        }
        lines.sums.count_member(&taken);
        lines.note_member(&taken);
    }

    /// The text between two members: the bits an unnamed bit-field must have taken, and comments on
    /// bit-fields that share bytes with other members.
    fn separator(
        &mut self,
        member: &'t MemberDecl,
        placed: &Placed,
        last: &Placed,
        lines: &mut Lines<'_>,
        context: Context<'t>,
    ) {
        if last.after.bits != 0 && placed.bits != 0 {
            let mut bits = last.after.bits;
            if last.offset != placed.offset {
                self.text.end_line();
                self.text.indented(context.indent, "/* Force alignment to the next boundary: */\n");
                bits = 0;
            }
            self.text.tabs(context.indent);
            self.unnamed_bits(member.ty, bits, context);
        }
        let combined_with = match placed.offset.checked_sub(last.offset) {
            None => "previous",
            Some(0) if last.bits == 0 && placed.bits != 0 => "previous",
            Some(distance) if distance > 0 && distance < lines.last_size => "next",
            _ => return,
        };
        self.blank_once(lines);
        self.text.tabs(context.indent);
        self.text.put(format_args!("/* Bitfield combined with {combined_with} fields */\n"));
    }

    /// `int                        :3;`
    fn unnamed_bits(&mut self, ty: TypeId, bits: i64, context: Context<'t>) {
        self.declare(ty, Some(Suffix::new("")), context);
        self.text.put(format_args!(":{bits};\n"));
    }

    /// Writes the comment on holes and padding in a struct held by value.
    fn embedded_comment(&mut self, member: &'t MemberDecl, lines: &mut Lines<'_>, context: Context<'t>) {
        let table = self.table;
        let Type::Aggregate(held) = table.get(member.ty) else { return };
        if is_union(held) {
            return;
        }
        let facts = self.facts(member.ty, held);
        self.is_packed(member.ty, held);
        let flexible = self.ends_flexible(held);
        let embedded = self.embeds_flexible(member.ty, held);
        let describe_count = |count: i64, unit: &str, what: &str| {
            (count != 0).then(|| format!(" {count} {unit}{}{what}", plural(count.unsigned_abs())))
        };
        let parts = [
            flexible.then(|| " a flexible array".to_owned()),
            embedded.then(|| " embedded flexible array(s)".to_owned()),
            describe_count(facts.padding, "byte", " of padding"),
            describe_count(facts.bit_padding, "bit", " of padding"),
            describe_count(facts.holes as i64, "hole", ""),
            describe_count(facts.bit_holes as i64, "bit hole", ""),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            return;
        }
        self.blank_once(lines);
        self.text.end_line();
        self.text.tabs(context.indent);
        self.text.put(format_args!("/* XXX last struct has{} */", parts.join(",")));
        lines.sums.flexible += u64::from(flexible);
        lines.sums.embedded_flexible += u64::from(embedded);
        lines.sums.count_embedded(&facts);
    }

    /// Writes comments on unused bytes and bits before the first or between two members, each between two
    /// texts.
    fn gap_comments(&mut self, gap: Gap, around: (&str, &str), lines: &mut Lines<'_>, context: Context<'t>) {
        let Gap { bytes, bits } = gap;
        let gaps = [(bits, "bit"), (bytes.max(0), "byte")];
        for (size, unit) in gaps.into_iter().filter(|(size, _)| *size != 0) {
            self.blank_once(lines);
            self.text.push_str(around.0);
            self.text.tabs(context.indent);
            let s = plural(size.unsigned_abs());
            self.text.put(format_args!("/* XXX {size} {unit}{s} hole, try to pack */{}", around.1));
        }
        lines.sums.bit_holes = lines.sums.bit_holes.saturating_add(bits);
        lines.sums.holes = lines.sums.holes.saturating_add(bytes.max(0));
    }

    fn blank_once(&mut self, lines: &mut Lines<'_>) {
        if !std::mem::replace(&mut lines.blank, true) {
            self.text.end_line();
        }
    }

    /// Unnamed bit-fields that would give the struct its size, where neither an alignment nor the members do.
    fn forced_padding(&mut self, aggregate: &'t Aggregate, lines: &Lines<'_>, context: Context<'t>) {
        let padding = lines.facts.padding;
        let last = aggregate.members.iter().rev().find(|member| !member.is_base);
        let Some(last) = last.filter(|_| lines.last.is_some() && padding > 0 && lines.facts.align.is_none())
        else {
            return;
        };
        let size = self.size(last.ty);
        if !size.is_power_of_two() || padding <= i64::from(self.table.target.pointer_size) {
            return;
        }
        self.text.end_line();
        self.text.indented(context.indent, "/* Force padding: */\n");
        let mut added = 0;
        while added < padding.unsigned_abs() && self.text.len() <= MAX_TEXT {
            self.text.tabs(context.indent);
            self.unnamed_bits(last.ty, size.saturating_mul(8) as i64, context);
            added = added.saturating_add(size);
        }
    }
}

impl Lines<'_> {
    /// Notes the member just written, for the text before the next.
    fn note_member(&mut self, placed: &Placed) {
        // A bit-field takes over from the plain member it shares bytes with.
        let shares = |last: Placed| last.offset == placed.offset && (last.bits != 0 || placed.bits == 0);
        if self.last_size == 0 || !self.last.is_some_and(shares) {
            self.last_size = placed.size;
        }
        self.last = Some(*placed);
    }
}
