//! Comparison of a built struct with the layout a plan predicts for it, member by member.

use fieldline_layout::declaration::flat_arrays;
use fieldline_layout::{Layout, Member};

/// Result of the comparison of a layout with a predicted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictionVerdict {
    /// Tag of the struct.
    pub name: String,
    /// Members compared.
    pub members: usize,
    /// All differences, a sentence each, in predicted order; the struct's size last.
    pub mismatches: Vec<String>,
}

impl PredictionVerdict {
    /// Compares the layout of what was built with the predicted one.
    pub fn new(predicted: &Layout, actual: &Layout) -> Self {
        let mut mismatches = Vec::new();
        let count = predicted.members.len().max(actual.members.len());
        for index in 0..count {
            let pair = (predicted.members.get(index), actual.members.get(index));
            mismatches.extend(compare(index, pair, actual));
        }
        if predicted.size != actual.size {
            mismatches.push(format!("size: {} bytes are predicted, {} found", predicted.size, actual.size));
        }
        Self { name: predicted.name.clone(), members: predicted.members.len(), mismatches }
    }

    /// Whether all is as predicted.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
    }
}

/// Compares the members at an index; one that is found at another index is reported with both offsets.
fn compare(index: usize, pair: (Option<&Member>, Option<&Member>), all: &Layout) -> Vec<String> {
    match pair {
        (Some(predicted), Some(actual)) => {
            let mut known = std::iter::once(actual).chain(&all.members);
            let (wanted, found) = (predicted.label(), actual.label());
            match known.find(|actual| is_same(predicted, actual)) {
                Some(same) => compare_locations(predicted, same),
                None => vec![format!("member {index}: {wanted} is predicted, {found} is there")],
            }
        }
        (Some(predicted), None) => {
            vec![format!("member {index}: {} is predicted, nothing is there", predicted.label())]
        }
        (None, Some(actual)) => vec![format!("member {index}: {} is there, not predicted", actual.label())],
        (None, None) => Vec::new(),
    }
}

/// Named members match by name, unnamed ones by type and by the names inside, where both layouts have these.
fn is_same(predicted: &Member, actual: &Member) -> bool {
    if predicted.name.is_some() || actual.name.is_some() {
        return predicted.name == actual.name;
    }
    let is_known = !predicted.members.is_empty() && !actual.members.is_empty();
    let (ours, theirs) = (&predicted.members, &actual.members);
    flat_arrays(&predicted.type_name) == flat_arrays(&actual.type_name)
        && (!is_known || ours.iter().map(|inner| &inner.name).eq(theirs.iter().map(|inner| &inner.name)))
}

fn compare_locations(predicted: &Member, actual: &Member) -> Vec<String> {
    let mut found = Vec::new();
    let member = predicted.label();
    if predicted.bit_offset != actual.bit_offset {
        let (wanted, is) = (bytes(predicted.bit_offset), bytes(actual.bit_offset));
        found.push(format!("{member}: predicted at offset {wanted}, is at {is}"));
    }
    if predicted.bit_size != actual.bit_size {
        let (wanted, is) = (bytes(predicted.bit_size), bytes(actual.bit_size));
        found.push(format!("{member}: predicted to take {wanted} bytes, takes {is}"));
    }
    found
}

/// Bits as bytes, with the bits that are left where it isn't whole.
fn bytes(bits: u64) -> String {
    match bits % 8 {
        0 => (bits / 8).to_string(),
        rest => format!("{}:{rest}", bits / 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{layout, member};

    #[test]
    fn the_predicted_layout_holds() {
        let built = layout(16, vec![member(Some("a"), 0, 8), member(None, 8, 8)]);
        let verdict = PredictionVerdict::new(&built, &built);
        assert!(verdict.holds());
        assert_eq!(verdict.members, 2);
    }

    #[test]
    fn every_difference_is_named_with_both_offsets() {
        let predicted =
            layout(24, vec![member(Some("a"), 0, 8), member(Some("b"), 8, 4), member(Some("c"), 12, 4)]);
        let actual =
            layout(32, vec![member(Some("a"), 0, 8), member(Some("b"), 16, 8), member(Some("d"), 24, 8)]);
        let verdict = PredictionVerdict::new(&predicted, &actual);
        assert!(!verdict.holds());
        assert_eq!(
            verdict.mismatches,
            [
                "b: predicted at offset 8, is at 16",
                "b: predicted to take 4 bytes, takes 8",
                "member 2: c is predicted, d is there",
                "size: 24 bytes are predicted, 32 found",
            ]
        );
    }

    #[test]
    fn members_in_another_order_are_named_with_both_offsets() {
        let predicted = layout(16, vec![member(Some("a"), 0, 8), member(Some("b"), 8, 8)]);
        let actual = layout(16, vec![member(Some("b"), 0, 8), member(Some("a"), 8, 8)]);
        let verdict = PredictionVerdict::new(&predicted, &actual);
        assert_eq!(
            verdict.mismatches,
            ["a: predicted at offset 0, is at 8", "b: predicted at offset 8, is at 0"]
        );
    }

    #[test]
    fn missing_and_unexpected_members_are_reported_as_such() {
        let long = layout(16, vec![member(Some("a"), 0, 8), member(Some("b"), 8, 8)]);
        let short = layout(16, vec![member(Some("a"), 0, 8)]);
        let first = |predicted, actual| PredictionVerdict::new(predicted, actual).mismatches.remove(0);
        assert_eq!(first(&long, &short), "member 1: b is predicted, nothing is there");
        assert_eq!(first(&short, &long), "member 1: b is there, not predicted");
    }

    #[test]
    fn anonymous_members_are_known_by_type() {
        let built = layout(8, vec![member(None, 0, 8)]);
        let mut other = built.clone();
        other.members[0].type_name = "struct {…}".to_owned();
        let verdict = PredictionVerdict::new(&built, &other);
        assert_eq!(verdict.mismatches, ["member 0: (anonymous) is predicted, (anonymous) is there"]);
    }

    #[test]
    fn bit_offsets_keep_their_bits() {
        assert_eq!(bytes(83), "10:3");
    }
}
