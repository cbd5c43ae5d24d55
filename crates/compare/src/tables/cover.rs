//! A text for a cover letter: how it was measured, the tables, and each verdict in words.

use super::intervals::draw_intervals;
use super::summary_table::{change_text, counts, verdict_text};
use crate::comparison::{Comparison, RowVerdict};
use crate::environment::EnvironmentFacts;
use std::fmt::Write;
use textwrap::{Options, WordSplitter};

/// Most characters of a line of prose.
const WIDTH: usize = 72;
/// How the text begins.
pub const COVER_BEGINNING: &str = "Measured: ";

/// The text; `environments` are the variants' facts.
#[must_use]
pub fn draw_cover(comparison: &Comparison, environments: &[EnvironmentFacts]) -> String {
    let mut out = String::new();
    let variants = &comparison.variants;
    let runs = |index: usize| {
        let counts = comparison
            .rows
            .iter()
            .filter_map(|row| row.summaries.get(index)?.as_ref())
            .map(|summary| summary.runs);
        let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
        match (least, most) {
            (1, 1) => "1 run".to_owned(),
            _ if least == most => format!("{most} runs"),
            _ => format!("{least} to {most} runs"),
        }
    };
    let measured: Vec<String> =
        variants.iter().enumerate().map(|(index, name)| format!("{name} ({})", runs(index))).collect();
    let test = if comparison.is_paired { "a paired t-test" } else { "Welch's t-test" };
    let text = format!(
        "{COVER_BEGINNING}{}. Ranges are 95 % confidence intervals of means (Student's t), those of changes Fieller's. A \
         difference is called so if {test} finds it at 5 % after Holm's correction for {} tests.",
        measured.join(", "),
        comparison.tests
    );
    wrap(&mut out, "", &text);
    for (name, facts) in variants.iter().zip(environments).filter(|(_, facts)| !facts.is_empty()) {
        let facts: Vec<String> = facts.iter().map(|(key, value)| format!("{} {value}", key.name())).collect();
        wrap(&mut out, "  * ", &format!("{name}: {}", facts.join("; ")));
    }
    out.push('\n');
    out.push_str(&draw_intervals(comparison));
    let sections = [
        (RowVerdict::Better, "Better:"),
        (RowVerdict::Worse, "Worse:"),
        (RowVerdict::Different, "Different:"),
        (RowVerdict::NoDifferenceShown, "No difference shown:"),
        (RowVerdict::ProvesNothing, "Too few runs or too much scatter to prove anything:"),
    ];
    for (verdict, title) in sections {
        draw_section(&mut out, comparison, verdict, title);
    }
    let _ = writeln!(
        out,
        "\nOf {} comparisons: {}.",
        comparison.rows.iter().map(|row| row.changes.iter().flatten().count()).sum::<usize>(),
        counts(comparison)
    );
    out
}

fn draw_section(out: &mut String, comparison: &Comparison, verdict: RowVerdict, title: &str) {
    let is_named = comparison.variants.len() > 2;
    let mut lines = Vec::new();
    for row in &comparison.rows {
        for (change, variant) in row.changes.iter().zip(comparison.variants.iter().skip(1)) {
            let Some(change) = change.as_ref().filter(|change| change.verdict == verdict) else { continue };
            let of_variant = if is_named { format!("{variant}: ") } else { String::new() };
            let reserve =
                if change.reason.is_empty() { String::new() } else { format!(", {}", verdict_text(change)) };
            lines.push(format!("{of_variant}{}: {}{reserve}", row.metric.name(), change_text(change)));
        }
    }
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    lines.iter().for_each(|line| wrap(out, "  * ", line));
}

/// Appends a paragraph, its first line behind a mark, others indented as much.
fn wrap(out: &mut String, mark: &str, text: &str) {
    let indent = " ".repeat(mark.chars().count());
    let options = Options::new(WIDTH).break_words(false).word_splitter(WordSplitter::NoHyphenation);
    let options = options.initial_indent(mark).subsequent_indent(&indent);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(out, "{}", textwrap::fill(&words, options));
}
