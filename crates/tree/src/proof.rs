//! A plan proven by compiling: the smallest unit that has the struct, without and with the patch.
//!
//! * `recipe`: how a build compiles a unit, out of kbuild's `.cmd` files or compile_commands.json.
//! * `units`: which units can show a struct.
//! * `overlay`: the tree with some files replaced, made of links beside it.
//! * `compile`: a recipe run outside, so that neither tree nor build folder is written to.
//! * `build`: one build's proof, what was built against what was predicted.

mod build;
mod compile;
mod overlay;
mod recipe;
mod units;

pub use build::{BuildProof, BuildToProve, LayoutVerdict, ShownStruct, judge_layouts};
pub use overlay::Patch;
