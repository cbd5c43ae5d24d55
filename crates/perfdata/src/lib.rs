//! Recordings: the bytes of perf.data, or the text of `perf script`, to records and samples; and the way
//! back.
//!
//! * `perf_data`: the container and its records.
//! * `address`: addresses of code and of data.
//! * `sample`: the fields of a sample, and `data_source`: level, snoop and operation.
//! * `script`: the same out of the text of `perf script`.
//! * `sample_file`: a recording of either kind.
//! * `scan`: work on all records of a recording, on all processors.
//! * `writer`: a perf.data of samples from elsewhere.
//!
//! ```
//! use fieldline_perfdata::perf_data::{Attr, Endian, Error};
//! use fieldline_perfdata::sample::SampleFields;
//! use fieldline_perfdata::sample_file::SampleFile;
//! use fieldline_perfdata::writer::{RecordingWriter, SampleValues};
//!
//! let mut recording = RecordingWriter::new(Endian::Little);
//! let attr = Attr { sample_type: SampleFields::IP | SampleFields::ADDR, ..Attr::default() };
//! let loads = recording.event("mem-loads", attr, &[]);
//! recording.sample(loads, &SampleValues { ip: 0x4010, addr: 0x1000, ..SampleValues::default() });
//! recording.sample(loads, &SampleValues { ip: 0x4018, addr: 0, ..SampleValues::default() });
//!
//! let counts = SampleFile::from_bytes(recording.to_file())?.count_records()?;
//! assert_eq!((counts.samples(), counts.events[0].with_address), (2, 1));
//! # Ok::<(), Error>(())
//! ```

pub mod address;
pub mod data_source;
pub mod perf_data;
pub mod sample;
pub mod sample_file;
pub mod scan;
pub mod script;
#[cfg(test)]
mod testing;
pub mod writer;
