//! The attribution of instructions with their data flow, as JSON.

use crate::report::explain_text::{MemberPath, access_name};
use fieldline_typeflow::operands::explain::{ExplainedInstruction, Explanation};
use fieldline_typeflow::operands::target::Target;
use serde_json::{Value, json};

/// The document of `explain --format json`.
pub(crate) fn document(instructions: &[Value]) -> Value {
    json!({"format": "fieldline-explain", "version": 1, "instructions": instructions})
}

/// One instruction with all that is known there.
pub(crate) fn explanation(found: &Explanation, member: &mut MemberPath<'_>) -> Value {
    let steps = found.base_history.iter().map(|step| {
        json!({"address": format!("{:x}", step.address), "instruction": step.text, "value": step.value})
    });
    let mut value = instruction(&found.line, member);
    for (key, known) in [
        ("location", json!(found.location)),
        ("unit", json!(found.unit)),
        ("bytes", json!(found.bytes)),
        ("scopes", json!(found.scopes)),
        ("callers_pass", json!(found.arguments)),
        ("variables", json!(found.variables)),
        ("known_here", json!(found.registers)),
        ("data_flow", steps.collect()),
    ] {
        value[key] = known;
    }
    value
}

/// One instruction and its operands in memory.
pub(crate) fn instruction(line: &ExplainedInstruction, member: &mut MemberPath<'_>) -> Value {
    let operands = line.operands.iter().map(|operand| {
        let mut value = json!({
            "operand": operand.written,
            "access": access_name(operand),
            "size": operand.size,
            "verdict": operand.verdict,
        });
        if let Target::Exact { ty, offset } = &operand.target {
            value["type"] = json!(ty.name.name);
            value["offset"] = json!(offset);
        }
        if let Some(path) = member(&operand.target) {
            value["member"] = json!(path);
        }
        if let Some(meaning) = operand.meaning {
            value["meaning"] = json!(meaning);
        }
        value
    });
    let operands: Vec<Value> = operands.collect();
    json!({"address": format!("{:x}", line.address), "instruction": line.text, "operands": operands})
}
