//! Nodes of the syntax tree, and types.

use super::kind::{Kind, Operator, binary, kind, unary};
use super::place::{Place, expansion, presumed, spelling};
use super::text::owned;
use clang_sys as raw;
use clang_sys::{CXCursor, CXType};
use std::marker::PhantomData;

/// Tells declarations of a unit apart.
pub(crate) type Identity = usize;

/// A node of a unit's tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'u> {
    pub(super) raw: CXCursor,
    pub(super) unit: PhantomData<&'u ()>,
}

impl<'u> Cursor<'u> {
    pub(super) fn with(raw: CXCursor) -> Option<Self> {
        // SAFETY: asks about a number.
        let is_there = unsafe { raw::clang_isInvalid(raw.kind) == 0 };
        is_there.then_some(Self { raw, unit: PhantomData })
    }

    pub(crate) fn kind(self) -> Kind {
        kind(self.raw.kind)
    }

    /// Whether nothing below the node can matter: `#include`, comments, attributes.
    pub(super) fn is_dead_end(self) -> bool {
        // SAFETY: asks about a number.
        unsafe { raw::clang_isPreprocessing(self.raw.kind) != 0 }
    }

    pub(crate) fn identity(self) -> Identity {
        self.raw.data.first().map_or(0, |pointer| pointer.addr())
    }

    pub(crate) fn name(self) -> String {
        // SAFETY: the cursor's unit is alive, as for all calls below.
        owned(unsafe { raw::clang_getCursorSpelling(self.raw) })
    }

    pub(crate) fn ty(self) -> Type<'u> {
        // SAFETY: see `name`.
        Type::with(unsafe { raw::clang_getCursorType(self.raw) })
    }

    /// Where the compiler reads it.
    pub(crate) fn place(self) -> Place {
        // SAFETY: see `name`.
        expansion(unsafe { raw::clang_getCursorLocation(self.raw) })
    }

    /// Where it is written, which may be a macro's definition.
    pub(crate) fn spelled(self) -> Place {
        // SAFETY: see `name`.
        spelling(unsafe { raw::clang_getCursorLocation(self.raw) })
    }

    /// The place that debug info names: `#line` counts.
    pub(crate) fn presumed(self) -> Place {
        // SAFETY: see `name`.
        presumed(unsafe { raw::clang_getCursorLocation(self.raw) })
    }

    /// A name of a declaration that is the same in all units.
    pub(crate) fn identifier(self) -> String {
        // SAFETY: see `name`.
        owned(unsafe { raw::clang_getCursorUSR(self.raw) })
    }

    /// The name that the linker knows a variable or a function by.
    pub(crate) fn symbol(self) -> String {
        // SAFETY: see `name`.
        owned(unsafe { raw::clang_Cursor_getMangling(self.raw) })
    }

    /// Whether it stands in the file that the compiler was given.
    pub(crate) fn is_in_main_file(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_Location_isFromMainFile(raw::clang_getCursorLocation(self.raw)) != 0 }
    }

    /// Whether it stands in a header of the system.
    pub(crate) fn is_of_system(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_Location_isInSystemHeader(raw::clang_getCursorLocation(self.raw)) != 0 }
    }

    /// Whether a declaration is C++.
    pub(crate) fn is_of_cpp(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_getCursorLanguage(self.raw) == raw::CXLanguage_CPlusPlus }
    }

    /// Whether other units can know a declaration by its name.
    pub(crate) fn is_shared(self) -> bool {
        // SAFETY: see `name`.
        matches!(
            unsafe { raw::clang_getCursorLinkage(self.raw) },
            raw::CXLinkage_External | raw::CXLinkage_UniqueExternal
        )
    }

    /// The declaration that a name means.
    pub(crate) fn referenced(self) -> Option<Self> {
        // SAFETY: see `name`.
        Self::with(unsafe { raw::clang_getCursorReferenced(self.raw) })
    }

    /// The definition of what is declared or named.
    pub(crate) fn definition(self) -> Option<Self> {
        // SAFETY: see `name`.
        Self::with(unsafe { raw::clang_getCursorDefinition(self.raw) })
    }

    /// The template, or the member of one, that a function was made from.
    pub(crate) fn template(self) -> Option<Self> {
        // SAFETY: see `name`.
        Self::with(unsafe { raw::clang_getSpecializedCursorTemplate(self.raw) })
    }

    /// The record, function or unit that holds a declaration.
    pub(crate) fn holder(self) -> Option<Self> {
        // SAFETY: see `name`.
        Self::with(unsafe { raw::clang_getCursorSemanticParent(self.raw) })
    }

    pub(crate) fn binary_operator(self) -> Operator {
        // SAFETY: see `name`.
        binary(unsafe { raw::clang_getCursorBinaryOperatorKind(self.raw) })
    }

    pub(crate) fn unary_operator(self) -> Operator {
        // SAFETY: see `name`.
        unary(unsafe { raw::clang_getCursorUnaryOperatorKind(self.raw) })
    }

    /// The number that an expression always is.
    pub(crate) fn constant(self) -> Option<i64> {
        // SAFETY: see `name`; the result is disposed of once and only asked for while it is there.
        unsafe {
            let result = raw::clang_Cursor_Evaluate(self.raw);
            if result.is_null() {
                return None;
            }
            let value = (raw::clang_EvalResult_getKind(result) == raw::CXEval_Int)
                .then(|| raw::clang_EvalResult_getAsLongLong(result));
            raw::clang_EvalResult_dispose(result);
            value
        }
    }

    /// Bits in front of a member in its record.
    pub(crate) fn bit_offset(self) -> Option<u64> {
        // SAFETY: see `name`.
        u64::try_from(unsafe { raw::clang_Cursor_getOffsetOfField(self.raw) }).ok()
    }

    /// Whether a record has neither a tag nor a name as a member.
    pub(crate) fn is_anonymous(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_Cursor_isAnonymousRecordDecl(self.raw) != 0 }
    }

    pub(crate) fn is_bit_field(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_Cursor_isBitField(self.raw) != 0 }
    }

    /// Whether a function is `= default`.
    pub(crate) fn is_defaulted(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_CXXMethod_isDefaulted(self.raw) != 0 }
    }

    /// Whether a function is `= delete`d.
    pub(crate) fn is_deleted(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_getCursorAvailability(self.raw) == raw::CXAvailability_NotAvailable }
    }

    /// Whether a method promises to leave its object as it is.
    pub(crate) fn is_const_method(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_CXXMethod_isConst(self.raw) != 0 }
    }

    /// The methods of bases that a method overrides.
    pub(crate) fn overridden(self) -> Vec<Self> {
        let (mut cursors, mut count) = (std::ptr::null_mut(), 0);
        // SAFETY: see `name`; the list is disposed of once, after its cursors were copied.
        unsafe {
            raw::clang_getOverriddenCursors(self.raw, &raw mut cursors, &raw mut count);
            if cursors.is_null() {
                return Vec::new();
            }
            let found = (0..count as usize).filter_map(|at| Self::with(*cursors.add(at))).collect();
            raw::clang_disposeOverriddenCursors(cursors);
            found
        }
    }

    /// Whether a function is called by what an object is, not by its name.
    pub(crate) fn is_virtual(self) -> bool {
        // SAFETY: see `name`.
        unsafe { raw::clang_CXXMethod_isVirtual(self.raw) != 0 }
    }

    /// How many arguments a call has, or parameters a function.
    pub(crate) fn argument_count(self) -> u32 {
        // SAFETY: see `name`.
        u32::try_from(unsafe { raw::clang_Cursor_getNumArguments(self.raw) }).unwrap_or(0)
    }

    /// An argument of a call, a parameter of a function.
    pub(crate) fn argument(self, number: u32) -> Option<Self> {
        // SAFETY: see `name`; a number too large gives an invalid cursor.
        Self::with(unsafe { raw::clang_Cursor_getArgument(self.raw, number) })
    }
}

