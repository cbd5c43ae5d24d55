//! From samples to visits: what one CPU touches of one object in one go.
//!
//! * `source` and `names`: where a profile tells about a struct, whatever order it lists things in.
//! * `cells`: the parts of a struct that are touched at all.
//! * `touch`: how often a function touches each cell when it runs.
//! * `corpus` and `mixture`: which functions run in one go.
//! * `draw` and `sets`: sets of cells that one CPU touches of one object in one go.
//! * `evidence`: what that was learnt from, and `enough`: whether it is enough.

pub mod cells;
pub mod corpus;
pub mod draw;
pub mod enough;
pub mod evidence;
pub mod mixture;
pub mod names;
pub mod sets;
pub mod source;
pub mod touch;

pub use cells::{Cell, Cells};
pub use corpus::Corpus;
pub use draw::Class;
pub use mixture::Mixture;
pub use names::{Names, WindowWord};
pub use sets::Visits;
pub use source::{ProfileSource, sources};
pub use touch::Touch;
