//! Kinds of nodes, types and operators, as far as anybody asks for them.

use clang_sys as raw;

/// A node's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// An expression libclang has no kind for: implicit casts, `offsetof`, designated values.
    Unexposed,
    Paren,
    /// `(T)x`, and C++'s casts but `dynamic_cast`.
    Cast,
    /// `T(x)`, `T{x}`.
    FunctionalCast,
    /// `__builtin_bit_cast(T, x)`. libclang gives it no type.
    BitCast,
    Call,
    Unary,
    Binary,
    Conditional,
    /// `_Generic`: the value that is only asked for its type, then all that may be chosen.
    Selection,
    /// `a.b`, `a->b`.
    MemberAccess,
    /// The name of a variable, function or enumerator.
    Name,
    Subscript,
    /// `sizeof` and its kin.
    SizeOf,
    Integer,
    /// Characters between quotes.
    Text,
    /// `{…}` of values.
    List,
    CompoundLiteral,
    StatementExpression,
    New,
    Throw,
    /// `[…] (…) { … }`
    Lambda,
    This,
    /// `requires { … }`
    Requires,
    /// The name of a member in `offsetof`, a designator, a constructor's initialiser.
    MemberName,
    /// The name of a variable that a function without a name keeps.
    VariableName,
    /// The name of a type, or of a namespace in front of one.
    TypeName,
    Variable,
    Parameter,
    Member,
    Function,
    Constructor,
    Destructor,
    /// A template of a function.
    Template,
    Record,
    Union,
    Typedef,
    Base,
    /// A template's parameter that is a value.
    TemplateValue,
    /// A definition of a macro.
    Macro,
    Enumeration,
    Enumerator,
    StaticAssert,
    Asm,
    Switch,
    Case,
    Return,
    Declarations,
    /// `{…}` of statements.
    Block,
    /// A statement that tests or drops the values directly below it.
    Statement,
    Delete,
    UnexposedDeclaration,
    Packed,
    /// An attribute that libclang has no kind for.
    Attribute,
    Other,
}

pub(super) fn kind(number: i32) -> Kind {
    expression(number).or_else(|| declaration(number)).unwrap_or(Kind::Other)
}

fn expression(number: i32) -> Option<Kind> {
    Some(match number {
        raw::CXCursor_UnexposedExpr => Kind::Unexposed,
        raw::CXCursor_ParenExpr => Kind::Paren,
        raw::CXCursor_CStyleCastExpr
        | raw::CXCursor_CXXReinterpretCastExpr
        | raw::CXCursor_CXXStaticCastExpr
        | raw::CXCursor_CXXConstCastExpr => Kind::Cast,
        raw::CXCursor_CXXFunctionalCastExpr => Kind::FunctionalCast,
        280 => Kind::BitCast,
        raw::CXCursor_CallExpr => Kind::Call,
        raw::CXCursor_UnaryOperator => Kind::Unary,
        raw::CXCursor_BinaryOperator | raw::CXCursor_CompoundAssignOperator => Kind::Binary,
        raw::CXCursor_ConditionalOperator => Kind::Conditional,
        raw::CXCursor_GenericSelectionExpr => Kind::Selection,
        raw::CXCursor_MemberRefExpr => Kind::MemberAccess,
        raw::CXCursor_DeclRefExpr => Kind::Name,
        raw::CXCursor_ArraySubscriptExpr => Kind::Subscript,
        raw::CXCursor_UnaryExpr => Kind::SizeOf,
        raw::CXCursor_IntegerLiteral => Kind::Integer,
        raw::CXCursor_StringLiteral => Kind::Text,
        // The second is `T(…)` of C++20.
        raw::CXCursor_InitListExpr | 155 => Kind::List,
        raw::CXCursor_CompoundLiteralExpr => Kind::CompoundLiteral,
        raw::CXCursor_StmtExpr => Kind::StatementExpression,
        raw::CXCursor_CXXNewExpr => Kind::New,
        raw::CXCursor_LambdaExpr => Kind::Lambda,
        raw::CXCursor_CXXThisExpr => Kind::This,
        154 => Kind::Requires,
        _ => return None,
    })
}

