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

/// Bytes of the shortest address.
const ADDRESS: u64 = 4;

/// Assembler code as it is written.
struct Written {
    /// The bytes that its widest instruction may access.
    width: Option<u64>,
    has_instructions: bool,
    /// The instructions, with the places of operands in them.
    template: String,
    /// Of each operand, in order.
    constraints: Vec<String>,
    /// The names that operands have in the instructions beside their numbers, in the same order.
    names: Vec<Option<String>>,
    changes_memory: bool,
    /// Whether macros have a part of the instructions.
    is_hidden: bool,
}

impl Written {
    /// `None` where a macro hides the text.
    fn read(node: Cursor<'_>) -> Option<Self> {
        Self::parse(&node.words(), false).or_else(|| Self::parse(&node.words_of_macro(), true))
    }

    fn parse(words: &[String], is_of_macro: bool) -> Option<Self> {
        let is_asm = words.first().is_some_and(|first| first.trim_matches('_') == "asm");
        let begin = words.iter().position(|word| word == "(").filter(|_| is_asm)?;
        let behind = words.get(begin + 1..)?;
        let is_text = |word: &String| word.starts_with('"');
        let instructions = behind.get(..end_of_instructions(behind))?;
        let operands = behind.get(instructions.len()..)?;
        let is_hidden = is_of_macro || !instructions.iter().all(is_text);
        let template: Vec<&String> = instructions.iter().filter(|word| is_text(word)).collect();
        let has_text = template.iter().any(|text| !text.trim_matches('"').trim().is_empty());
        let has_instructions = is_hidden || has_text;
        let (mut depth, mut constraints, mut names) = (0_usize, Vec::new(), Vec::new());
        for (at, word) in operands.iter().enumerate() {
            match word.as_str() {
                "(" => {
                    let constraint = at.checked_sub(1).and_then(|at| operands.get(at));
                    if let Some(constraint) = constraint.filter(|word| depth == 0 && is_text(word)) {
                        constraints.push(constraint.clone());
                        names.push(name_in_front(operands, at - 1));
                    }
                    depth += 1;
                }
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let changes_memory = operands.iter().any(|word| word == "\"memory\"");
        let has_word = |word: &&str| template.iter().any(|text| text.contains(word));
        let width = WIDE.iter().find(|(word, _)| has_word(word)).map(|(_, width)| *width);
        let template = template.iter().map(|text| text.trim_matches('"')).collect();
        Some(Self { width, has_instructions, template, constraints, names, changes_memory, is_hidden })
    }

    /// The texts in front of each place where the instructions have an operand: `%1`, `%c1`, `%[name]`.
    fn in_front_of(&self, number: usize) -> Vec<&str> {
        let name = self.names.get(number).and_then(Option::as_deref);
        let places = self.template.match_indices('%').filter(|(at, _)| {
            let behind = self.template.get(at + 1..).unwrap_or_default();
            named_first(behind).is_some_and(|own| own.parse() == Ok(number) || Some(own) == name)
        });
        places.filter_map(|(at, _)| self.template.get(..at)).collect()
    }

    /// Whether instructions have an operand as an address: `8(%1)`, `[%1, #8]`.
    fn is_led_by(&self, number: usize) -> bool {
        self.in_front_of(number)
            .iter()
            .any(|text| text.trim_end().ends_with(['(', '[', ',']) && is_in_brackets(text))
    }

    /// Whether an operand begins in the register of another: `"0" (…)`.
    fn has_shared_registers(&self) -> bool {
        self.constraints.iter().any(|text| text.contains(|letter: char| letter.is_ascii_digit()))
    }

    /// Whether an operand is a register that instructions only write.
    fn is_result(&self, number: usize) -> bool {
        let constraint = self.constraints.get(number).map(|text| text.trim_matches('"'));
        constraint.is_some_and(|text| text.starts_with('=') && !text.contains(['m', 'Q']))
    }

    /// Whether instructions have an operand only as the address that another operand, a number, is counted from:
    /// `%c2(%1)`. One in a certain register is there without being named, for `rep movsb` and `syscall`.
    fn is_only_counted_from(&self, number: usize) -> bool {
        let is_anywhere = self.constraints.get(number).is_some_and(|text| text.trim_matches('"') == "r");
        let places = self.in_front_of(number);
        is_anywhere
            && !places.is_empty()
            && places.into_iter().all(|text| {
                let operand = text.strip_suffix('(').and_then(|text| text.rsplit_once('%'));
                operand.is_some_and(|(_, own)| {
                    let word = own.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
                    let name = word.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(word);
                    !name.is_empty()
                        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                })
            })
    }
}

/// The number of words in front of the operands.
fn end_of_instructions(words: &[String]) -> usize {
    let mut depth = 0_usize;
    let is_end = |word: &String| {
        match word.as_str() {
            ":" | "::" | ")" if depth == 0 => return true,
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        false
    };
    words.iter().position(is_end).unwrap_or(words.len())
}

/// Whether the last bracket of a text is open.
fn is_in_brackets(text: &str) -> bool {
    text.chars().rev().find(|letter| "()[]".contains(*letter)).is_some_and(|last| matches!(last, '(' | '['))
}

/// The number or the name of the operand that a text begins with, behind `%`: `c1(%0)`, `[name]`.
fn named_first(text: &str) -> Option<&str> {
    // A letter says how the operand is written.
    let text = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    match text.strip_prefix('[') {
        Some(name) => name.split_once(']').map(|(name, _)| name),
        None => {
            let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
            text.get(..text.len() - rest.len()).filter(|digits| !digits.is_empty())
        }
    }
}

/// `[name] "r" (…)`: the name in front of a constraint.
fn name_in_front(operands: &[String], constraint: usize) -> Option<String> {
    let word = |back: usize| operands.get(constraint.checked_sub(back)?).map(String::as_str);
    (word(1) == Some("]") && word(3) == Some("[")).then(|| word(2).map(str::to_owned))?
}

/// Objects that are operands of instructions. One that no instruction has, beside its address that only numbers of the
/// compiler are counted from, tells the compiler alone what memory is read and written.
pub(crate) fn object_operands(view: View<'_, '_, '_>, node: Index) -> Vec<Index> {
    let operands: Vec<Index> = view.tree.values(node).collect();
    let kind = |operand: &Index| view.cursor(*operand).map(|operand| operand.ty().kind());
    let all = operands.iter().enumerate().filter(|(_, operand)| kind(operand) == Some(TypeKind::Record));
    let all: Vec<(usize, Index)> = all.map(|(number, operand)| (number, *operand)).collect();
    let written = view.cursor(node).and_then(Written::read);
    let written = written.filter(|written| written.constraints.len() == operands.len() && !written.is_hidden);
    let is_for_compiler = |number: usize| {
        written.as_ref().is_some_and(|written| {
            let mut numbers = 0..operands.len();
            // No address fits in.
            let is_number = |number: usize| {
                let operand = operands.get(number).and_then(|operand| view.cursor(*operand));
                operand.is_some_and(|operand| {
                    let is_narrow = operand.ty().size().is_some_and(|size| size < ADDRESS);
                    operand.constant().is_some() || operand.ty().kind() == TypeKind::Number && is_narrow
                })
            };
            written.in_front_of(number).is_empty()
                && !written.has_shared_registers()
                && numbers.all(|other| {
                    other == number
                        || is_number(other)
                        || written.is_result(other)
                        || written.is_only_counted_from(other)
                })
        })
    };
    all.into_iter().filter(|(number, _)| !is_for_compiler(*number)).map(|(_, operand)| operand).collect()
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
        if written.as_ref().is_some_and(|written| written.is_result(own)) {
            return;
        }
        let is_value = constraint(own).is_some_and(|text| !text.trim_matches(['"', '=', '+']).contains('m'));
        let is_used =
            |written: &Written| written.has_instructions && (!written.is_hidden || written.is_led_by(own));
        let Some(written) = written.filter(|written| is_value && is_used(written)) else { return };
        let by = "assembler code".to_owned();
        let end = if written.changes_memory { End::Bytes { count: None, by } } else { End::Unknown };
        self.end(index, state, end);
    }
}
