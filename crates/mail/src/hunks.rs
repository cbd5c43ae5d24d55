//! A diff by files and hunks (POSIX unified diff, and the extended heads of git-diff(1)).

use std::ops::Range;

/// The changes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// Its path before, without the first part (`a/`); `None` if it is new.
    pub old: Option<String>,
    /// Its path after, without the first part (`b/`); `None` if it goes.
    pub new: Option<String>,
    /// Its hunks in order; none if it only gets another name.
    pub hunks: Vec<Hunk>,
}

/// Changed lines with those around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Its first line: `@@ -1,2 +1,3 @@ …`.
    pub head: String,
    /// 1-based first line after the change, as the diff says.
    pub new_start: usize,
    /// Its lines with their marks, without line ends.
    pub lines: Vec<Vec<u8>>,
}

impl Hunk {
    /// The 0-based lines of a file's text that the hunk's lines with a mark of `side` (`+` or `-`), and those that stay,
    /// came to be: as near as possible to where the diff says. `None` if the text has no such lines.
    pub fn place(&self, text: &[u8], side: u8, near: usize) -> Option<Range<usize>> {
        let own =
            self.lines.iter().filter(|line| line.first().is_none_or(|mark| *mark == side || *mark == b' '));
        let own: Vec<&[u8]> = own.map(|line| line.get(1..).unwrap_or_default()).collect();
        if own.is_empty() {
            return None;
        }
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        let starts = (0..lines.len().saturating_sub(own.len() - 1)).filter(|at| {
            lines
                .get(*at..*at + own.len())
                .is_some_and(|lines| lines.iter().zip(&own).all(|(line, wanted)| *line == *wanted))
        });
        let start = starts.min_by_key(|at| at.abs_diff(near))?;
        Some(start..start + own.len())
    }
}

/// The files of a diff. What doesn't look like one is passed over.
pub fn parse_diff(diff: &[u8]) -> Vec<FileDiff> {
    let lines: Vec<&[u8]> = diff.split(|byte| *byte == b'\n').collect();
    let (mut files, mut at) = (Vec::<FileDiff>::new(), 0);
    while let Some(line) = lines.get(at) {
        at += 1;
        let next = lines.get(at).copied().unwrap_or_default();
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            files.push(names_of_head(names));
        } else if line.starts_with(b"--- ") && next.starts_with(b"+++ ") {
            // Behind `diff --git` the names are known already, but these are the ones that count.
            if files.last().is_none_or(|file| !file.hunks.is_empty()) {
                files.push(FileDiff::default());
            }
            if let Some(file) = files.last_mut() {
                file.old = name(line.get(4..).unwrap_or_default());
                file.new = name(next.get(4..).unwrap_or_default());
            }
            at += 1;
        } else if let (Some(file), Some(head)) = (files.last_mut(), HunkHead::parse(line)) {
            let end = hunk_end(&lines, at, &head);
            let own = lines.get(at..end).unwrap_or_default();
            file.hunks.push(Hunk {
                head: String::from_utf8_lossy(line).into_owned(),
                new_start: head.new_start,
                lines: own.iter().map(|line| line.to_vec()).collect(),
            });
            at = end;
        } else if let Some(file) = files.last_mut().filter(|file| file.hunks.is_empty()) {
            read_extended_head(file, line);
        }
    }
    files
}

/// `a/x b/x`, as far as both are the same path: names with blanks can't be told apart otherwise.
fn names_of_head(names: &[u8]) -> FileDiff {
    let text = String::from_utf8_lossy(names).into_owned();
    let half = text.len() / 2;
    let pair = text.get(..half).zip(text.get(half + 1..));
    let both = pair.and_then(|(old, new)| Some((strip_first(old)?, strip_first(new)?)));
    let path = both.filter(|(old, new)| old == new).map(|(old, _)| old.to_owned());
    FileDiff { old: path.clone(), new: path, hunks: Vec::new() }
}

