//! Unified diffs as `git apply` and `patch -p1` take them.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use std::ops::Range;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// A unified diff between two versions of `path`, with `a/` and `b/` before it. Empty if they are equal.
///
/// Line ends are part of the lines, so CRLF is kept; a last line without one is marked as by POSIX `diff -u`.
pub fn unified(path: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    let old_lines: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let new_lines: Vec<&[u8]> = new.split_inclusive(|byte| *byte == b'\n').collect();
    let hunks = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines), CONTEXT);
    let mut out = Vec::new();
    if hunks.is_empty() {
        return out;
    }
    // A tab ends a name with spaces; without one `patch` would stop at the space.
    let end = if path.contains(char::is_whitespace) { "\t" } else { "" };
    out.extend_from_slice(format!("--- a/{path}{end}\n+++ b/{path}{end}\n").as_bytes());
    for hunk in &hunks {
        print_hunk(&mut out, hunk, &old_lines, &new_lines);
    }
    out
}

fn print_hunk(out: &mut Vec<u8>, ops: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else { return };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let header = format!("@@ -{} +{} @@\n", format_range(&old_range), format_range(&new_range));
    out.extend_from_slice(header.as_bytes());
    for op in ops {
        match op {
            DiffOp::Equal { .. } => print_lines(out, b' ', old, op.old_range()),
            _ => {
                print_lines(out, b'-', old, op.old_range());
                print_lines(out, b'+', new, op.new_range());
            }
        }
    }
}

/// `start,count`: lines count from 1; an empty range names the line before it; a count of 1 is left out.
fn format_range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn print_lines(out: &mut Vec<u8>, mark: u8, lines: &[&[u8]], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        out.push(mark);
        out.extend_from_slice(line);
        if line.last() != Some(&b'\n') {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        String::from_utf8(unified("x.h", old.as_bytes(), new.as_bytes())).unwrap()
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", ""), "");
    }

    #[test]
    fn shows_three_lines_around() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let want = "--- a/x.h\n+++ b/x.h\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(old, new), want);
    }

    #[test]
    fn marks_a_missing_last_line_end() {
        let want = "--- a/x.h\n+++ b/x.h\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n";
        assert_eq!(diff("a\nb\n", "a\nb"), want);
    }

    #[test]
    fn counts_empty_sides_as_posix_does() {
        assert_eq!(diff("", "a\n"), "--- a/x.h\n+++ b/x.h\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(diff("a\n", ""), "--- a/x.h\n+++ b/x.h\n@@ -1 +0,0 @@\n-a\n");
    }
}