/// A type's kind, typedefs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeKind {
    Void,
    /// `char` of any sign, and C++'s `std::byte`-like kin are not.
    Byte,
    Number,
    Pointer,
    Array,
    Record,
    Function,
    Other,
}

/// A type of a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type<'u> {
    pub(super) raw: CXType,
    unit: PhantomData<&'u ()>,
}

impl<'u> Type<'u> {
    pub(super) fn with(raw: CXType) -> Self {
        Self { raw, unit: PhantomData }
    }

    /// The type behind all typedefs, and of values that are changed at once.
    pub(crate) fn canonical(self) -> Self {
        // SAFETY: the type's unit is alive, as for all calls below.
        let ty = unsafe { raw::clang_getCanonicalType(self.raw) };
        match ty.kind {
            // SAFETY: see above.
            raw::CXType_Atomic => {
                Self::with(unsafe { raw::clang_getCanonicalType(raw::clang_Type_getValueType(ty)) })
            }
            _ => Self::with(ty),
        }
    }

    pub(crate) fn kind(self) -> TypeKind {
        match self.canonical().raw.kind {
            raw::CXType_Void => TypeKind::Void,
            raw::CXType_Char_U | raw::CXType_UChar | raw::CXType_Char_S | raw::CXType_SChar => TypeKind::Byte,
            raw::CXType_Bool..=raw::CXType_LongDouble | raw::CXType_Enum | raw::CXType_Float128 => {
                TypeKind::Number
            }
            raw::CXType_Pointer | raw::CXType_LValueReference | raw::CXType_RValueReference => {
                TypeKind::Pointer
            }
            raw::CXType_ConstantArray | raw::CXType_IncompleteArray | raw::CXType_VariableArray => {
                TypeKind::Array
            }
            raw::CXType_Record => TypeKind::Record,
            raw::CXType_FunctionProto | raw::CXType_FunctionNoProto => TypeKind::Function,
            _ => TypeKind::Other,
        }
    }

