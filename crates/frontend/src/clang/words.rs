//! The text that nodes stand for, word by word.

use super::cursor::Cursor;
use super::text::owned;
use clang_sys as raw;
use clang_sys::{CXSourceLocation, CXSourceRange};
use std::ptr::null_mut;

impl Cursor<'_> {
    /// The words of the text that it stands for, macros as they are written.
    pub(crate) fn words(self) -> Vec<String> {
        // SAFETY: the cursor's unit is alive.
        self.words_in(unsafe { raw::clang_getCursorExtent(self.raw) })
    }

    /// The words of the macro's definition that it comes from, parameters as they are written there. Empty if it begins
    /// and ends in different texts.
    pub(crate) fn words_of_macro(self) -> Vec<String> {
        // SAFETY: as above.
        let (begin, end) = unsafe {
            let extent = raw::clang_getCursorExtent(self.raw);
            (written(raw::clang_getRangeStart(extent)), written(raw::clang_getRangeEnd(extent)))
        };
        if begin.0 != end.0 || begin.1 > end.1 {
            return Vec::new();
        }
        // SAFETY: as above; the file is one of the unit's, or null, for which libclang gives a range of nothing.
        let range = unsafe {
            let unit = raw::clang_Cursor_getTranslationUnit(self.raw);
            let at = |offset| raw::clang_getLocationForOffset(unit, begin.0, offset);
            raw::clang_getRange(at(begin.1), at(end.1))
        };
        self.words_in(range)
    }

    fn words_in(self, range: CXSourceRange) -> Vec<String> {
        let (mut tokens, mut count) = (null_mut(), 0);
        // SAFETY: as above; the tokens are disposed of once, after their texts were copied.
        unsafe {
            let unit = raw::clang_Cursor_getTranslationUnit(self.raw);
            raw::clang_tokenize(unit, range, &raw mut tokens, &raw mut count);
            if tokens.is_null() {
                return Vec::new();
            }
            let words =
                (0..count as usize).map(|at| owned(raw::clang_getTokenSpelling(unit, *tokens.add(at))));
            let words = words.collect();
            raw::clang_disposeTokens(unit, tokens, count);
            words
        }
    }
}

/// The file and the byte where a location is written: of what a macro gives, in the macro's definition.
fn written(location: CXSourceLocation) -> (raw::CXFile, u32) {
    let (mut file, mut offset) = (null_mut(), 0);
    // SAFETY: the location comes from a living unit, and libclang takes a null for what isn't wanted.
    unsafe {
        raw::clang_getSpellingLocation(location, &raw mut file, null_mut(), null_mut(), &raw mut offset);
    }
    (file, offset)
}
