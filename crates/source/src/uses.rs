//! Uses of a struct elsewhere in the tree that depend on where its members stand.
//!
//! Most code names members and follows wherever they move. What doesn't: ranges of bytes that end at a member
//! (`memset(p, 0, offsetof(struct s, m))`, `memset_after`), assertions about offsets, casts between a struct and its
//! first member, initialisers without member names. A file's text is searched for the struct's name first, and cut
//! into tokens only if a hit looks like one of these.
//!
//! What one file's text can't show is not found: an object whose type is neither declared in the same function nor a
//! parameter of it, an offset that goes through a variable of another file. Only values that a macro of another file gives
//! are followed there: the file tells what it awaits.

mod call;
mod demand;
mod given;
mod hint;
mod initial;
mod macros;
mod object;
mod offset;

use crate::scan::SourceText;

pub use demand::{Demand, Use, UsedStruct};
pub use given::{Awaited, Gives, MACROS, MacroDefinition, definitions};

/// What one file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Uses, by line.
    pub uses: Vec<Use>,
    /// Variables of the struct whose values macros of other files give, by line.
    pub awaited: Vec<Awaited>,
}

/// The uses in one file. `path` is relative to the top of the tree.
pub fn uses(path: &str, text: &[u8], subject: &UsedStruct) -> Findings {
    let is_assembler = is_assembler(path);
    if !hint::may_use(text, subject, is_assembler) {
        return Findings::default();
    }
    let source = SourceText::new(text);
    let (mut found, mut awaited) = (Vec::new(), Vec::new());
    if is_assembler {
        offset::assembler(&source, subject, &mut found);
    } else {
        offset::find(&source, subject, &mut found);
        object::find(&source, subject, &mut found);
        object::casts(&source, subject, &mut found);
        initial::find(&source, subject, &mut found);
        macros::find(&source, subject, &mut found, &mut awaited);
    }
    found.sort();
    found.dedup();
    awaited.sort();
    awaited.dedup();
    Findings { uses: found, awaited }
}

/// Files that turn offsets into constants for assembler code when the kernel is built (Kbuild, `asm-offsets.h`).
fn is_assembler(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|file| file.contains("asm-offsets"))
}

#[cfg(test)]
mod tests;
