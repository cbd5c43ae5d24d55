//! Strings that libclang owns.

use clang_sys::{CXString, clang_disposeString, clang_getCString};
use std::ffi::CStr;

/// A copy of libclang's string, which is given back.
pub(super) fn owned(string: CXString) -> String {
    // SAFETY: the string was just handed out by libclang and is disposed of once, after it was copied.
    unsafe {
        let text = clang_getCString(string);
        let copy = match text.is_null() {
            true => String::new(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        };
        clang_disposeString(string);
        copy
    }
}
