//! The attribution of an instruction with its data flow, as text.

use super::color::Palette;
use fieldline_machinecode::machine::AccessKind;
use fieldline_typeflow::operands::explain::{
    ExplainedInstruction, ExplainedOperand, Explanation, HistoryStep,
};
use fieldline_typeflow::operands::target::{Target, TypeEntry};
use std::fmt::Write;

/// Finds the path of the member an operand accesses.
pub(crate) type MemberPath<'m> = dyn FnMut(&Target<TypeEntry>) -> Option<String> + 'm;

/// Appends one instruction with the register contents known there.
pub(crate) fn draw(out: &mut String, explanation: &Explanation, member: &mut MemberPath<'_>, paint: Palette) {
    let _ = writeln!(out, "{} {:#x}", paint.bold(&explanation.location), explanation.line.address);
    row(out, "instruction", &explanation.line.text);
    row(out, "bytes", &explanation.bytes);
    row(out, "unit", &explanation.unit);
    if !explanation.scopes.is_empty() {
        row(out, "scopes", &explanation.scopes.join(" > "));
    }
    rows(out, "callers pass", &explanation.arguments);
    rows(out, "variables", &explanation.variables);
    rows(out, "known here", &explanation.registers);
    let step = |step: &HistoryStep| format!("{:x}  {:<40} {}", step.address, step.text, step.value);
    rows(out, "data flow", &explanation.base_history.iter().map(step).collect::<Vec<_>>());
    if explanation.line.operands.is_empty() {
        row(out, "verdict", "the instruction does not touch memory (no_memory_operand)");
    }
    for operand in &explanation.line.operands {
        row(out, "verdict", &describe_operand(operand, member, paint));
        if let Some(meaning) = operand.meaning {
            row(out, "", meaning);
        }
    }
    out.push('\n');
}

/// Appends a function's accesses, a line each.
pub(crate) fn draw_lines(
    out: &mut String,
    lines: &[ExplainedInstruction],
    member: &mut MemberPath<'_>,
    paint: Palette,
) {
    for line in lines {
        for operand in &line.operands {
            let (access, verdict) = (access_name(operand), describe_target(operand, member, paint));
            let _ = writeln!(out, "{:x}  {:<44} {access:<14} {verdict}", line.address, line.text);
        }
    }
    out.push('\n');
}

fn describe_operand(operand: &ExplainedOperand, member: &mut MemberPath<'_>, paint: Palette) -> String {
    let place = match operand.written.as_str() {
        "" => "an operand patched in at boot",
        written => written,
    };
    let size = if operand.size == 1 { "1 byte".to_owned() } else { format!("{} bytes", operand.size) };
    format!("{} of {size} at {place}: {}", access_name(operand), describe_target(operand, member, paint))
}

/// Whether an operand is read, written or both.
pub(crate) fn access_name(operand: &ExplainedOperand) -> &'static str {
    match operand.access {
        AccessKind::Read => "load",
        AccessKind::Write => "store",
        AccessKind::ReadWrite => "load and store",
    }
}

fn describe_target(operand: &ExplainedOperand, member: &mut MemberPath<'_>, paint: Palette) -> String {
    match member(&operand.target) {
        Some(path) => format!("{}, {}", operand.verdict, paint.bold(&path)),
        None => operand.verdict.clone(),
    }
}

fn row(out: &mut String, title: &str, text: &str) {
    let _ = writeln!(out, "  {title:<13} {text}");
}

fn rows(out: &mut String, title: &str, texts: &[String]) {
    for (number, text) in texts.iter().enumerate() {
        row(out, if number == 0 { title } else { "" }, text);
    }
}
