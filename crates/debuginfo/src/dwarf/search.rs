//! Definitions by name, and all of a file.
//!
//! * `spelling`, `needles`: offsets at which names may be meant.
//! * `signature`: signatures, equal for equal definitions.
//! * `index`: all definitions of a file.
//! * `find`: the definitions of names, and `typedefs`: of typedefs.
//! * `lazy`: the same, looking at no more units than needed.

pub(crate) mod find;
pub(crate) mod index;
pub(crate) mod lazy;
mod needles;
mod signature;
mod spelling;
pub(crate) mod typedefs;
