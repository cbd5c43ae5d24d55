//! perf.data, or the text of `perf script`, to accesses of struct members.

pub mod aggregate;
pub mod attribute;
pub mod blind_spots;
pub mod calls;
pub mod code;
pub mod data_source;
pub mod doctor;
pub mod flow;
pub mod machine;
pub mod perf_data;
pub mod perf_types;
pub mod program;
pub mod run;
pub mod sample;
pub mod sample_file;
pub mod script;
mod sweep;
pub mod types;
pub mod writer;
