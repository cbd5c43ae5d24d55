//! The content of the sections: units, abbreviations, DIEs and their values.
//!
//! * `sections`: the sections of a file and of its supplementary file.
//! * `units`: where units begin; DIEs by offset.
//! * `abbrev`: attributes at known places.
//! * `scan`: walking hundreds of megabytes of DIEs.
//! * `values`: the meaning of attribute values.

pub(crate) mod abbrev;
pub(crate) mod scan;
pub(crate) mod sections;
pub(crate) mod units;
pub(crate) mod values;
