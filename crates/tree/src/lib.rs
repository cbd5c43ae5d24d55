//! A source tree and its builds on disk: what they say of a struct, and what they make of a plan.
//!
//! Before a plan:
//!
//! * `header`: the file that declares a struct, what its text allows, and its edits.
//! * `uses`: what elsewhere in the tree depends on the order of members.
//! * `documents`: documents that list members.
//! * `limits`: all of these for some structs.
//! * `pins`: what a user wishes besides.
//! * `builds`: the same structs under other configurations and on other machines.
//!
//! After it:
//!
//! * `variants`: configurations that leave members out.
//! * `embedding`: structs that hold a planned one.
//! * `idiom`: how groups of members are told in the source.
//! * `edits`: a plan as changes of the tree.
//! * `prediction`: where another build places the members of a plan.
//! * `proof`: the plan compiled, as the build compiles.

pub mod builds;
mod documents;
pub mod edits;
pub mod embedding;
pub mod header;
pub mod idiom;
pub mod limits;
pub mod pins;
pub mod prediction;
pub mod proof;
mod uses;
pub mod variants;