fn declaration(number: i32) -> Option<Kind> {
    Some(match number {
        raw::CXCursor_MemberRef => Kind::MemberName,
        raw::CXCursor_VariableRef => Kind::VariableName,
        raw::CXCursor_TypeRef | raw::CXCursor_NamespaceRef | raw::CXCursor_TemplateRef => Kind::TypeName,
        raw::CXCursor_VarDecl => Kind::Variable,
        raw::CXCursor_ParmDecl => Kind::Parameter,
        raw::CXCursor_FieldDecl => Kind::Member,
        raw::CXCursor_FunctionDecl | raw::CXCursor_CXXMethod => Kind::Function,
        raw::CXCursor_Constructor => Kind::Constructor,
        raw::CXCursor_Destructor => Kind::Destructor,
        raw::CXCursor_ConversionFunction => Kind::Function,
        raw::CXCursor_FunctionTemplate => Kind::Template,
        raw::CXCursor_StructDecl | raw::CXCursor_ClassDecl => Kind::Record,
        raw::CXCursor_UnionDecl => Kind::Union,
        raw::CXCursor_TypedefDecl | raw::CXCursor_TypeAliasDecl => Kind::Typedef,
        raw::CXCursor_CXXBaseSpecifier => Kind::Base,
        raw::CXCursor_NonTypeTemplateParameter => Kind::TemplateValue,
        raw::CXCursor_MacroDefinition => Kind::Macro,
        raw::CXCursor_EnumDecl => Kind::Enumeration,
        raw::CXCursor_EnumConstantDecl => Kind::Enumerator,
        raw::CXCursor_StaticAssert => Kind::StaticAssert,
        raw::CXCursor_AsmStmt | raw::CXCursor_MSAsmStmt => Kind::Asm,
        raw::CXCursor_SwitchStmt => Kind::Switch,
        raw::CXCursor_CaseStmt => Kind::Case,
        raw::CXCursor_ReturnStmt => Kind::Return,
        raw::CXCursor_DeclStmt => Kind::Declarations,
        raw::CXCursor_CompoundStmt => Kind::Block,
        raw::CXCursor_IfStmt
        | raw::CXCursor_WhileStmt
        | raw::CXCursor_DoStmt
        | raw::CXCursor_ForStmt
        | raw::CXCursor_LabelStmt
        | raw::CXCursor_DefaultStmt
        | raw::CXCursor_IndirectGotoStmt => Kind::Statement,
        raw::CXCursor_CXXDeleteExpr => Kind::Delete,
        raw::CXCursor_CXXThrowExpr => Kind::Throw,
        raw::CXCursor_UnexposedDecl => Kind::UnexposedDeclaration,
        raw::CXCursor_PackedAttr => Kind::Packed,
        raw::CXCursor_UnexposedAttr => Kind::Attribute,
        _ => return None,
    })
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    /// `&`, `|`, `^`.
    Bits,
    /// `&=`, `|=`, `^=`.
    AssignBits,
    /// `*=`, `/=`, `<<=`, `>>=`.
    Scale,
    /// `==`, `!=`.
    Compare,
    /// `<` and the like, `<=>`.
    Order,
    /// `&&`, `||`.
    Logic,
    Assign,
    /// `+=`.
    Move,
    /// `-=`.
    MoveBack,
    Comma,
    AddressOf,
    Dereference,
    /// `++`.
    Step,
    /// `--`.
    StepBack,
    Minus,
    /// `~`.
    Complement,
    /// `!`.
    Not,
    /// Changes nothing: `+x`, `__extension__ x`.
    Same,
    Other,
}

pub(super) fn binary(number: i32) -> Operator {
    match number {
        raw::CXBinaryOperator_Add => Operator::Add,
        raw::CXBinaryOperator_Sub => Operator::Subtract,
        raw::CXBinaryOperator_Mul => Operator::Multiply,
        raw::CXBinaryOperator_Div => Operator::Divide,
        raw::CXBinaryOperator_Rem => Operator::Remainder,
        raw::CXBinaryOperator_Shl => Operator::ShiftLeft,
        raw::CXBinaryOperator_Shr => Operator::ShiftRight,
        raw::CXBinaryOperator_Cmp | raw::CXBinaryOperator_LT..=raw::CXBinaryOperator_GE => Operator::Order,
        raw::CXBinaryOperator_EQ | raw::CXBinaryOperator_NE => Operator::Compare,
        raw::CXBinaryOperator_And..=raw::CXBinaryOperator_Or => Operator::Bits,
        raw::CXBinaryOperator_LAnd | raw::CXBinaryOperator_LOr => Operator::Logic,
        raw::CXBinaryOperator_Assign => Operator::Assign,
        raw::CXBinaryOperator_AddAssign => Operator::Move,
        raw::CXBinaryOperator_SubAssign => Operator::MoveBack,
        raw::CXBinaryOperator_AndAssign
        | raw::CXBinaryOperator_OrAssign
        | raw::CXBinaryOperator_XorAssign => Operator::AssignBits,
        raw::CXBinaryOperator_MulAssign
        | raw::CXBinaryOperator_DivAssign
        | raw::CXBinaryOperator_ShlAssign
        | raw::CXBinaryOperator_ShrAssign => Operator::Scale,
        raw::CXBinaryOperator_Comma => Operator::Comma,
        _ => Operator::Other,
    }
}

pub(super) fn unary(number: i32) -> Operator {
    match number {
        raw::CXUnaryOperator_AddrOf => Operator::AddressOf,
        raw::CXUnaryOperator_Deref => Operator::Dereference,
        raw::CXUnaryOperator_PostInc | raw::CXUnaryOperator_PreInc => Operator::Step,
        raw::CXUnaryOperator_PostDec | raw::CXUnaryOperator_PreDec => Operator::StepBack,
        raw::CXUnaryOperator_Minus => Operator::Minus,
        raw::CXUnaryOperator_Not => Operator::Complement,
        raw::CXUnaryOperator_LNot => Operator::Not,
        raw::CXUnaryOperator_Plus | raw::CXUnaryOperator_Extension => Operator::Same,
        _ => Operator::Other,
    }
}
