//! Recordings and what they say.

mod doctor;
mod explain;
mod import;
mod merge;
mod programs;
mod record;
