//! SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format).

use super::{file, message, subject};
use crate::gate::verdict::{CheckReport, ReportedFinding};
use fieldline_check::{FindingLevel, Rule};
use serde_json::{Value, json};

/// The folder of the rules' pages in this project's repository.
const RULE_PAGES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/rules");

/// The document: one run, its rules, a result a finding. Findings that don't count carry their suppression.
pub(crate) fn document(verdict: &CheckReport) -> Value {
    let results: Vec<Value> = verdict.findings.iter().map(|found| result(verdict, found)).collect();
    let note = |note| json!({"level": "note", "message": {"text": note}});
    let notes: Vec<Value> = verdict.notes.iter().map(note).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "fieldline",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.map(rule_descriptor),
            }},
            "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": notes}],
            "results": results,
        }],
    })
}

fn level_name(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Error => "error",
        FindingLevel::Warn => "warning",
        FindingLevel::Off => "none",
    }
}

fn rule_descriptor(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.summary()},
        "helpUri": format!("{RULE_PAGES}/{}.md", rule.id()),
        "defaultConfiguration": {"level": level_name(rule.default_level())},
    })
}

fn result(verdict: &CheckReport, found: &ReportedFinding) -> Value {
    let finding = &found.finding;
    let mut result = json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == finding.rule),
        "level": level_name(found.level),
        "message": {"text": message(verdict, found)},
        "locations": [location(found)],
        // The same finding next week, whatever line it stands on then.
        "partialFingerprints": {
            "fieldline/v1": format!("{}/{}/{}", finding.rule.id(), found.target, subject(found)),
        },
    });
    if let Some(reason) = &found.suppressed {
        result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    result
}

fn location(found: &ReportedFinding) -> Value {
    let kind = if found.finding.member.is_some() { "member" } else { "type" };
    let mut location = json!({"logicalLocations": [{"fullyQualifiedName": subject(found), "kind": kind}]});
    if let Some(file) = file(found) {
        let mut place = json!({"artifactLocation": {"uri": uri(file)}});
        if let Some(line) = found.finding.line {
            place["region"] = json!({ "startLine": line });
        }
        location["physicalLocation"] = place;
    }
    location
}

/// A path as a URI reference: relative as it is, absolute with a scheme (RFC 3986, RFC 8089).
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("kernel/sched/sched.h"), "kernel/sched/sched.h");
        assert_eq!(uri("/a b/c.h"), "file:///a%20b/c.h");
    }
}
