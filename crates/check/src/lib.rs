//! Checks of layouts: against a prediction, against earlier layouts, and by rules.
//!
//! Shares no code with the planner beyond `fieldline-layout`, so that it can't repeat the planner's mistakes.
//!
//! * `prediction`: compares a built struct with the layout a plan predicts.
//! * `field`: the members of a struct as C names them, those of unnamed structs and unions too.
//! * `matching`: matches the members of two layouts.
//! * `change`: changes between two layouts of one struct, and `set`: between all those of two files.
//! * `rules`: the rules of `fieldline check`.
//! * `baseline`: layouts stored in a file that shows changes line by line.
//!
//! ```
//! use fieldline_check::{ChangeKind, SetDiff};
//! use fieldline_layout::testing::{layout, member};
//!
//! let [id, owner, length] = [member("id", 0, 4, 4), member("owner", 8, 8, 8), member("length", 16, 4, 4)];
//! let old = layout("queue", 16, vec![id.clone(), owner.clone()]);
//! let new = layout("queue", 24, vec![id, owner, length]);
//! let diff = SetDiff::between(&[old], &[new], &[64]);
//! let change = &diff.changed[0];
//! assert_eq!((change.size.before, change.size.after), (16, 24));
//! assert_eq!(change.members[0].member, "length");
//! assert!(change.has_change(ChangeKind::Added));
//! ```

pub mod baseline;
pub mod change;
pub mod field;
pub mod matching;
pub mod prediction;
pub mod rules;
pub mod set;
#[cfg(test)]
mod testing;

pub use change::{ChangeKind, MemberChange, TypeChange};
pub use field::{Field, fields};
pub use prediction::PredictionVerdict;
pub use rules::{CheckedStruct, Finding, FindingLevel, Rule, Settings, check_struct};
pub use set::SetDiff;
