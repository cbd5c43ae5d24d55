//! Recordings and access profiles.

mod addresses;
mod doctor;
mod explain;
mod guest;
mod import;
mod kernels;
mod merge;
mod programs;
mod record;
