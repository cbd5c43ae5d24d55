//! C struct bodies as byte ranges, edits and unified diffs.
//!
//! Text in, text out: this crate opens no file and knows neither debug info nor measurements. Its steps:
//!
//! 1. [`SourceText`] cuts a file into comments, strings, preprocessor lines and words ([`scan`]).
//! 2. [`SourceText::find`] finds a struct's definition by name or line ([`definition`]).
//! 3. [`StructBody::parse`] splits it into declarations with their comments and their `#if` nest ([`body`]).
//! 4. [`Join::new`] joins them with the members that debug info names, which also shows the active branches
//!    ([`join`]). What doesn't fit is refused with a reason a maintainer can read ([`SourceRefusal`]).
//! 5. [`Join::constraints`] says what the text allows; [`Join::reorder`] turns an order into [`Edits`]
//!    ([`arrange`]).
//! 6. [`Join::annotate`] writes comments above members and attributes behind them ([`annotate`]).
//! 7. [`Join::mark`] puts markers around groups of members ([`mark`]); [`startup`] finds and writes functions
//!    that check them.
//! 8. [`uses`] finds code elsewhere in the tree that depends on the order of members.
//! 9. [`meaning`] finds such code by types: what is done with the struct's objects, pointers and sizes.
//! 10. [`declared`] lists the names a text declares with the words of their types.
//! 11. [`diff::unified`] prints the change for `git apply`.
//!
//! ```
//! use fieldline_source::{DefinitionQuery, ExpectedMember, Join, SourceText, StructBody, diff};
//!
//! let text = b"struct pair {\n\tint a;\t/* first */\n\tint b;\n};\n";
//! let source = SourceText::new(text);
//! let definition = source.find(&DefinitionQuery::for_name("pair"))?;
//! let body = StructBody::parse(&source, &definition)?;
//! let join = Join::new(&body, &[ExpectedMember::named("a"), ExpectedMember::named("b")])?;
//! let reordering = join.reorder(&[1, 0])?;
//! let new = reordering.edits.apply(text);
//! assert_eq!(new, b"struct pair {\n\tint b;\n\tint a;\t/* first */\n};\n");
//! assert!(diff::unified("pair.h", text, &new).starts_with(b"--- a/pair.h\n+++ b/pair.h\n@@ -1,4 +1,4 @@\n"));
//! # Ok::<(), fieldline_source::SourceRefusal>(())
//! ```

pub mod annotate;
pub mod arrange;
pub mod body;
pub mod declared;
pub mod definition;
pub mod diff;
pub mod edits;
pub mod join;
pub mod mark;
pub mod meaning;
mod refusal;
pub mod scan;
pub mod startup;
pub mod uses;

pub use annotate::{AnnotationEdits, MemberAnnotation};
pub use arrange::{
    CommentOnPlaces, MemberTextPosition, MemberUnit, ReorderNote, Reordering, TextConstraints, UnitReason,
};
pub use body::{Declarator, DeclaredMembers, FixedPlace, MemberShape, PlaceComment, Statement, StructBody};
pub use definition::{DefinitionQuery, StructDefinition};
pub use edits::{Edit, EditOverlap, Edits};
pub use join::{ExpectedMember, Join};
pub use mark::{CoveredMember, GroupToMark, MarkerEdits};
pub use refusal::SourceRefusal;
pub use scan::{ConditionLiteral, SourceText};
