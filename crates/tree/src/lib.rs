//! A source tree and its builds: constraints and notes on a struct before a plan, patches and proofs after.
//!
//! Before a plan:
//!
//! * `header`: the file that declares a struct, what its text allows, and its edits.
//! * `uses`: code elsewhere in the tree that depends on the order of members.
//! * `code`: the same in the units of a build, read by a C front end.
//! * `remarks`: comments that speak of places, held against a plan.
//! * `documents`: documents that list members.
//! * `limits`: all of these for some structs.
//! * `pins`: a user's requests.
//! * `builds`: the same structs under other configurations and on other machines.
//!
//! After it:
//!
//! * `variants`: configurations that leave members out.
//! * `embedding`: structs that hold a planned one.
//! * `idiom`: how groups of members are marked in the source.
//! * `edits`: a plan as changes of the tree.
//! * `prediction`: where another build places the members of a plan.
//! * `proof`: the plan compiled, as the build compiles.
//!
//! ```
//! use fieldline_tree::header::{self, Declaration};
//!
//! let tree = tempfile::tempdir()?;
//! std::fs::write(tree.path().join("pair.h"), "struct pair {\n\tint a; /* must be first */\n\tint b;\n};\n")?;
//! let declaration = Declaration {
//!     name: "pair".to_owned(),
//!     file: Some("pair.h".to_owned()),
//!     line: Some(1),
//!     members: vec![(Some("a".to_owned()), Some(2)), (Some("b".to_owned()), Some(3))],
//!     inherited: 0,
//! };
//! let header = header::open(tree.path(), &declaration)?;
//! let notes = header::read_notes(&header, &declaration)?.members;
//! assert_eq!(notes[0].immovable.as_deref(), Some("its comment says \"must be first\" (pair.h:2)"));
//! assert_eq!(notes[1].immovable, None);
//! # Ok::<(), anyhow::Error>(())
//! ```

pub mod builds;
pub mod code;
mod documents;
pub mod edits;
pub mod embedding;
pub mod header;
pub mod idiom;
pub mod limits;
pub mod pins;
pub mod prediction;
pub mod proof;
mod remarks;
mod uses;
pub mod variants;

pub use remarks::add_shrink_notes;
pub use uses::places;