    /// The target of a pointer or reference.
    pub(crate) fn pointee(self) -> Option<Self> {
        (self.kind() == TypeKind::Pointer).then(|| {
            // SAFETY: see `canonical`.
            Self::with(unsafe { raw::clang_getPointeeType(self.canonical().raw) })
        })
    }

    /// Whether it is a reference to what is no pointer: its name is the object itself.
    pub(crate) fn is_reference(self) -> bool {
        let kind = self.canonical().raw.kind;
        matches!(kind, raw::CXType_LValueReference | raw::CXType_RValueReference)
            && self.pointee().is_some_and(|own| own.kind() != TypeKind::Pointer)
    }

    /// An array's elements.
    pub(crate) fn element(self) -> Option<Self> {
        (self.kind() == TypeKind::Array).then(|| {
            // SAFETY: see `canonical`.
            Self::with(unsafe { raw::clang_getArrayElementType(self.canonical().raw) })
        })
    }

    /// How many elements an array has; `None` for `[]` and lengths that are not constant.
    pub(crate) fn length(self) -> Option<u64> {
        // SAFETY: see `canonical`.
        u64::try_from(unsafe { raw::clang_getArraySize(self.canonical().raw) }).ok()
    }

    /// Bytes; `None` for what has no size yet.
    pub(crate) fn size(self) -> Option<u64> {
        // libclang ends the process if it is asked the size of what stands for a type: that of a builtin function's name.
        let kind = self.canonical().raw.kind;
        let is_type = !matches!(kind, raw::CXType_Unexposed | raw::CXType_Overload | raw::CXType_Dependent);
        // SAFETY: see `canonical`.
        is_type.then(|| u64::try_from(unsafe { raw::clang_Type_getSizeOf(self.raw) }).ok())?
    }

    /// Bytes that its place is a multiple of.
    pub(crate) fn alignment(self) -> Option<u64> {
        // SAFETY: see `canonical`.
        u64::try_from(unsafe { raw::clang_Type_getAlignOf(self.raw) }).ok().filter(|bytes| *bytes > 0)
    }

