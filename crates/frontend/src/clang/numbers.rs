//! Numbers: bits of members, and operators on bits.

use super::cursor::Cursor;
use clang_sys as raw;

impl Cursor<'_> {
    /// Whether a node is `|` or `^`.
    pub(crate) fn joins_bits(self) -> bool {
        // SAFETY: see `name`.
        let operator = unsafe { raw::clang_getCursorBinaryOperatorKind(self.raw) };
        matches!(operator, raw::CXBinaryOperator_Xor | raw::CXBinaryOperator_Or)
    }

    /// Whether it is `x ^ y` or `x ^= y`.
    pub(crate) fn is_exclusive_or(self) -> bool {
        // SAFETY: see `name`.
        let operator = unsafe { raw::clang_getCursorBinaryOperatorKind(self.raw) };
        matches!(operator, raw::CXBinaryOperator_Xor | raw::CXBinaryOperator_XorAssign)
    }

    /// Whether it is `x >>= y` or `x /= y`.
    pub(crate) fn takes_apart(self) -> bool {
        // SAFETY: see `name`.
        let operator = unsafe { raw::clang_getCursorBinaryOperatorKind(self.raw) };
        matches!(operator, raw::CXBinaryOperator_ShrAssign | raw::CXBinaryOperator_DivAssign)
    }

    /// Whether it is `x <<= y` or `x *= y`.
    pub(crate) fn makes_room(self) -> bool {
        // SAFETY: see `name`.
        let operator = unsafe { raw::clang_getCursorBinaryOperatorKind(self.raw) };
        matches!(operator, raw::CXBinaryOperator_ShlAssign | raw::CXBinaryOperator_MulAssign)
    }

    /// How many bits a bit-field has.
    pub(crate) fn bits(self) -> Option<u32> {
        // SAFETY: see `name`.
        u32::try_from(unsafe { raw::clang_getFieldDeclBitWidth(self.raw) }).ok()
    }
}
