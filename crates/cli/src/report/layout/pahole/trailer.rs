//! The sums after a struct's members.

use super::facts::{Facts, Placed, data_members};
use super::printer::{Context, Printer};
use fieldline_layout::types::Aggregate;

/// What was counted while the members were written.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) bytes: u64,
    pub(super) bits: u64,
    pub(super) holes: i64,
    pub(super) bit_holes: i64,
    /// Members with an alignment of their own, those of them after a hole, and the bytes of these holes.
    alignments: u64,
    alignments_after_hole: u64,
    aligning_holes: i64,
    pub(super) flexible: u64,
    pub(super) embedded_flexible: u64,
    /// Structs held by value that have the thing, and how many or much of it.
    with_holes: (u64, u64),
    with_bit_holes: (u64, u64),
    with_padding: (u64, i64),
    with_bit_padding: (u64, i64),
}

impl Sums {
    pub(super) fn count_alignment(&mut self, hole: i64) {
        self.alignments += 1;
        if hole != 0 {
            self.alignments_after_hole += 1;
            self.aligning_holes = self.aligning_holes.saturating_add(hole);
        }
    }

    pub(super) fn count_member(&mut self, placed: &Placed) {
        if placed.bits != 0 {
            self.bits = self.bits.saturating_add(placed.bits);
        } else {
            self.bytes = self.bytes.saturating_add(placed.size);
        }
    }

    /// Counts what a struct held by value wastes.
    pub(super) fn count_held(&mut self, held: &Facts) {
        self.with_holes.0 += u64::from(held.holes != 0);
        self.with_holes.1 += held.holes;
        self.with_bit_holes.0 += u64::from(held.bit_holes != 0);
        self.with_bit_holes.1 += held.bit_holes;
        self.with_padding.0 += u64::from(held.padding != 0);
        self.with_padding.1 = self.with_padding.1.saturating_add(held.padding);
        self.with_bit_padding.0 += u64::from(held.bit_padding != 0);
        self.with_bit_padding.1 = self.with_bit_padding.1.saturating_add(held.bit_padding);
    }
}

impl<'t> Printer<'t> {
    pub(super) fn trailer(
        &mut self,
        aggregate: &Aggregate,
        facts: &Facts,
        sums: &Sums,
        context: Context<'t>,
    ) {
        self.text.end_line();
        self.size_line(aggregate, context);
        if sums.holes > 0 || sums.bit_holes > 0 {
            self.member_sums(facts, sums, context);
        }
        if facts.padding > 0 {
            self.begin_sum(context, "padding: ");
            self.text.signed(facts.padding);
            self.end_sum();
        }
        self.held_sums(sums, context);
        if facts.bit_padding > 0 {
            self.begin_sum(context, "bit_padding: ");
            self.text.signed(facts.bit_padding);
            self.text.word(" bits");
            self.end_sum();
        }
        self.alignment_sums(sums, context);
        self.flexible_sums(sums, context);
        self.last_cacheline(aggregate, context);
        self.contradiction(aggregate, facts, sums, context);
    }

    fn begin_sum(&mut self, context: Context<'t>, words: &str) {
        self.text.tabs(context.indent);
        self.text.word("/* ");
        self.text.word(words);
    }

    fn end_sum(&mut self) {
        self.text.word(" */\n");
    }

    /// `, words number`
    fn also(&mut self, words: &str, number: i64) {
        self.text.word(words);
        self.text.signed(number);
    }

    fn size_line(&mut self, aggregate: &Aggregate, context: Context<'t>) {
        let members = data_members(aggregate);
        // A class without members takes no line although C++ gives it a byte.
        let size = if aggregate.size == 1 && members == 0 { 0 } else { aggregate.size };
        self.begin_sum(context, "size: ");
        self.text.number(aggregate.size);
        self.text.word(", cachelines: ");
        self.text.number(size.div_ceil(u64::from(self.options.cacheline_size)));
        self.text.word(", members: ");
        self.text.number(members);
        let statics = aggregate.members.len() as u64 - members;
        if statics != 0 {
            self.text.word(", static members: ");
            self.text.number(statics);
        }
        self.end_sum();
    }

