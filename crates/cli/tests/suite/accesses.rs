//! Recordings and access profiles.

mod doctor;
mod explain;
mod import;
mod merge;
mod programs;
mod record;
