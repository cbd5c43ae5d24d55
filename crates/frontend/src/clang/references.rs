//! Types that are references.

use super::cursor::Type;
use clang_sys as raw;

impl Type<'_> {
    /// Whether its objects are other names of objects, of pointers too.
    pub(crate) fn is_bound(self) -> bool {
        matches!(self.canonical().raw.kind, raw::CXType_LValueReference | raw::CXType_RValueReference)
    }

    /// Whether it is a reference to an object that nobody needs any more: `T &&`.
    pub(crate) fn is_given_up(self) -> bool {
        self.canonical().raw.kind == raw::CXType_RValueReference
    }
}
