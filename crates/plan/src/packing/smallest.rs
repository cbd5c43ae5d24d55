//! The least size an order can have.
//!
//! Regions follow one another and a smaller end of one never makes the next larger, so each is filled for
//! itself: the unit that leaves the smallest gap comes next, the strictest alignment among equals. Where
//! every size is a multiple of its power-of-two alignment, as C types have it, that leaves no gap but at the
//! start of a region.

use super::judge::SizeJudge;
use std::cmp::Reverse;

/// An order that is small, by filling each region greedily.
pub(super) fn smallest(judge: &SizeJudge<'_>) -> Vec<usize> {
    let units = &judge.constraints.units;
    let mut left = judge.constraints.initial_order();
    let mut order: Vec<usize> = Vec::with_capacity(left.len());
    let mut end = 0;
    while let Some(first) = left.first() {
        let region = units[*first].region;
        let before = order.last().copied();
        let allowed = |unit: usize| {
            let follows = |other: &usize| *other < unit && units[*other].keeps_order();
            let held_back = units[unit].keeps_order() && left.iter().any(follows);
            let touches = before.is_some_and(|before| units[before].is_bit_run) && units[unit].is_bit_run;
            !held_back && !touches
        };
        let here = left.iter().take_while(|unit| units[**unit].region == region);
        let next = here.enumerate().filter(|(_, unit)| allowed(**unit)).min_by_key(|(_, unit)| {
            let (start, end_of_unit) = judge.builds[0].place(**unit, end);
            (start - end, Reverse((judge.builds[0].unit_align(**unit), end_of_unit - start)), **unit)
        });
        // Adjacent runs of bit-fields with no unit left to separate them: the order won't be accepted.
        let place = next.map_or(0, |(place, _)| place);
        let unit = left.remove(place);
        end = judge.builds[0].place(unit, end).1;
        order.push(unit);
    }
    order
}

/// No order takes fewer bytes: in each region the sizes of its units, and the alignment of one that is alone.
pub(super) fn bound(judge: &SizeJudge<'_>) -> u64 {
    let units = &judge.constraints.units;
    let order = judge.constraints.initial_order();
    let mut end = 0;
    for region in order.chunk_by(|this, other| units[*this].region == units[*other].region) {
        end = match region {
            [unit] => judge.builds[0].place(*unit, end).1,
            // A run of bit-fields may begin inside the last byte of what is before it, but keeps its own
            // bits.
            several => several.iter().map(|unit| judge.builds[0].least_bits(*unit)).sum::<u64>() + end,
        };
    }
    judge.builds[0].size(end)
}
