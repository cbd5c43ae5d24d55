//! Types as data flow needs them: canonical, with members by offset.
//!
//! * `definitions`: where structs are defined that a unit only declares.
//! * `shape`: types and places as values.
//! * `space`: canonical types, read on demand.
//! * `place`: what lies at an offset of a type, and what encloses what.

pub mod definitions;
pub mod place;
pub mod shape;
pub mod space;

pub use definitions::Definitions;
pub use shape::{Place, Shape, Ty};
pub use space::{TypeSpace, kept};
