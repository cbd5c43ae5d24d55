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
            self.text.put(format_args!("{} bits", facts.bit_padding));
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
                self.text.put(format_args!(", holes: {}, sum holes: {}", facts.holes, sums.holes));
            }
            self.end_sum();
        }
        if sums.bits > 0 {
            self.begin_sum(context, "sum bitfield members: ");
            self.text.number(sums.bits);
            self.text.word(" bits");
            if sums.bit_holes > 0 {
                let (holes, bits) = (facts.bit_holes, sums.bit_holes);
                self.text.put(format_args!(", bit holes: {holes}, sum bit holes: {bits} bits"));
            } else {
                self.text.put(format_args!(" ({} bytes)", sums.bits / 8));
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
            self.text.put(format_args!("{words}{types}, total: {total}"));
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
            let (types, total) = sums.with_padding;
            self.text.put(format_args!("{types}, sum paddings: {total}"));
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
            let (after, bytes) = (sums.alignments_after_hole, sums.aligning_holes);
            self.text.put(format_args!(", forced holes: {after}, sum forced holes: {bytes}"));
        }
        self.end_sum();
    }

    fn flexible_sums(&mut self, sums: &Sums, context: Context<'t>) {
        if sums.flexible == 0 && sums.embedded_flexible == 0 {
            return;
        }
        self.begin_sum(context, "flexible array members: ");
        if sums.flexible > 0 {
            self.text.put(format_args!("end: {}", sums.flexible));
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
            self.text.put(format_args!("{rest} bytes"));
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
        let Sums { bytes, bits, holes, bit_holes, .. } = sums;
        self.text.put(format_args!(
            "{} bytes != {bytes} (member bytes) + {bits} (member bits) + {holes} (byte holes) + {bit_holes} (bit holes), \
             diff = {difference} bits",
            aggregate.size
        ));
        self.end_sum();
    }
}
