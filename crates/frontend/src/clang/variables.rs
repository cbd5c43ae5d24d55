//! Declarations of variables: where they live, and whether they have a value.

use super::cursor::Cursor;
use super::kind::Kind;
use clang_sys as raw;

impl Cursor<'_> {
    /// Whether a variable is declared `static`.
    pub(crate) fn is_static(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        unsafe { raw::clang_Cursor_getStorageClass(self.raw) == raw::CX_SC_Static }
    }

    /// Whether a variable is declared `extern`, without a value: another declaration makes it.
    pub(crate) fn is_extern(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        let class = unsafe { raw::clang_Cursor_getStorageClass(self.raw) };
        class == raw::CX_SC_Extern && !self.is_initialized()
    }

    /// Whether a variable is gone when its function returns.
    pub(crate) fn is_local(self) -> bool {
        let is_function = |holder: Cursor<'_>| {
            matches!(holder.kind(), Kind::Function | Kind::Constructor | Kind::Destructor | Kind::Template)
        };
        self.kind() == Kind::Variable && !self.is_static() && self.holder().is_some_and(is_function)
    }

    /// Whether it is a variable of all functions that lives in a register: `register T x asm("rsp")`.
    pub(crate) fn is_global_register(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        let class = unsafe { raw::clang_Cursor_getStorageClass(self.raw) };
        class == raw::CX_SC_Register && self.kind() == Kind::Variable && !self.is_of_function()
    }

    /// Whether a member is no secret of its class.
    pub(crate) fn is_public(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        unsafe { raw::clang_getCXXAccessSpecifier(self.raw) == raw::CX_CXXPublic }
    }

    /// Whether it is declared in a function.
    fn is_of_function(self) -> bool {
        self.holder().is_some_and(|holder| matches!(holder.kind(), Kind::Function))
    }

    /// Whether a variable is declared with a value.
    pub(crate) fn is_initialized(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        Self::with(unsafe { raw::clang_Cursor_getVarDeclInitializer(self.raw) }).is_some()
    }
}
