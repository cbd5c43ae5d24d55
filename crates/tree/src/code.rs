//! Uses of structs in the units of a build, read by a C front end.
//!
//! * `names`: names by which text shows that it has to do with a struct.
//! * `texts`: the files of a tree and of its build, by the words in them.
//! * `choice`: the units that may see a struct.
//! * `definitions`: the units that define functions.
//! * `assembler`: what files in assembler name.
//! * `cache`: what was read before.
//! * `lines`: lines that were read.
//! * `mentions`: places that say members, whatever they do with them.
//! * `shared_headers`: which unit reads which header's functions.
//! * `read`: units, read on all threads.
//! * `demands`: what code demands, as requests for the planner.

mod assembler;
mod cache;
mod choice;
mod definitions;
mod demands;
mod lines;
mod mentions;
mod names;
mod read;
mod shared_headers;
mod texts;

pub use mentions::MemberMentions;
pub use read::{CodeReader, Progress, StructCode};
pub(crate) use texts::check_regular;
