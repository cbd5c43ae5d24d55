//! Addresses that are operands of assembler code.

use super::super::facts::{End, State};
use super::super::seeds::is_open;
use super::follower::Follower;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// Registers that are longer than a pointer, and instructions that access two of them, by parts of their names.
const WIDE: [(&str, u64); 9] = [
    ("zmm", 64),
    ("ymm", 32),
    ("xmm", 16),
    ("cmpxchg16b", 16),
    ("cmpxchg8b", 8),
    ("ldp ", 16),
    ("stp ", 16),
    ("ldxp ", 16),
    ("casp ", 16),
];

/// Assembler code as it is written.
struct Written {
    /// The bytes that its widest instruction may access.
    width: Option<u64>,
    has_instructions: bool,
    /// Of each operand, in order.
    constraints: Vec<String>,
    changes_memory: bool,
}

impl Written {
    /// `None` where a macro hides the text.
    fn read(node: Cursor<'_>) -> Option<Self> {
        let words = node.words();
        let is_asm = words.first().is_some_and(|first| first.trim_matches('_') == "asm");
        let begin = words.iter().position(|word| word == "(").filter(|_| is_asm)?;
        let behind = words.get(begin + 1..)?;
        let is_text = |word: &String| word.starts_with('"');
        let template: Vec<&String> = behind.iter().take_while(|word| is_text(word)).collect();
        let has_instructions = template.iter().any(|text| !text.trim_matches('"').trim().is_empty());
        let operands = behind.get(template.len()..)?;
        // Anything else is a macro in the text.
        if operands.first().is_some_and(|next| !matches!(next.as_str(), ":" | "::" | ")")) {
            return None;
        }
        let (mut depth, mut constraints) = (0_usize, Vec::new());
        for (at, word) in operands.iter().enumerate() {
            match word.as_str() {
                "(" => {
                    let constraint = at.checked_sub(1).and_then(|at| operands.get(at));
                    constraints.extend(constraint.filter(|word| depth == 0 && is_text(word)).cloned());
                    depth += 1;
                }
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let changes_memory = operands.iter().any(|word| word == "\"memory\"");
        let has_word = |word: &&str| template.iter().any(|text| text.contains(word));
        let width = WIDE.iter().find(|(word, _)| has_word(word)).map(|(_, width)| *width);
        Some(Self { width, has_instructions, constraints, changes_memory })
    }
}

/// Members in memory that are operands of instructions which access more bytes than they have, with the bytes.
pub(crate) fn wide_operands(view: View<'_, '_, '_>, node: Index) -> Vec<(Index, u64)> {
    let Some(written) = view.cursor(node).and_then(Written::read) else { return Vec::new() };
    let operands: Vec<Index> = view.tree.values(node).collect();
    let Some(width) = written.width.filter(|_| written.constraints.len() == operands.len()) else {
        return Vec::new();
    };
    let operands = operands.into_iter().zip(&written.constraints);
    let in_memory = operands.filter(|(operand, constraint)| {
        let size = view.cursor(*operand).and_then(|operand| operand.ty().size());
        constraint.contains(['m', 'Q']) && size.is_some_and(|size| size < width)
    });
    in_memory
        .map(|(operand, _)| (operand, width))
        .filter(|(operand, _)| view.tree.kind(view.peeled(*operand)) == Kind::MemberAccess)
        .collect()
}

impl<'u> Follower<'_, '_, '_, 'u> {
    /// A pointer to a record is an operand: what has no such type is given it as a result.
    pub(crate) fn laundered(&mut self, index: Index, node: Index) {
        let view = self.unit.view;
        let operands: Vec<Index> = view.tree.values(node).collect();
        let own = self.ty(index).and_then(Type::pointee);
        let written = view.cursor(node).and_then(Written::read);
        let written = written.filter(|written| written.constraints.len() == operands.len());
        for (number, operand) in operands.iter().enumerate().filter(|(_, operand)| **operand != index) {
            let constraint = written.as_ref().and_then(|written| written.constraints.get(number));
            let Some(ty) = self.ty(*operand).filter(|_| {
                constraint.is_none_or(|text| text.contains(['=', '+'])) && self.is_place(*operand)
            }) else {
                continue;
            };
            let other = ty.pointee().filter(|other| other.kind() == TypeKind::Record);
            match other.filter(|other| own.is_some_and(|own| !own.equals(*other))) {
                Some(other) => {
                    let shape = self.unit.shape(other);
                    self.end(index, State::PLAIN, End::Record(shape));
                }
                None if is_open(ty) && !self.keeps_register(*operand, constraint) => {
                    self.store(*operand, State::PLAIN);
                }
                None => {}
            }
        }
    }

    /// Whether a value can be written to an expression.
    fn is_place(&self, index: Index) -> bool {
        let view = self.unit.view;
        let at = view.peeled(index);
        match view.tree.kind(at) {
            Kind::Name | Kind::MemberAccess | Kind::Subscript => true,
            Kind::Unary => view.cursor(at).map(Cursor::unary_operator) == Some(Operator::Dereference),
            _ => false,
        }
    }

    /// Whether an operand is a number in a register that all code shares: naming the stack pointer as a result
    /// (`"+r"`) keeps the code behind the function's frame, and puts nothing there.
    fn keeps_register(&self, operand: Index, constraint: Option<&String>) -> bool {
        let view = self.unit.view;
        let named = view.cursor(view.peeled(operand)).and_then(Cursor::referenced);
        constraint.is_none_or(|text| text.contains('+'))
            && named.is_some_and(|named| named.is_global_register() && named.ty().kind() == TypeKind::Number)
    }

    /// The address is an operand: results of the code may be it, and instructions may read what it leads to.
    pub(crate) fn assembled(&mut self, index: Index, node: Index, state: State) {
        let view = self.unit.view;
        let operands: Vec<Index> = view.tree.values(node).collect();
        let Some(own) = operands.iter().position(|operand| *operand == index) else { return };
        let written = view.cursor(node).and_then(Written::read);
        let written = written.filter(|written| written.constraints.len() == operands.len());
        let constraint = |number: usize| written.as_ref()?.constraints.get(number);
        for (number, operand) in operands.iter().enumerate().filter(|(number, _)| *number != own) {
            let is_result = constraint(number).is_none_or(|text| text.contains(['=', '+']));
            let keeps = self.keeps_register(*operand, constraint(number));
            if is_result && !keeps && self.ty(*operand).is_some_and(is_open) {
                self.store(*operand, state);
            }
        }
        let is_value = constraint(own).is_some_and(|text| !text.trim_matches(['"', '=', '+']).contains('m'));
        let Some(written) = written.filter(|written| written.has_instructions && is_value) else { return };
        let by = "assembler code".to_owned();
        let end = if written.changes_memory { End::Bytes { count: None, by } } else { End::Unknown };
        self.end(index, state, end);
    }
}
