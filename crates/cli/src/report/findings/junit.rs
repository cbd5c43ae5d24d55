//! JUnit XML: a suite a target, a case a type. A finding at `error` is a failure, others are output.

use super::{instructions, location};
use crate::gate::verdict::{CheckReport, ReportedFinding};
use fieldline_check::FindingLevel;
use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) fn draw(verdict: &CheckReport) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fieldline\">\n".to_owned();
    for target in &verdict.targets {
        let names: BTreeSet<&str> = target.types.iter().map(String::as_str).collect();
        let found: Vec<_> = verdict.findings.iter().filter(|found| found.target == target.name).collect();
        draw_suite(&mut out, verdict, &target.name, &names, &found);
    }
    let targets: BTreeSet<&str> = verdict.targets.iter().map(|target| target.name.as_str()).collect();
    let between_targets: Vec<&ReportedFinding> =
        verdict.findings.iter().filter(|found| !targets.contains(found.target.as_str())).collect();
    if !between_targets.is_empty() {
        let names = between_targets.iter().map(|found| found.ty.as_str()).collect();
        draw_suite(&mut out, verdict, "several targets", &names, &between_targets);
    }
    out.push_str("</testsuites>\n");
    out
}

fn draw_suite(
    out: &mut String,
    verdict: &CheckReport,
    target: &str,
    names: &BTreeSet<&str>,
    found: &[&ReportedFinding],
) {
    let fails = |name: &str| found.iter().any(|found| found.ty == name && found.is_at(FindingLevel::Error));
    let failures = names.iter().filter(|name| fails(name)).count();
    let (suite, tests) = (escape(target), names.len());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let _ = writeln!(out, "  <testsuite name=\"{suite}\" {counts}>");
    for name in names {
        let _ = writeln!(out, "    <testcase classname=\"{suite}\" name=\"{}\">", escape(name));
        let of_type = || found.iter().filter(|found| found.ty == *name);
        let line = |item: &&ReportedFinding| format!("{}: {}", item.finding.rule.id(), item.finding.message);
        let is_error = |found: &&&ReportedFinding| found.is_at(FindingLevel::Error);
        let text = |item: &&ReportedFinding| {
            let place = location(item).map(|place| format!(" ({place})")).unwrap_or_default();
            let rest = instructions(verdict, item).join("\n");
            format!("{}{place}\n{rest}", line(item))
        };
        let errors: Vec<String> = of_type().filter(is_error).map(text).collect();
        if let Some(first) = of_type().find(is_error).map(line) {
            let (message, all) = (escape(&first), escape(&errors.join("\n")));
            let _ = writeln!(out, "      <failure message=\"{message}\">{all}</failure>");
        }
        let others: Vec<String> = of_type().filter(|found| !is_error(found)).map(text).collect();
        if !others.is_empty() {
            let _ = writeln!(out, "      <system-out>{}</system-out>", escape(&others.join("\n")));
        }
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n");
}

/// Text for XML: what would be markup is escaped, what XML 1.0 forbids becomes a question mark.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(character),
            other if other.is_control() => out.push('?'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(escape("a<b> & \"c\"\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot;?");
    }
}
