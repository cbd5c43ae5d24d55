//! An end of an address, as demands on the subjects it is of.

mod departure;
mod ends;
mod masks;
mod members;
mod objects;
mod reached;
mod recorder;
mod records;

pub(crate) use departure::{Address, Judge, Through};
