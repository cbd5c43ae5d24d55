//! A source tree and its builds on disk: what they say of a struct, and what they make of a plan.
//!
//! * `header`: the file that declares a struct, what its text allows, and its edits.
//! * `uses`: what elsewhere in the tree depends on the order of members.
//! * `documents`: documents that list members.
//! * `limits`: all of these for some structs.
//! * `variants`: configurations that leave members out.
//! * `idiom`: how groups of members are told in the source.
//! * `prediction`: where another build places the members of a plan.
//! * `proof`: the plan compiled, as the build compiles.

mod documents;
pub mod header;
pub mod idiom;
pub mod limits;
pub mod prediction;
pub mod proof;
mod uses;
pub mod variants;
