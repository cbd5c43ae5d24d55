//! Uses of structs by what code means: declarations are read, and every value that is, points to or counts
//! bytes of a struct is followed to where it goes.
//!
//! The model, in the order of the work:
//!
//! 1. `stream` cuts a file into words and macros, `macros` puts bodies in place of calls; `includes` says which of
//!    them a file knows.
//! 2. `syntax` reads declarations: typedefs, structs, functions, variables (`types`).
//! 3. `code` reads bodies. A value has a type and sums: an address in an object, offsets and sizes of members,
//!    numbers (`value`). What functions, globals and members are given is kept, over all files (`flows`).
//! 4. `judge` says what depends on an order: casts, steps, lengths, bytes that are handed on, values by position,
//!    layouts that others share.
//!
//! Access to members, pointers of the struct's own type, whole copies and `container_of` demand nothing. What is
//! handed on as `void *` is followed through calls, pointers to functions, variables, arrays and members.

mod code;
mod flows;
mod includes;
mod judge;
mod layout;
mod macros;
mod program;
mod read;
mod spelling;
mod stream;
mod syntax;
mod types;
mod unit;
mod value;

pub use program::ReadFile;
pub use read::{KnownName, MeantUse, MeantUses, find_meant_uses, find_names};
pub use spelling::plainly_spelled;
pub use types::{TargetMember, TargetStruct};
pub use unit::{UnitReader, include_paths};

#[cfg(test)]
mod tests;
