//! Types as data flow needs them: canonical, with members by offset.
//!
//! * `definitions`: where structs are defined that a unit only declares.
//! * `space`: canonical types, read on demand.
//! * `place`: what lies at an offset of a type, and what encloses what.

pub mod definitions;
pub mod place;
pub mod space;

pub use definitions::Definitions;
pub use place::Place;
pub use space::{Shape, Ty, TypeSpace};