    fn member_sums(&mut self, facts: &Facts, sums: &Sums, context: Context<'t>) {
        if sums.bytes > 0 {
            self.begin_sum(context, "sum members: ");
            self.text.number(sums.bytes);
            if sums.holes > 0 {
                self.also(", holes: ", facts.holes as i64);
                self.also(", sum holes: ", sums.holes);
            }
            self.end_sum();
        }
        if sums.bits > 0 {
            self.begin_sum(context, "sum bitfield members: ");
            self.text.number(sums.bits);
            self.text.word(" bits");
            if sums.bit_holes > 0 {
                self.also(", bit holes: ", facts.bit_holes as i64);
                self.also(", sum bit holes: ", sums.bit_holes);
                self.text.word(" bits");
            } else {
                self.text.word(" (");
                self.text.number(sums.bits / 8);
                self.text.word(" bytes)");
            }
            self.end_sum();
        }
    }

    fn held_sums(&mut self, sums: &Sums, context: Context<'t>) {
        let parts = [
            ("holes: ", sums.with_holes.0, sums.with_holes.1, false),
            ("bit holes: ", sums.with_bit_holes.0, sums.with_bit_holes.1, false),
            ("bit paddings: ", sums.with_bit_padding.0, sums.with_bit_padding.1.unsigned_abs(), true),
        ];
        let mut separator = "member types with ";
        for (words, types, total, in_bits) in parts.into_iter().filter(|(_, types, ..)| *types > 0) {
            if separator == ", " {
                self.text.word(separator);
            } else {
                self.begin_sum(context, separator);
            }
            separator = ", ";
            self.text.word(words);
            self.text.number(types);
            self.text.word(", total: ");
            self.text.number(total);
            if in_bits {
                self.text.word(" bit");
                self.text.plural(total.max(1));
            }
        }
        if separator == ", " {
            self.end_sum();
        }
        if sums.with_padding.0 > 0 {
            self.begin_sum(context, "paddings: ");
            self.text.number(sums.with_padding.0);
            self.also(", sum paddings: ", sums.with_padding.1);
            self.end_sum();
        }
    }

    fn alignment_sums(&mut self, sums: &Sums, context: Context<'t>) {
        if sums.alignments == 0 {
            return;
        }
        self.begin_sum(context, "forced alignments: ");
        self.text.number(sums.alignments);
        if sums.alignments_after_hole != 0 {
            self.text.word(", forced holes: ");
            self.text.number(sums.alignments_after_hole);
            self.also(", sum forced holes: ", sums.aligning_holes);
        }
        self.end_sum();
    }

    fn flexible_sums(&mut self, sums: &Sums, context: Context<'t>) {
        if sums.flexible == 0 && sums.embedded_flexible == 0 {
            return;
        }
        self.begin_sum(context, "flexible array members: ");
        if sums.flexible > 0 {
            self.text.word("end: ");
            self.text.number(sums.flexible);
        }
        if sums.embedded_flexible > 0 {
            self.text.word(if sums.flexible > 0 { ", middle: " } else { "middle: " });
            self.text.number(sums.embedded_flexible);
        }
        self.end_sum();
    }

    fn last_cacheline(&mut self, aggregate: &Aggregate, context: Context<'t>) {
        let rest = context.base.saturating_add(aggregate.size) % u64::from(self.options.cacheline_size);
        if rest != 0 {
            self.begin_sum(context, "last cacheline: ");
            self.text.number(rest);
            self.text.word(" bytes");
            self.end_sum();
        }
    }

    /// pahole's alarm for sums that do not make the size, which overlapping members cause.
    fn contradiction(&mut self, aggregate: &Aggregate, facts: &Facts, sums: &Sums, context: Context<'t>) {
        // In 32 bits, as pahole computes it.
        let bytes = [sums.bytes as i64, sums.holes, facts.padding];
        let bits = [sums.bits as i64, sums.bit_holes, facts.bit_padding];
        let counted = bytes.iter().fold(0i64, |sum, bytes| sum.wrapping_add(bytes.wrapping_mul(8)));
        let counted = bits.iter().fold(counted, |sum, bits| sum.wrapping_add(*bits));
        let difference = (aggregate.size as i64).wrapping_mul(8).wrapping_sub(counted) as i32;
        if difference == 0 || data_members(aggregate) == 0 {
            return;
        }
        self.text.end_line();
        self.begin_sum(context, "BRAIN FART ALERT! ");
        self.text.number(aggregate.size);
        self.text.word(" bytes != ");
        self.text.number(sums.bytes);
        self.text.word(" (member bytes) + ");
        self.text.number(sums.bits);
        self.text.word(" (member bits) + ");
        self.text.signed(sums.holes);
        self.text.word(" (byte holes) + ");
        self.text.signed(sums.bit_holes);
        self.text.word(" (bit holes), diff = ");
        self.text.signed(i64::from(difference));
        self.text.word(" bits");
        self.end_sum();
    }
}
