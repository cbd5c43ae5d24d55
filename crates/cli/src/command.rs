//! The commands: open the inputs, call the libraries, report.
//!
//! * `layouts`: layouts, and a gate for them.
//! * `accesses`: recordings, and what they say.
//! * `orders`: orders of members, up to patches and their proof.
//! * `demo`: the road on an example.

pub(crate) mod accesses;
pub(crate) mod demo;
pub(crate) mod layouts;
pub(crate) mod orders;
