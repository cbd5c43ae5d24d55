//! Demands of code on the order of members.

pub(in crate::meaning) mod access;
pub(in crate::meaning) mod arrays;
pub(in crate::meaning) mod bytes;
pub(in crate::meaning) mod callee;
pub(in crate::meaning) mod calls;
pub(in crate::meaning) mod convert;
pub(in crate::meaning) mod cpp;
pub(in crate::meaning) mod definition;
pub(in crate::meaning) mod escapes;
pub(in crate::meaning) mod handing;
pub(in crate::meaning) mod numbers;
pub(in crate::meaning) mod ordering;
pub(in crate::meaning) mod symbols;
pub(in crate::meaning) mod texts;
pub(in crate::meaning) mod ways;
