//! Arguments that functions are made for from templates.

use super::cursor::{Cursor, Type};
use clang_sys as raw;

impl<'u> Cursor<'u> {
    /// The types that a function is made for from its template.
    pub(crate) fn template_arguments(self) -> Vec<Type<'u>> {
        // SAFETY: see `name`; a number too large gives an invalid type.
        let count = unsafe { raw::clang_Cursor_getNumTemplateArguments(self.raw) };
        let argument = |number| {
            // SAFETY: see above.
            Type::with(unsafe { raw::clang_Cursor_getTemplateArgumentType(self.raw, number) })
        };
        let types = (0..u32::try_from(count).unwrap_or(0)).map(argument);
        types.filter(|ty| ty.raw.kind != raw::CXType_Invalid).collect()
    }
}
