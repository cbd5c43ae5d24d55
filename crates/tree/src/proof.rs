//! A plan proven by compiling: the smallest unit that has the struct, without and with the patch.
//!
//! * `units`: which units can show a struct.
//! * `overlay`: the tree with some files replaced, made of links beside it.
//! * `arguments`: a unit's command without what writes, `untouched`: proof that nothing was written.
//! * `compile`: that command run outside, so that neither tree nor build folder is written to.
//! * `designated`: initialisers by position, as GCC reports them.
//! * `held`: what structs become when those they hold by value get other sizes.
//! * `build`: one build's proof, what was built against what was predicted.
//! * `applied`: diffs of others applied beside the tree, `touched`: the structs whose declarations they change.
//! * `patched`: units that show these, compiled before and after, `holders`: what holds them by value.
//! * `scratch`, `test_run`: the project's own test command, in copies of the tree without and with the patch.

mod applied;
mod arguments;
mod build;
mod compile;
pub(crate) mod designated;
mod held;
mod holders;
mod overlay;
mod patched;
mod scratch;
#[cfg(unix)]
mod test_run;
mod touched;
mod units;
mod untouched;

pub use applied::{apply, current_texts};
pub use build::{BuildProof, BuildToProve, LayoutVerdict, ShownStruct, judge_layouts, set_sizes_before};
pub use held::{declared_layouts, holds_planned};
pub use holders::{find_declared_holders, find_holders, structs_not_in};
pub use overlay::Patch;
pub use patched::{PatchBuild, PatchedUnit, ShownPatch, TreeState};
pub use scratch::{TreeCopy, check_untouched};
#[cfg(unix)]
pub use test_run::{RunEnd, RunResult, TestProof, TestRun, TestVerdict};
pub use touched::{TouchedStruct, find_touched};
