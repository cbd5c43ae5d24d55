//! A struct as it was built against the layout a plan predicts for it, member by member.

use fieldline_layout::declaration::flat_arrays;
use fieldline_layout::{Layout, Member};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a layout is as predicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionVerdict {
    /// Tag of the struct.
    pub name: String,
    /// Members compared.
    pub members: usize,
    /// Everything that differs, in predicted order; the struct's size last.
    pub mismatches: Vec<Mismatch>,
}

/// One difference. Places are in bits, sizes of the struct in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "mismatch", rename_all = "kebab-case")]
pub enum Mismatch {
    /// Another member stands where one is predicted.
    #[error("member {index}: {predicted} is predicted, {actual} is there")]
    OtherMember {
        /// Index in predicted order.
        index: usize,
        /// Predicted.
        predicted: String,
        /// Found.
        actual: String,
    },
    /// A predicted member isn't there.
    #[error("member {index}: {member} is predicted, nothing is there")]
    Missing {
        /// Index in predicted order.
        index: usize,
        /// Its name.
        member: String,
    },
    /// A member that nobody predicted is there.
    #[error("member {index}: {member} is there, not predicted")]
    Unexpected {
        /// Index in the order found.
        index: usize,
        /// Its name.
        member: String,
    },
    /// A member lies elsewhere.
    #[error("{member}: predicted at offset {}, is at {}", Bits(*predicted), Bits(*actual))]
    Offset {
        /// Index in predicted order.
        index: usize,
        /// Its name.
        member: String,
        /// Predicted bit offset.
        predicted: u64,
        /// Bit offset found.
        actual: u64,
    },
    /// A member has another size.
    #[error("{member}: predicted to take {} bytes, takes {}", Bits(*predicted), Bits(*actual))]
    Size {
        /// Index in predicted order.
        index: usize,
        /// Its name.
        member: String,
        /// Predicted size in bits.
        predicted: u64,
        /// Size in bits found.
        actual: u64,
    },
    /// The struct has another size.
    #[error("size: {predicted} bytes are predicted, {actual} found")]
    StructSize {
        /// Predicted size in bytes.
        predicted: u64,
        /// Size in bytes found.
        actual: u64,
    },
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
            mismatches.push(Mismatch::StructSize { predicted: predicted.size, actual: actual.size });
        }
        Self { name: predicted.name.clone(), members: predicted.members.len(), mismatches }
    }

    /// Whether all is as predicted.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// The first difference.
    pub fn first(&self) -> Option<&Mismatch> {
        self.mismatches.first()
    }
}

/// The member in its place; one that is elsewhere among the others with both its offsets.
fn compare(index: usize, pair: (Option<&Member>, Option<&Member>), all: &Layout) -> Vec<Mismatch> {
    let elsewhere = |predicted: &Member| all.members.iter().find(|actual| is_same(predicted, actual));
    match pair {
        (Some(predicted), Some(actual)) if is_same(predicted, actual) => places(index, predicted, actual),
        (Some(predicted), Some(actual)) => match elsewhere(predicted) {
            Some(found) => places(index, predicted, found),
            None => vec![Mismatch::OtherMember {
                index,
                predicted: predicted.label().to_owned(),
                actual: actual.label().to_owned(),
            }],
        },
        (Some(predicted), None) => vec![Mismatch::Missing { index, member: predicted.label().to_owned() }],
        (None, Some(actual)) => vec![Mismatch::Unexpected { index, member: actual.label().to_owned() }],
        (None, None) => Vec::new(),
    }
}

/// Named members are known by name, anonymous ones by type.
/// Unnamed members are told apart by what is inside, where both sides know it.
fn is_same(predicted: &Member, actual: &Member) -> bool {
    if predicted.name.is_some() || actual.name.is_some() {
        return predicted.name == actual.name;
    }
    let inside = |member: &Member| -> Vec<Option<String>> {
        member.members.iter().map(|inner| inner.name.clone()).collect()
    };
    let is_known = !predicted.members.is_empty() && !actual.members.is_empty();
    flat_arrays(&predicted.type_name) == flat_arrays(&actual.type_name)
        && (!is_known || inside(predicted) == inside(actual))
}

fn places(index: usize, predicted: &Member, actual: &Member) -> Vec<Mismatch> {
    let member = || predicted.label().to_owned();
    let offset = (predicted.bit_offset != actual.bit_offset).then(|| Mismatch::Offset {
        index,
        member: member(),
        predicted: predicted.bit_offset,
        actual: actual.bit_offset,
    });
    let size = (predicted.bit_size != actual.bit_size).then(|| Mismatch::Size {
        index,
        member: member(),
        predicted: predicted.bit_size,
        actual: actual.bit_size,
    });
    offset.into_iter().chain(size).collect()
}

/// An offset in bytes, with bits where it isn't whole.
struct Bits(u64);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 8 {
            0 => write!(f, "{}", self.0 / 8),
            bits => write!(f, "{}:{bits}", self.0 / 8),
        }
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
        assert_eq!(
            verdict.first(),
            Some(&Mismatch::Offset { index: 1, member: "b".to_owned(), predicted: 64, actual: 128 })
        );
        let texts: Vec<String> = verdict.mismatches.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
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
        let texts: Vec<String> = verdict.mismatches.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["a: predicted at offset 0, is at 8", "b: predicted at offset 8, is at 0"]);
    }

    #[test]
    fn missing_and_unexpected_members_are_told_apart() {
        let long = layout(16, vec![member(Some("a"), 0, 8), member(Some("b"), 8, 8)]);
        let short = layout(16, vec![member(Some("a"), 0, 8)]);
        let first = |predicted, actual| PredictionVerdict::new(predicted, actual).mismatches.remove(0);
        assert!(matches!(first(&long, &short), Mismatch::Missing { index: 1, .. }));
        assert!(matches!(first(&short, &long), Mismatch::Unexpected { index: 1, .. }));
    }

    #[test]
    fn anonymous_members_are_known_by_type() {
        let one = layout(8, vec![member(None, 0, 8)]);
        let mut other = one.clone();
        other.members[0].type_name = "struct {…}".to_owned();
        let verdict = PredictionVerdict::new(&one, &other);
        assert!(matches!(verdict.first(), Some(Mismatch::OtherMember { .. })));
    }

    #[test]
    fn bit_offsets_keep_their_bits() {
        assert_eq!(Bits(83).to_string(), "10:3");
    }
}
