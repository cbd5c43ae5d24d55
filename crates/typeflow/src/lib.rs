//! What registers hold along a function, and which type and offset an instruction touches.
//!
//! * `types`: types of debug info as values with places in them.
//! * `program`: functions, symbols and code of a program.
//! * `flow`: what registers and the stack hold along a function.
//! * `calls`: what callers hand to functions, and who calls them.
//! * `operands`: targets of operands in memory, with the reason where there is none.

/// What a table has for a key; if it has nothing, that is worked out and kept.
#[macro_export]
macro_rules! kept {
    ($of:ident.$table:ident, $key:expr, $find:expr) => {{
        let key = $key;
        match $of.$table.get(&key) {
            Some(known) => known.to_owned(),
            None => {
                let found = $find;
                $of.$table.entry(key).or_insert(found).to_owned()
            }
        }
    }};
}

mod calls;
pub mod flow;
pub mod operands;
pub mod program;
pub mod types;
