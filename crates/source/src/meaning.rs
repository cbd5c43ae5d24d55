//! Uses of structs by what code means: declarations are read, and every value that is, points to or counts
//! bytes of a struct is followed to where it goes.
//!
//! The model, in the order of the work:
//!
//! 1. `stream` cuts a file into words and macros, `macros` puts bodies in place of calls.
//! 2. `cursor` and `items` read declarations: typedefs, structs, functions, variables (`types`).
//! 3. `evaluator`, `expression` and `statement` read code. A value has a type and sums: an address in an object,
//!    offsets and sizes of members, numbers (`value`). What functions, globals and members are given is kept.
//! 4. `judge`, `calls`, `lists` and `definition` say what depends on an order: casts, steps, lengths, bytes that
//!    are handed on, values by position, layouts that others share.
//!
//! Access to members, pointers of the struct's own type, whole copies and `container_of` demand nothing. What is
//! handed on as `void *` is followed through calls, variables and members of one file.

mod calls;
mod cursor;
mod definition;
mod evaluator;
mod expression;
mod items;
mod judge;
mod lists;
mod macros;
mod read;
mod statement;
mod stream;
mod types;
mod value;

pub use read::{KnownName, MeantUse, ReadFile, find_meant_uses, find_names};
pub use types::{PlacedMember, Subject};

#[cfg(test)]
mod tests;
