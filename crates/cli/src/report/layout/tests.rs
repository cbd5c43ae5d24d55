//! Reports on layouts that must not contradict each other.

use super::diff_text;
use super::table::{self, TableOptions};
use crate::report::color::Palette;
use fieldline_check::SetDiff;
use fieldline_layout::testing::{layout, member};
use fieldline_layout::{Layout, Member};
use proptest::prelude::*;

const LINES: [u64; 2] = [64, 128];

/// A struct with one member at a bit, of some bits.
fn holding(bit_offset: u64, bit_size: u64) -> Layout {
    let only = Member { bit_offset, bit_size, ..member("only", 0, 1, 1) };
    layout("sample", (bit_offset + bit_size).div_ceil(8), vec![only])
}

/// The sizes of lines that `fieldline layout` says the member straddles.
fn straddled(sample: &Layout) -> Vec<u64> {
    let mut text = String::new();
    table::draw(
        &mut text,
        sample,
        ("", None),
        &TableOptions { lines: &LINES, expand: true, paint: Palette::new(false) },
    );
    let row = text.lines().find(|line| line.contains("  only ")).unwrap();
    sizes(row, "  straddles ")
}

/// The numbers in a text behind some words, up to the next comma.
fn sizes(text: &str, words: &str) -> Vec<u64> {
    let behind = text.split_once(words).map_or("", |(_, behind)| behind);
    let clause = behind.split([',', '\n']).next().unwrap_or("");
    clause.split([' ', '-']).filter_map(|word| word.parse().ok()).collect()
}

/// The words of `fieldline diff`: the sizes of lines that it straddles now, and those it straddles no longer.
fn compared(old: &Layout, new: &Layout) -> (Vec<u64>, Vec<u64>) {
    let diff = SetDiff::between(std::slice::from_ref(old), std::slice::from_ref(new), &LINES);
    let text = diff_text::draw(&diff, Palette::new(false)).replace("no longer straddles", "lost");
    (sizes(&text, " straddles "), sizes(&text, " lost "))
}

/// Whether the member's bytes lie on several lines, counted byte by byte.
fn is_on_several(sample: &Layout, line: u64) -> bool {
    let only = &sample.members[0];
    let first = only.bit_offset / 8 / line;
    (only.bit_offset..only.bit_end()).any(|bit| bit / 8 / line != first)
}

fn check_agreement(old: &Layout, new: &Layout) -> Result<(), TestCaseError> {
    let (came, left) = compared(old, new);
    let (before, after) = (straddled(old), straddled(new));
    for line in LINES {
        let (was, is) = (before.contains(&line), after.contains(&line));
        prop_assert_eq!(came.contains(&line), is && !was, "{} B: {:?} {:?}", line, old.members, new.members);
        let joined = was && !is_on_several(new, line);
        prop_assert_eq!(left.contains(&line), joined, "{} B: {:?} {:?}", line, old.members, new.members);
    }
    Ok(())
}

#[test]
fn a_member_that_outgrew_a_line_still_lies_on_several() {
    let (old, new) = (holding(8 * 8, 64 * 8), holding(8 * 8, 80 * 8));
    assert_eq!((straddled(&old), compared(&old, &new)), (vec![64], (vec![], vec![])));
    let small = holding(8 * 8, 56 * 8);
    assert_eq!(compared(&old, &small), (vec![], vec![64]));
    assert_eq!(compared(&small, &old), (vec![64], vec![]));
}

proptest! {
    #[test]
    fn diff_and_layout_agree_on_lines(
        (old_at, old_bits) in (0u64..2048, 1u64..1400),
        (new_at, new_bits) in (0u64..2048, 1u64..1400),
        in_bytes in any::<bool>(),
        same_place in any::<bool>(),
    ) {
        let unit = |bits: u64| if in_bytes { bits.next_multiple_of(8) } else { bits };
        let new_at = if same_place { old_at } else { new_at };
        check_agreement(&holding(unit(old_at), unit(old_bits)), &holding(unit(new_at), unit(new_bits)))?;
    }
}
