//! Comments of a declaration that speak of places, held against the order of a plan.
//!
//! * `shrink`: notes on members that are wider than their values need.

mod shrink;

pub use shrink::add_shrink_notes;

use fieldline_plan::StructPlan;
use fieldline_plan::result::CommentToCheck;
use fieldline_source::CommentOnPlaces;

/// Lists the comments that the planned order may make wrong.
pub(crate) fn add_comments(struct_plan: &mut StructPlan, path: &str, comments: &[CommentOnPlaces]) {
    let order = struct_plan.order();
    let doubtful = comments.iter().filter(|comment| is_disturbed(comment, &order));
    struct_plan.comments = doubtful.map(|comment| comment_to_check(comment, path)).collect();
}

fn comment_to_check(comment: &CommentOnPlaces, path: &str) -> CommentToCheck {
    let (line, text) = (comment.line, comment.text.clone());
    CommentToCheck { file: path.to_owned(), line, text, members: comment.members.clone().collect() }
}

/// Whether a comment's members get other neighbours, or, if it is about all before or behind, whether any
/// member passes them. `order` has the declared indices of the members in their new order.
fn is_disturbed(comment: &CommentOnPlaces, order: &[usize]) -> bool {
    let own = &comment.members;
    let around = own.start.saturating_sub(1)..(own.end + 1).min(order.len());
    let mut new = order.iter().copied().skip_while(|index| *index != around.start);
    let is_kept = around.clone().all(|index| new.next() == Some(index));
    let before = order.iter().take_while(|index| **index != around.start);
    !is_kept
        || (comment.is_wide && before.clone().any(|index| *index >= around.start))
        || (comment.is_wide && before.count() != around.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_listed_when_its_neighbours_change() {
        let mut comment = CommentOnPlaces { line: 1, text: String::new(), members: 2..3, is_wide: false };
        assert!(!is_disturbed(&comment, &[0, 1, 2, 3, 4]));
        // Another member is passed, but the neighbours are as they were.
        assert!(!is_disturbed(&comment, &[4, 0, 1, 2, 3]));
        assert!(!is_disturbed(&comment, &[1, 2, 3, 0, 4]));
        assert!(is_disturbed(&comment, &[0, 2, 3, 1, 4]));
        assert!(is_disturbed(&comment, &[0, 1, 2, 4, 3]));
        // What is above or below has changed.
        comment.is_wide = true;
        assert!(is_disturbed(&comment, &[4, 0, 1, 2, 3]));
        assert!(is_disturbed(&comment, &[1, 2, 3, 0, 4]));
        assert!(!is_disturbed(&comment, &[0, 1, 2, 3, 4]));
        // One that stands alone is between two members.
        let alone = CommentOnPlaces { members: 0..0, ..comment };
        assert!(!is_disturbed(&alone, &[0, 2, 1]) && is_disturbed(&alone, &[1, 0, 2]));
    }
}
