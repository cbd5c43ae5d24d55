//! Recordings and access profiles.

mod addresses;
mod doctor;
mod explain;
mod import;
mod merge;
mod programs;
mod record;