fn read_extended_head(file: &mut FileDiff, line: &[u8]) {
    let path = |rest: &[u8]| Some(String::from_utf8_lossy(rest).into_owned());
    if let Some(rest) = line.strip_prefix(b"rename from ").or(line.strip_prefix(b"copy from ")) {
        file.old = path(rest);
    } else if let Some(rest) = line.strip_prefix(b"rename to ").or(line.strip_prefix(b"copy to ")) {
        file.new = path(rest);
    } else if line.starts_with(b"new file mode ") {
        file.old = None;
    } else if line.starts_with(b"deleted file mode ") {
        file.new = None;
    }
}

/// The path in a `---` or `+++` line; none for `/dev/null`.
fn name(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let text = text.split('\t').next().unwrap_or_default().trim_end();
    if text == "/dev/null" { None } else { strip_first(text).map(str::to_owned) }
}

/// A path without its first part.
fn strip_first(path: &str) -> Option<&str> {
    path.split_once('/').map(|(_, rest)| rest).filter(|rest| !rest.is_empty())
}

struct HunkHead {
    old_count: usize,
    new_start: usize,
    new_count: usize,
}

impl HunkHead {
    /// `@@ -1,2 +1,3 @@`
    fn parse(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line.get(..line.len().min(80))?).ok();
        let text = text.map_or_else(|| String::from_utf8_lossy(line), Into::into);
        let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let range = |text: &str| -> Option<(usize, usize)> {
            let (start, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse().ok()?, count.parse().ok()?))
        };
        let ((_, old_count), (new_start, new_count)) = (range(old)?, range(new)?);
        Some(Self { old_count, new_start, new_count })
    }
}

/// Behind the last line of a hunk, as its head counts them.
fn hunk_end(lines: &[&[u8]], start: usize, head: &HunkHead) -> usize {
    let (mut old, mut new, mut at) = (head.old_count, head.new_count, start);
    while let Some(line) = lines.get(at).filter(|_| old > 0 || new > 0) {
        match line.first() {
            // Some programs cut the blank of an empty line that stays.
            Some(b' ') | None => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
            Some(b'-') => old = old.saturating_sub(1),
            Some(b'+') => new = new.saturating_sub(1),
            Some(b'\\') => {}
            _ => break,
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &[u8] = b"diff --git a/a/x.h b/a/x.h\nindex 1..2 100644\n--- a/a/x.h\n+++ b/a/x.h\n@@ -1,2 +1,3 @@ struct x {\n \
        int a;\n+--- b;\n int c;\n@@ -10 +11 @@\n-x\n+y\n\\ No newline at end of file\ndiff --git a/o.c b/n.c\nsimilarity \
        index 100%\nrename from o.c\nrename to n.c\n--- /dev/null\n+++ b/new.h\n@@ -0,0 +1 @@\n+int z;\n-- \n2.43\n";

    #[test]
    fn files_and_hunks_are_distinguished() {
        let files = parse_diff(DIFF);
        let names: Vec<_> = files.iter().map(|file| (file.old.as_deref(), file.new.as_deref())).collect();
        assert_eq!(names[0], (Some("a/x.h"), Some("a/x.h")));
        assert_eq!(names[1], (None, Some("new.h")));
        assert_eq!(files[0].hunks.len(), 2);
        assert_eq!(files[0].hunks[0].lines, [&b" int a;"[..], b"+--- b;", b" int c;"]);
        assert_eq!(files[1].hunks[0].lines, [b"+int z;"]);
    }

    #[test]
    fn a_rename_without_hunks_is_known() {
        let files =
            parse_diff(b"diff --git a/o.c b/n.c\nrename from o.c\nrename to n.c\ndiff --git a/x y b/x y\n");
        assert_eq!((files[0].old.as_deref(), files[0].new.as_deref()), (Some("o.c"), Some("n.c")));
        assert_eq!(files[1].new.as_deref(), Some("x y"));
    }

    #[test]
    fn hunks_are_found_where_they_came_to_lie() {
        let hunk = &parse_diff(DIFF)[0].hunks[0];
        let text = b"0\nint a;\n--- b;\nint c;\n1\nint a;\n--- b;\nint c;\n";
        assert_eq!(hunk.place(text, b'+', 0), Some(1..4));
        assert_eq!(hunk.place(text, b'+', 6), Some(5..8));
        assert_eq!(hunk.place(text, b'-', 0), None);
    }
}
