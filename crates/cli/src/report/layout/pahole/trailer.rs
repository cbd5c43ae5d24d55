//! The sums after a struct's members.

use super::facts::{Facts, Placed, data_members};
use super::printer::{Context, Printer};
use super::text::plural;
use fieldline_layout::types::Aggregate;
use std::fmt;

/// Sums over the members, counted while they are written.
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
    /// Structs held by value that have holes or padding, and the sum of these.
    with_holes: (u64, i64),
    with_bit_holes: (u64, i64),
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

    /// Counts the holes and padding of a struct held by value.
    pub(super) fn count_embedded(&mut self, held: &Facts) {
        let count = |(types, total): &mut (u64, i64), amount: i64| {
            *types += u64::from(amount != 0);
            *total = total.saturating_add(amount);
        };
        count(&mut self.with_holes, held.holes as i64);
        count(&mut self.with_bit_holes, held.bit_holes as i64);
        count(&mut self.with_padding, held.padding);
        count(&mut self.with_bit_padding, held.bit_padding);
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
        let indent = context.indent;
        self.text.end_line();
        self.size_line(aggregate, indent);
        if sums.holes > 0 || sums.bit_holes > 0 {
            self.member_sums(facts, sums, indent);
        }
        if facts.padding > 0 {
            self.sum(indent, format_args!("padding: {}", facts.padding));
        }
        self.embedded_sums(sums, indent);
        if facts.bit_padding > 0 {
            self.sum(indent, format_args!("bit_padding: {} bits", facts.bit_padding));
        }
        let Sums { alignments, alignments_after_hole: after, aligning_holes: bytes, .. } = sums;
        match (alignments, after) {
            (0, _) => {}
            (_, 0) => self.sum(indent, format_args!("forced alignments: {alignments}")),
            _ => {
                let holes = format_args!("forced holes: {after}, sum forced holes: {bytes}");
                self.sum(indent, format_args!("forced alignments: {alignments}, {holes}"));
            }
        }
        let flexible = [("end", sums.flexible), ("middle", sums.embedded_flexible)];
        let flexible = flexible.into_iter().filter(|(_, count)| *count > 0);
        let flexible: Vec<_> = flexible.map(|(place, count)| format!("{place}: {count}")).collect();
        if !flexible.is_empty() {
            self.sum(indent, format_args!("flexible array members: {}", flexible.join(", ")));
        }
        let rest = context.base.saturating_add(aggregate.size) % u64::from(self.options.cacheline_size);
        if rest != 0 {
            self.sum(indent, format_args!("last cacheline: {rest} bytes"));
        }
        self.size_mismatch(aggregate, facts, sums, indent);
    }

    fn sum(&mut self, indent: usize, text: fmt::Arguments<'_>) {
        self.text.tabs(indent);
        self.text.put(format_args!("/* {text} */\n"));
    }

    fn size_line(&mut self, aggregate: &Aggregate, indent: usize) {
        let members = data_members(aggregate);
        // A class without members takes no line although C++ gives it a byte.
        let taken = if aggregate.size == 1 && members == 0 { 0 } else { aggregate.size };
        let (size, lines) = (aggregate.size, taken.div_ceil(u64::from(self.options.cacheline_size)));
        let statics = match aggregate.members.len() as u64 - members {
            0 => String::new(),
            count => format!(", static members: {count}"),
        };
        self.sum(indent, format_args!("size: {size}, cachelines: {lines}, members: {members}{statics}"));
    }

    fn member_sums(&mut self, facts: &Facts, sums: &Sums, indent: usize) {
        let Sums { bytes, bits, holes, bit_holes, .. } = sums;
        match (bytes, holes) {
            (0, _) => {}
            (_, 1..) => {
                let count = facts.holes;
                self.sum(indent, format_args!("sum members: {bytes}, holes: {count}, sum holes: {holes}"));
            }
            _ => self.sum(indent, format_args!("sum members: {bytes}")),
        }
        let rest = match bit_holes {
            1.. => format!(", bit holes: {}, sum bit holes: {bit_holes} bits", facts.bit_holes),
            _ => format!(" ({} bytes)", bits / 8),
        };
        if *bits > 0 {
            self.sum(indent, format_args!("sum bitfield members: {bits} bits{rest}"));
        }
    }

    fn embedded_sums(&mut self, sums: &Sums, indent: usize) {
        let (holes, bit_holes, bits) = (sums.with_holes, sums.with_bit_holes, sums.with_bit_padding);
        let text = |(types, total): (u64, i64), what: &str| {
            let total = total.unsigned_abs();
            (types > 0).then(|| (format!("{what}: {types}, total: {total}"), total))
        };
        let parts = [
            text(holes, "holes").map(|(text, _)| text),
            text(bit_holes, "bit holes").map(|(text, _)| text),
            text(bits, "bit paddings").map(|(text, total)| format!("{text} bit{}", plural(total.max(1)))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            self.sum(indent, format_args!("member types with {}", parts.join(", ")));
        }
        let (types, total) = sums.with_padding;
        if types > 0 {
            self.sum(indent, format_args!("paddings: {types}, sum paddings: {total}"));
        }
    }

    /// pahole's message for sums that differ from the size, which overlapping members cause.
    fn size_mismatch(&mut self, aggregate: &Aggregate, facts: &Facts, sums: &Sums, indent: usize) {
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
        let Sums { bytes, bits, holes, bit_holes, .. } = sums;
        let text = format_args!(
            "BRAIN FART ALERT! {} bytes != {bytes} (member bytes) + {bits} (member bits) + {holes} (byte holes) + {bit_holes} \
             (bit holes), diff = {difference} bits",
            aggregate.size
        );
        self.sum(indent, text);
    }
}
