//! A struct's body: declarations with their comments, in their nest of `#if` blocks.
//!
//! Every line between the braces belongs to exactly one piece, to a block's preprocessor lines, or is blank;
//! so an order of pieces is an order of whole lines.
//!
//! * `attribute`, `comment`, `macros`: words, comments and macros of C and of the kernel.
//! * `element`: the body cut into statements, comments and preprocessor lines.
//! * `part`, `member`, `declarator`: what a statement declares.
//! * `statement`, `own`: which lines belong to which statement.
//! * `tree`: the nest of `#if` blocks.
//! * `whole`: all of it, and `pin`: what fixes members.
//! * `parse`: these steps in order.

pub(crate) mod attribute;
mod comment;
mod declarator;
mod element;
mod macros;
mod member;
mod own;
mod parse;
mod part;
mod pin;
mod statement;
mod tree;
mod whole;

pub use member::{Declarator, Declares, MemberShape};
pub use statement::{FixedPlace, Statement};
pub use whole::Body;

pub(crate) use comment::{is_layout_comment, names_cacheline};
pub(crate) use statement::{Piece, PieceKind};
pub(crate) use tree::{Block, Node};
