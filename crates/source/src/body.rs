//! A struct's body: declarations with their comments, in their nest of `#if` blocks.
//!
//! Every line between the braces belongs to exactly one piece, to a block's preprocessor lines, or is blank;
//! so an order of pieces is an order of whole lines.
//!
//! * `attribute`, `comment`, `macros`: words, comments and macros of C and of the kernel.
//! * `element`: the body cut into statements, comments and preprocessor lines.
//! * `declarator`: the members of a statement.
//! * `statement`, `ownership`: which lines belong to which statement.
//! * `tree`: the nest of `#if` blocks.
//! * `wording`, `demand`, `remark`: what comments say of places.
//! * `pin`: which members are fixed, and `parsed`: these steps in order, and all of it.

pub(crate) mod attribute;
mod comment;
mod declarator;
mod demand;
mod element;
mod macros;
mod ownership;
mod parsed;
mod pin;
mod remark;
mod statement;
mod tree;
mod wording;

pub use parsed::StructBody;
pub use statement::{Declarator, DeclaredMembers, FixedPlace, MemberShape, PlaceComment, Statement};

pub(crate) use comment::{is_layout_comment, names_cacheline};
pub(crate) use statement::{BodyPiece, PieceKind, quoted};
pub(crate) use tree::BodyNode;
