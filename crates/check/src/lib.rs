//! Verdicts on layouts: predictions, what changed, and the rules of a gate.
//!
//! Shares no code with the planner beyond `fieldline-layout`: what judges a plan must not repeat its mistakes.
//!
//! * `prediction`: is a rebuilt struct laid out as a plan predicts?
//! * `field`: the members of a struct as C names them, those of unnamed structs and unions too.
//! * `matching`: which member of a layout is which of another one.
//! * `change`: what changed between two layouts of one struct, and `set`: between all those of two files.
//! * `rules`: what a layout must not become.
//! * `baseline`: layouts kept in a file that shows its changes line by line.

pub mod baseline;
pub mod change;
pub mod field;
pub mod matching;
pub mod prediction;
pub mod rules;
pub mod set;
#[cfg(test)]
mod testing;

pub use change::{MemberChange, TypeChange, What};
pub use field::{Field, fields};
pub use prediction::PredictionVerdict;
pub use rules::{Finding, FindingLevel, Rule, Settings, Subject, judge};
pub use set::SetDiff;
