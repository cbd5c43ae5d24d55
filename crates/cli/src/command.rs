//! The commands: open the inputs, call the libraries, report.

pub(crate) mod accesses;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod guest;
pub(crate) mod layouts;
pub(crate) mod manual;
pub(crate) mod orders;
pub(crate) mod trial;
