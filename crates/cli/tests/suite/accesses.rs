//! Recordings and access profiles.

mod addresses;
mod doctor;
mod explain;
#[cfg(feature = "parquet")]
mod fleet;
mod guest;
mod import;
mod kernels;
mod merge;
mod programs;
mod record;
