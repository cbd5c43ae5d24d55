//! Declarations as they are written.

pub(in crate::meaning) mod cursor;
pub(in crate::meaning) mod declarator;
pub(in crate::meaning) mod items;
pub(in crate::meaning) mod record;
pub(in crate::meaning) mod specifiers;
pub(in crate::meaning) mod words;
