//! Code of functions, read for the values that go through it.

pub(in crate::meaning) mod assembler;
pub(in crate::meaning) mod body;
pub(in crate::meaning) mod declaration;
pub(in crate::meaning) mod described;
pub(in crate::meaning) mod evaluator;
pub(in crate::meaning) mod expression;
pub(in crate::meaning) mod lists;
pub(in crate::meaning) mod operand;
pub(in crate::meaning) mod statement;
pub(in crate::meaning) mod tell;
pub(in crate::meaning) mod unary;
