//! Types for the data flow: canonical, with members by offset.
//!
//! * `shape`: types and offsets as values.
//! * `space`: canonical types, read on demand, and where structs are defined that a unit only declares.
//! * `containment`: members at an offset of a type, and containment of types.

pub mod containment;
pub mod shape;
pub mod space;

pub use shape::{Ty, TypeOffset, TypeShape, Untagged};
pub use space::{Definitions, TypeSpace};
