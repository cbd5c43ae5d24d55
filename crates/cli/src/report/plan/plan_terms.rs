//! The terms of a plan's cost, as text.

use fieldline_plan::result::{Term, TermKind};
use std::fmt::Write;

/// Width of the text in columns.
const MAX_COLUMNS: usize = 110;

/// Appends the terms of the cost of the declared and of the chosen order; the declared cost is 100.
pub(crate) fn draw(out: &mut String, terms: &[Term]) {
    let all: u64 = terms.iter().map(|term| term.cost_before).sum();
    let after: u64 = terms.iter().map(|term| term.cost_after).sum();
    let share = |cost: u64| 100.0 * cost as f64 / all.max(1) as f64;
    let mut line = format!("  cost 100 -> {:.1}, by term:", share(after));
    for (number, term) in (1..).zip(terms) {
        let end = if number == terms.len() { "" } else { ";" };
        let what = format!(" {}{end}", describe(term, share(term.cost_before), share(term.cost_after)));
        if line.len() + what.len() > MAX_COLUMNS {
            let _ = writeln!(out, "{line}");
            line = "   ".to_owned();
        }
        line.push_str(&what);
    }
    let _ = writeln!(out, "{line}");
}

/// A term: its share of the cost, and the amount it counts.
fn describe(term: &Term, before: f64, after: f64) -> String {
    let lines = match (term.line, term.build_line) {
        (Some(line), Some(build)) if line != build => format!("{line}/{build} B "),
        (Some(line), _) | (None, Some(line)) => format!("{line} B "),
        (None, None) => String::new(),
    };
    let (name, digits) = match term.kind {
        TermKind::Lines => ("lines", 3),
        TermKind::Coherence => ("lines lost", 3),
        TermKind::LinePairs => ("line pairs", 3),
        TermKind::PairCoherence => ("line pairs lost", 3),
        TermKind::Size => ("bytes", 0),
        TermKind::Padding => ("bytes unused", 0),
        TermKind::Reordered => ("new neighbours", 0),
        TermKind::Guards => ("preprocessor blocks split", 0),
    };
    let amount = term.amount;
    let counted = format!("{:.digits$} -> {:.digits$} {name}", amount.before, amount.after);
    match term.kind {
        TermKind::Padding => format!("{lines}{counted} (part of the size)"),
        _ => format!("{lines}{before:.1} -> {after:.1} ({counted})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_plan::result::BeforeAfter;

    #[test]
    fn terms_are_shares_of_the_declared_cost() {
        let term = |kind, line, cost_before, cost_after| Term {
            kind,
            line,
            build_line: Some(64),
            cost_before,
            cost_after,
            amount: BeforeAfter { before: 3.0, after: 2.0 },
        };
        let terms = [
            term(TermKind::Lines, Some(128), 900, 600),
            term(TermKind::Size, None, 100, 100),
            term(TermKind::Padding, None, 0, 0),
        ];
        let mut out = String::new();
        draw(&mut out, &terms);
        assert_eq!(
            out,
            "  cost 100 -> 70.0, by term: 128/64 B 90.0 -> 60.0 (3.000 -> 2.000 lines); 64 B 10.0 -> 10.0 (3 -> 2 bytes);\n    64 B 3 -> 2 bytes unused (part of the size)\n"
        );
    }
}
