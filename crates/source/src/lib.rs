//! C struct bodies as byte ranges, edits and unified diffs.
//!
//! Text in, text out: this crate opens no file and knows neither debug info nor measurements. Its road:
//!
//! 1. [`SourceText`] cuts a file into comments, strings, preprocessor lines and words ([`scan`]).
//! 2. [`SourceText::find`] finds a struct's definition by name or line ([`definition`]).
//! 3. [`Body::parse`] splits it into declarations with their comments and their `#if` nest ([`body`]).
//! 4. [`Join::new`] lays the members that debug info names beside them, which also tells the active branches
//!    ([`join`]). What doesn't fit is refused with a reason a maintainer can read ([`Refusal`]).
//! 5. [`Join::constraints`] says what the text allows; [`Join::reorder`] turns an order into [`Edits`] ([`arrange`]).
//! 6. [`Join::annotate`] writes comments above members and attributes behind them ([`annotate`]).
//! 7. [`Join::mark`] puts markers around groups of members ([`mark`]); [`startup`] finds and writes functions that check them.
//! 8. [`uses`] finds what elsewhere in the tree depends on the order of members.
//! 9. [`diff::unified`] prints the change for `git apply`.
//!
//! ```
//! use fieldline_source::{Body, ExpectedMember, Join, Query, SourceText, diff};
//!
//! let text = b"struct pair {\n\tint a;\t/* first */\n\tint b;\n};\n";
//! let source = SourceText::new(text);
//! let definition = source.find(&Query::named("pair"))?;
//! let body = Body::parse(&source, &definition)?;
//! let join = Join::new(&body, &[ExpectedMember::named("a"), ExpectedMember::named("b")])?;
//! let reordering = join.reorder(&[1, 0])?;
//! let new = reordering.edits.apply(text);
//! assert_eq!(new, b"struct pair {\n\tint b;\n\tint a;\t/* first */\n};\n");
//! assert!(diff::unified("pair.h", text, &new).starts_with(b"--- a/pair.h\n+++ b/pair.h\n@@ -1,4 +1,4 @@\n"));
//! # Ok::<(), fieldline_source::Refusal>(())
//! ```

pub mod annotate;
pub mod arrange;
pub mod body;
pub mod definition;
pub mod diff;
pub mod edits;
pub mod join;
pub mod mark;
mod refusal;
pub mod scan;
pub mod startup;
pub mod uses;

pub use annotate::{Annotated, Heading};
pub use arrange::{MemberPlace, MemberUnit, Remark, Reordering, TextConstraints, Together};
pub use body::{Body, Declarator, Declares, FixedPlace, MemberShape, Statement};
pub use definition::{Definition, Query};
pub use edits::{Edit, Edits, Overlap};
pub use join::{ExpectedMember, Join};
pub use mark::{Covered, Marked, Marking};
pub use refusal::Refusal;
pub use scan::{Literal, SourceText};
