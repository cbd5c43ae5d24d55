//! Uses of a struct elsewhere in the tree that depend on where its members stand.
//!
//! Most code names members and follows wherever they move. What doesn't: ranges of bytes that end at a member
//! (`memset(p, 0, offsetof(struct s, m))`, `memset_after`), assertions about offsets, casts between a struct
//! and its first member, initialisers without member names. A file's text is searched for the struct's name
//! first, and cut into tokens only if a hit may be one of these.
//!
//! Uses that one file's text can't show are not found: an object whose type is neither declared in the
//! function nor a parameter of it, an offset that goes through a variable of another file. Only values that a
//! macro of another file gives are followed there: they are listed as unresolved.

mod call;
mod initializer;
mod macro_values;
mod macros;
mod object;
mod offset;
mod prefilter;
mod used_struct;

use crate::scan::SourceText;

pub use macro_values::{
    FileUses, MAX_MACRO_CALLS, MacroDefinition, MacroValue, UnresolvedMacro, find_definitions,
};
pub use used_struct::{StructUse, UseDemand, UsedStruct};

/// The uses in one file. `path` is relative to the top of the tree.
pub fn find_uses(path: &str, text: &[u8], subject: &UsedStruct) -> FileUses {
    let is_assembler = is_assembler(path);
    if !prefilter::may_use(text, subject, is_assembler) {
        return FileUses::default();
    }
    let source = SourceText::new(text);
    let mut all = FileUses::default();
    let found = &mut all.uses;
    if is_assembler {
        offset::find_assembler_uses(&source, subject, found);
    } else {
        offset::find(&source, subject, found);
        object::find(&source, subject, found);
        object::find_casts(&source, subject, found);
        initializer::find(&source, subject, found);
        macros::find(&source, subject, &mut all);
    }
    all.uses.sort();
    all.uses.dedup();
    all.unresolved.sort();
    all.unresolved.dedup();
    all
}

/// Files that turn offsets into constants for assembler code when the kernel is built (Kbuild,
/// `asm-offsets.h`).
fn is_assembler(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|file| file.contains("asm-offsets"))
}

#[cfg(test)]
mod tests;
