//! Families: neighbours in the declaration that readers expect beside each other.
//!
//! A family is a run of units under one condition. Each shares a word of its name with the one before in the same
//! paragraph, or stands with it under one comment, or both are flags of a byte. Nothing binds an order to families;
//! parting one is a price that a change has.

use super::requests::MemberNote;
use super::units::Unit;
use crate::layout::{Layout, Member};

/// Letters that a word of a name has at least: fewer say nothing.
const LEAST_LETTERS: usize = 2;

/// Numbers units by family, in declared order from 0 on.
pub(super) fn number_families(layout: &Layout, notes: &[MemberNote], units: &mut [Unit]) {
    let mut number = 0;
    for index in 1..units.len() {
        let (before, unit) = (&units[index - 1], &units[index]);
        let is_one = before.region == unit.region && before.guard == unit.guard;
        number += u32::from(!is_one || !are_related(layout, notes, before, unit));
        units[index].family = number;
    }
}

/// Whether a unit belongs to the family of the one before it.
fn are_related(layout: &Layout, notes: &[MemberNote], before: &Unit, unit: &Unit) -> bool {
    let pair = before.members.last().zip(unit.members.first());
    let Some((last, first)) = pair else { return false };
    let members = layout.members.get(*last).zip(layout.members.get(*first));
    let Some((this, other)) = members else { return false };
    let (above, below) = (notes.get(*last), notes.get(*first));
    let paragraph = |note: Option<&MemberNote>| note.and_then(|note| note.paragraph);
    let is_one_paragraph = paragraph(above) == paragraph(below);
    let is_one_comment = is_one_paragraph && below.is_some_and(|note| note.is_under_comment);
    is_one_paragraph && (is_one_comment || share_word(this, other)) || is_flag(this) && is_flag(other)
}

/// Whether two names have a word in common: `nr_running` and `h_nr_queued`.
fn share_word(this: &Member, other: &Member) -> bool {
    let words = |member: &Member| -> Vec<String> {
        let name = member.name.as_deref().unwrap_or_default();
        let words = name.split('_').filter(|word| word.len() >= LEAST_LETTERS);
        words.filter(|word| word.contains(char::is_alphabetic)).map(str::to_owned).collect()
    };
    let known = words(this);
    words(other).iter().any(|word| known.contains(word))
}

fn is_flag(member: &Member) -> bool {
    !member.is_bit_field() && member.bit_size == 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::{PlacementRequests, constraints};
    use crate::testing::numbered;

    fn families(names: &[(&str, u64)], notes: Vec<MemberNote>) -> Vec<u32> {
        let sizes: Vec<(u64, u64)> = names.iter().map(|(_, size)| (*size, *size)).collect();
        let mut layout = numbered("s", &sizes);
        for (member, (name, _)) in layout.members.iter_mut().zip(names) {
            member.name = Some((*name).to_owned());
        }
        let requests = PlacementRequests { notes, ..PlacementRequests::default() };
        constraints(&layout, &requests).unwrap().units.iter().map(|unit| unit.family).collect()
    }

    #[test]
    fn names_with_a_common_word_and_runs_of_flags_are_families() {
        let names =
            [("nr_in", 8), ("idle_nr", 8), ("weight", 8), ("on", 1), ("off", 1), ("off_at", 4), ("x_1", 8)];
        assert_eq!(families(&names, Vec::new()), [0, 0, 1, 2, 2, 2, 3]);
        assert_eq!(families(&[("a_1", 8), ("b_1", 8)], Vec::new()), [0, 1], "a number is no word");
    }

    #[test]
    fn paragraphs_comments_and_conditions_limit_families() {
        let note = |paragraph, is_under_comment, guard| MemberNote {
            paragraph: Some(paragraph),
            is_under_comment,
            guard: Some(guard),
            ..MemberNote::default()
        };
        let notes = vec![note(0, false, 0), note(1, true, 0), note(1, true, 0), note(1, true, 1)];
        let names = [("nr_a", 8), ("nr_b", 8), ("other", 8), ("other_too", 8)];
        assert_eq!(families(&names, notes), [0, 1, 1, 2]);
    }
}
