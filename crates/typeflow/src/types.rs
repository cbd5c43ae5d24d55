//! Types as data flow needs them: canonical, with members by offset.
//!
//! * `shape`: types and places as values.
//! * `space`: canonical types, read on demand, and where structs are defined that a unit only declares.
//! * `place`: what lies at an offset of a type, and what encloses what.

pub mod place;
pub mod shape;
pub mod space;

pub use shape::{Place, Shape, Ty};
pub use space::{Definitions, TypeSpace};
