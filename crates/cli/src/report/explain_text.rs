//! How an instruction came to its answer, for eyes.

use super::color::Paint;
use fieldline_machinecode::machine::AccessKind;
use fieldline_typeflow::operands::explain::{ExplainedOperand, Explanation, Line};
use fieldline_typeflow::operands::target::{Target, TypeEntry};
use std::fmt::Write;

/// Gives the path of the member an operand is.
pub(crate) type MemberOf<'m> = dyn FnMut(&Target<TypeEntry>) -> Option<String> + 'm;

/// Appends one instruction with all that is known at it.
pub(crate) fn draw(out: &mut String, of: &Explanation, member: &mut MemberOf<'_>, paint: Paint) {
    let _ = writeln!(out, "{} {:#x}", paint.bold(&of.place), of.line.address);
    row(out, "instruction", &of.line.text);
    row(out, "bytes", &of.bytes);
    row(out, "unit", &of.unit);
    if !of.scopes.is_empty() {
        row(out, "scopes", &of.scopes.join(" > "));
    }
    rows(out, "callers pass", &of.arguments);
    rows(out, "variables", &of.variables);
    rows(out, "known here", &of.registers);
    let steps = of.way.iter().map(|step| format!("{:x}  {:<40} {}", step.address, step.text, step.value));
    rows(out, "on the way", &steps.collect::<Vec<_>>());
    if of.line.operands.is_empty() {
        row(out, "verdict", "the instruction does not touch memory (no_memory_operand)");
    }
    for operand in &of.line.operands {
        row(out, "verdict", &verdict(operand, member, paint));
        if let Some(meaning) = operand.meaning {
            row(out, "", meaning);
        }
    }
    out.push('\n');
}

/// Appends a function's accesses, a line each.
pub(crate) fn draw_lines(out: &mut String, lines: &[Line], member: &mut MemberOf<'_>, paint: Paint) {
    for line in lines {
        for operand in &line.operands {
            let (access, verdict) = (access(operand), touched(operand, member, paint));
            let _ = writeln!(out, "{:x}  {:<44} {access:<14} {verdict}", line.address, line.text);
        }
    }
    out.push('\n');
}

fn verdict(operand: &ExplainedOperand, member: &mut MemberOf<'_>, paint: Paint) -> String {
    let place = match operand.written.as_str() {
        "" => "an operand patched in at boot",
        written => written,
    };
    let size = if operand.size == 1 { "1 byte".to_owned() } else { format!("{} bytes", operand.size) };
    format!("{} of {size} at {place}: {}", access(operand), touched(operand, member, paint))
}

fn access(operand: &ExplainedOperand) -> &'static str {
    match operand.access {
        AccessKind::Read => "load",
        AccessKind::Write => "store",
        AccessKind::ReadWrite => "load and store",
    }
}

fn touched(operand: &ExplainedOperand, member: &mut MemberOf<'_>, paint: Paint) -> String {
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
