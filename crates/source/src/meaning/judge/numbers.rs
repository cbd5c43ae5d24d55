//! Demands of offsets, sizes and addresses that are used as numbers.

pub(in crate::meaning) mod entries;
pub(in crate::meaning) mod formats;
pub(in crate::meaning) mod masks;
pub(in crate::meaning) mod offsets;
pub(in crate::meaning) mod rooms;
pub(in crate::meaning) mod rows;
pub(in crate::meaning) mod sizes;
