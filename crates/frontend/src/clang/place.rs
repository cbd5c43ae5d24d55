//! Places in source files.

use super::text::owned;
use clang_sys::{
    CXFile, CXSourceLocation, clang_getExpansionLocation, clang_getFileName, clang_getPresumedLocation,
    clang_getSpellingLocation,
};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// A line of a file, and the byte of the file it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) offset: u32,
}

/// libclang's call that takes a location apart.
type Take = unsafe fn(CXSourceLocation, *mut CXFile, *mut u32, *mut u32, *mut u32);

/// Where the compiler reads it: of what a macro gives, where the macro is used.
pub(super) fn expansion(location: CXSourceLocation) -> Place {
    take(location, clang_getExpansionLocation)
}

/// Where it is written: of what a macro gives, in the macro's definition.
pub(super) fn spelling(location: CXSourceLocation) -> Place {
    take(location, clang_getSpellingLocation)
}

/// Where `#line` says that it is; the offset is 0.
pub(super) fn presumed(location: CXSourceLocation) -> Place {
    let mut file = MaybeUninit::uninit();
    let mut line = 0;
    // SAFETY: as below; the call sets the file's name.
    unsafe {
        clang_getPresumedLocation(location, file.as_mut_ptr(), &raw mut line, null_mut());
        Place { file: owned(file.assume_init()), line, offset: 0 }
    }
}

fn take(location: CXSourceLocation, call: Take) -> Place {
    let (mut file, mut line, mut offset) = (null_mut(), 0, 0);
    // SAFETY: the location comes from a living unit, places for the results are valid; libclang takes a null for what
    // isn't wanted and answers a null file's name with an empty string.
    unsafe {
        call(location, &raw mut file, &raw mut line, null_mut(), &raw mut offset);
        Place { file: owned(clang_getFileName(file)), line, offset }
    }
}
