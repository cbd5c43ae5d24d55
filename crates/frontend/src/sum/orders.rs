//! Comparisons of addresses: which is the lower one.

use crate::addresses::arguments;
use crate::clang::{Cursor, Kind, Operator};
use crate::sum::View;
use crate::tree::Index;

/// Objects of C++'s library that compare what they are called with (C++20, section "Comparisons").
const FUNCTIONS: [&str; 5] = ["less", "greater", "less_equal", "greater_equal", "compare_three_way"];

/// The two sides that a node asks of which is the lower one: `first < second`, `std::less<T *>()(first, second)`.
pub(crate) fn ordered_sides(view: View<'_, '_, '_>, index: Index) -> Option<(Index, Index)> {
    let cursor = view.cursor(index)?;
    match view.tree.kind(index) {
        Kind::Binary if cursor.binary_operator() == Operator::Order => {
            let mut sides = view.tree.values(index);
            sides.next().zip(sides.next())
        }
        Kind::Call => {
            let function = cursor.referenced().filter(|function| function.name() == "operator()")?;
            let class = function.holder().map(Cursor::name)?;
            let is_order = function.is_of_system() && FUNCTIONS.contains(&class.as_str());
            match arguments(view, index).as_slice() {
                [first, second] if is_order => Some((*first, *second)),
                _ => None,
            }
        }
        _ => None,
    }
}