    /// The declaration of a record, typedef or enumeration: the definition, where it is. libclang 22 gives the first.
    pub(crate) fn declaration(self) -> Option<Cursor<'u>> {
        // SAFETY: see `canonical`.
        let declared = Cursor::with(unsafe { raw::clang_getTypeDeclaration(self.raw) })?;
        let is_there = declared.raw.kind != raw::CXCursor_NoDeclFound;
        is_there.then(|| declared.definition().unwrap_or(declared))
    }

    /// A typedef's own type.
    pub(crate) fn behind_typedef(self) -> Option<Self> {
        let declaration = self.declaration()?;
        matches!(declaration.raw.kind, raw::CXCursor_TypedefDecl | raw::CXCursor_TypeAliasDecl).then(|| {
            // SAFETY: see `canonical`.
            Self::with(unsafe { raw::clang_getTypedefDeclUnderlyingType(declaration.raw) })
        })
    }

    /// The members of a record as declared, unnamed ones among them.
    pub(crate) fn members(self) -> Vec<Cursor<'u>> {
        let mut members: Vec<CXCursor> = Vec::new();
        let data: *mut Vec<CXCursor> = &raw mut members;
        // SAFETY: `keep` casts the data back to what it is, and nothing else uses it during the call.
        unsafe { raw::clang_Type_visitFields(self.canonical().raw, keep, data.cast()) };
        members.into_iter().filter_map(Cursor::with).collect()
    }

    /// The types a template was given for this type.
    pub(crate) fn template_arguments(self) -> Vec<Self> {
        // SAFETY: see `canonical`; a number too large gives an invalid type.
        let count = unsafe { raw::clang_Type_getNumTemplateArguments(self.canonical().raw) };
        let argument = |number| {
            // SAFETY: see above.
            Self::with(unsafe { raw::clang_Type_getTemplateArgumentAsType(self.canonical().raw, number) })
        };
        (0..u32::try_from(count).unwrap_or(0)).map(argument).collect()
    }

    /// A function's parameter.
    pub(crate) fn parameter(self, number: u32) -> Option<Self> {
        // SAFETY: see `canonical`; a number too large gives an invalid type.
        let parameter = Self::with(unsafe { raw::clang_getArgType(self.canonical().raw, number) });
        (parameter.raw.kind != raw::CXType_Invalid).then_some(parameter)
    }

    /// The class whose members a pointer to members leads to.
    pub(crate) fn member_class(self) -> Option<Self> {
        let ty = self.canonical();
        // SAFETY: see `canonical`.
        (ty.raw.kind == raw::CXType_MemberPointer)
            .then(|| Self::with(unsafe { raw::clang_Type_getClassType(ty.raw) }))
    }

    /// Whether objects of it are made, copied and dropped without any function.
    pub(crate) fn is_plain_data(self) -> bool {
        // SAFETY: see `canonical`.
        unsafe { raw::clang_isPODType(self.canonical().raw) != 0 }
    }

    /// Whether it says `const` itself.
    pub(crate) fn is_const(self) -> bool {
        // SAFETY: see `canonical`.
        unsafe { raw::clang_isConstQualifiedType(self.canonical().raw) != 0 }
    }

    /// Whether it is a type, not one that a template will be given.
    pub(crate) fn is_known(self) -> bool {
        let kind = self.canonical().raw.kind;
        !matches!(
            kind,
            raw::CXType_Invalid | raw::CXType_Unexposed | raw::CXType_Dependent | raw::CXType_Auto
        )
    }

    /// Whether it is a number without a fraction, wider than a truth value.
    pub(crate) fn is_integer(self) -> bool {
        matches!(
            self.canonical().raw.kind,
            raw::CXType_Char_U..=raw::CXType_UInt128 | raw::CXType_Char_S..=raw::CXType_Int128
        )
    }

    /// Whether its values are named.
    pub(crate) fn is_enumeration(self) -> bool {
        self.canonical().raw.kind == raw::CXType_Enum
    }

    /// Bytes in front of a member, those of unnamed members inside too.
    pub(crate) fn offset_of(self, member: &str) -> Option<u64> {
        let name = std::ffi::CString::new(member).ok()?;
        // SAFETY: see `canonical`; the name ends in a zero and outlives the call.
        let bits = unsafe { raw::clang_Type_getOffsetOf(self.canonical().raw, name.as_ptr()) };
        u64::try_from(bits).ok().map(|bits| bits / 8)
    }

    /// Whether a function takes more arguments than it names, or any.
    pub(crate) fn is_open_function(self) -> bool {
        let ty = self.canonical();
        // SAFETY: see `canonical`.
        ty.raw.kind == raw::CXType_FunctionNoProto
            || unsafe { raw::clang_isFunctionTypeVariadic(ty.raw) != 0 }
    }

    /// Whether a function is declared without saying what it takes.
    pub(crate) fn has_no_parameters_declared(self) -> bool {
        self.canonical().raw.kind == raw::CXType_FunctionNoProto
    }

    /// The type that a function returns.
    pub(crate) fn result(self) -> Option<Self> {
        // SAFETY: see `canonical`.
        let result = Self::with(unsafe { raw::clang_getResultType(self.canonical().raw) });
        (result.raw.kind != raw::CXType_Invalid).then_some(result)
    }

    /// The number of parameters of a function type.
    pub(crate) fn parameter_count(self) -> usize {
        // SAFETY: see `canonical`.
        usize::try_from(unsafe { raw::clang_getNumArgTypes(self.canonical().raw) }).unwrap_or(0)
    }

    /// Whether a function takes more arguments than it has parameters.
    pub(crate) fn is_variadic(self) -> bool {
        // SAFETY: see `canonical`.
        unsafe { raw::clang_isFunctionTypeVariadic(self.canonical().raw) != 0 }
    }

    /// The type as the front end writes it, without qualifiers.
    pub(crate) fn spelling(self) -> String {
        // SAFETY: see `canonical`.
        owned(unsafe { raw::clang_getTypeSpelling(self.unqualified().raw) })
    }

    /// The type without `const` and its kin. libclang follows a null where there is no type.
    fn unqualified(self) -> Self {
        match self.raw.kind {
            raw::CXType_Invalid => self,
            // SAFETY: see `canonical`; there is a type.
            _ => Self::with(unsafe { raw::clang_getUnqualifiedType(self.raw) }),
        }
    }

    pub(crate) fn equals(self, other: Self) -> bool {
        let plain = |ty: Self| ty.canonical().unqualified().raw;
        // SAFETY: see `canonical`.
        unsafe { raw::clang_equalTypes(plain(self), plain(other)) != 0 }
    }
}

/// Keeps one member.
extern "C" fn keep(cursor: CXCursor, data: raw::CXClientData) -> raw::CXVisitorResult {
    let members: *mut Vec<CXCursor> = data.cast();
    // SAFETY: `Type::members` handed in a vector that outlives the call and that nothing else uses meanwhile.
    unsafe { (*members).push(cursor) };
    raw::CXVisit_Continue
}
