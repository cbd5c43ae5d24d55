//! Ways of addresses past what their types say: behind a record, in the bytes of holders, into C's library.

pub(in crate::meaning) mod by_value;
pub(in crate::meaning) mod holders;
pub(in crate::meaning) mod library;
pub(in crate::meaning) mod parts;
pub(in crate::meaning) mod reached;
pub(in crate::meaning) mod slots;
pub(in crate::meaning) mod tags;
pub(in crate::meaning) mod views;
