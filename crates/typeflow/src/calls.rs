//! Arguments and callbacks that functions pass to each other.
//!
//! * `references`: all places that may call a function or take its address, out of the bytes of the program.
//! * `function_uses`: uses of other functions by an analysed one.
//! * `arguments`: arguments that all callers agree on.

pub(crate) mod arguments;
pub(crate) mod function_uses;
pub(crate) mod references;

pub(crate) use arguments::merge_arguments;
pub(crate) use function_uses::{
    ArgumentValue, CalleeUse, CrossUnitOffset, FunctionUse, collect_function_uses,
};
pub(crate) use references::References;
