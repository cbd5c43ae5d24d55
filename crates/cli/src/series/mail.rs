//! Patches as mails that `git am` takes, in the shape of `git format-patch`.

use fieldline_source::diff;
use fieldline_tree::edits::PatchStep;
use fieldline_tree::header::FileChange;
use std::collections::BTreeMap;
use std::fmt::Write;
use textwrap::{Options, WordSplitter};

/// Columns of a mail's text: what checkpatch asks for, less the indent git log adds.
const COLUMNS: usize = 72;
/// The date in the first line of files of `git format-patch`, by which programs recognise them.
const MAGIC_DATE: &str = "Mon Sep 17 00:00:00 2001";
/// Longest name of a file, without its number and `.patch`.
const MAX_FILE_NAME: usize = 52;

/// Text that all mails of a series share.
pub(crate) struct SeriesOptions {
    /// `Name <user@host>`
    pub(crate) author: String,
    pub(crate) date: String,
    /// The word in the brackets of subjects.
    pub(crate) subject_prefix: String,
    /// Trailers of each patch.
    pub(crate) trailers: Vec<String>,
    /// Addresses of those who are asked, and of those who are told.
    pub(crate) to: Vec<String>,
    pub(crate) cc: Vec<String>,
    /// The commit that the patches are for.
    pub(crate) base_commit: Option<String>,
    /// By path and new text of a file, the line that names its blobs.
    pub(crate) index_lines: IndexLines,
    /// The workload that was recorded.
    pub(crate) workload: Option<String>,
    /// Measured results.
    pub(crate) measured: Option<String>,
    /// A number for the mails of this series, the same for the same patches.
    pub(crate) thread: u64,
}

impl SeriesOptions {
    /// The `Message-ID` of a mail by its number, unlike that of any other series (RFC 5322, 3.6.4). `b4 am` sorts mails by
    /// it, also those that weren't sent.
    fn message_id(&self, number: usize) -> String {
        let address = self.author.rsplit_once('<').map_or("", |(_, address)| address);
        let address: String = address
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || ".-_+@".contains(*letter))
            .collect();
        let address = if address.contains('@') { address } else { "fieldline@localhost".to_owned() };
        format!("<{:016x}.{number}.{address}>", self.thread)
    }
}

/// Lines that name blobs, by a file's path and new text.
pub(crate) type IndexLines = BTreeMap<(String, Vec<u8>), String>;

pub(crate) struct Mail<'m> {
    /// Its number, 0 for the cover letter, and how many patches there are.
    pub(crate) number: (usize, usize),
    pub(crate) subject: &'m str,
    pub(crate) body: &'m str,
    pub(crate) trailers: &'m [String],
    /// Diffstat and diff, after the body.
    pub(crate) attachment: Vec<u8>,
}

impl Mail<'_> {
    pub(crate) fn file_name(&self) -> String {
        if self.number.0 == 0 {
            return "0000-cover-letter.patch".to_owned();
        }
        let separates = |letter: char| !(letter.is_ascii_alphanumeric() || "_.".contains(letter));
        let words: Vec<&str> = self.subject.split(separates).filter(|word| !word.is_empty()).collect();
        let mut slug = words.join("-");
        slug.truncate(MAX_FILE_NAME);
        format!("{:04}-{}.patch", self.number.0, slug.trim_end_matches(['-', '.']))
    }

    pub(crate) fn text(&self, options: &SeriesOptions) -> Vec<u8> {
        let mut out = format!("From {} {MAGIC_DATE}\n", "0".repeat(40));
        let _ = writeln!(out, "From: {}", encode_author(&options.author));
        let _ = writeln!(out, "Date: {}", options.date);
        let prefix = &options.subject_prefix;
        let (number, count) = self.number;
        let width = count.to_string().len();
        let _ = writeln!(out, "Subject: [{prefix} {number:0width$}/{count}] {}", self.subject);
        let _ = writeln!(out, "Message-ID: {}", options.message_id(number));
        if number > 0 {
            let cover = options.message_id(0);
            let _ = writeln!(out, "In-Reply-To: {cover}\nReferences: {cover}");
        }
        for (head, addresses) in [("To", &options.to), ("Cc", &options.cc)] {
            if !addresses.is_empty() {
                let addresses: Vec<String> = addresses.iter().map(|address| encode_author(address)).collect();
                let _ = writeln!(out, "{head}: {}", addresses.join(",\n\t"));
            }
        }
        let trailers = self.trailers.concat();
        if !(self.body.is_ascii() && trailers.is_ascii() && self.attachment.is_ascii()) {
            out.push_str("MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n");
            out.push_str("Content-Transfer-Encoding: 8bit\n");
        }
        let _ = write!(out, "\n{}\n", self.body.trim_end());
        if !self.trailers.is_empty() {
            let _ = write!(out, "\n{}\n", self.trailers.join("\n"));
        }
        let mut text = out.into_bytes();
        text.extend_from_slice(&self.attachment);
        text.extend_from_slice(format!("-- \nfieldline {}\n\n", env!("CARGO_PKG_VERSION")).as_bytes());
        text
    }
}

/// The author with a name beyond ASCII as RFC 2047 writes it.
fn encode_author(author: &str) -> String {
    let Some((name, mail)) = author.rsplit_once(" <").filter(|(name, _)| !name.is_ascii()) else {
        return quote_author(author);
    };
    let mut out = String::from("=?UTF-8?q?");
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("={byte:02X}")),
        }
    }
    format!("{out}?= <{mail}")
}

/// A name in quotes if it has characters that are special in addresses (RFC 5322, 3.2.3).
fn quote_author(author: &str) -> String {
    match author.rsplit_once(" <") {
        Some((name, mail)) if name.contains(['.', ',', ':', ';', '(', ')', '[', ']', '@', '\\']) => {
            format!("\"{}\" <{mail}", name.replace('\\', "\\\\"))
        }
        _ => author.to_owned(),
    }
}

/// `---`, remarks that no commit has, the diffstat and the diffs of one step, by path.
pub(crate) fn patch(step: &PatchStep, remarks: &str, index_lines: &IndexLines) -> Vec<u8> {
    let mut out = format!("---\n{remarks}{}\n", diffstat(&[step])).into_bytes();
    let mut files: Vec<&FileChange> = step.files.iter().collect();
    files.sort_by(|left, right| left.path.cmp(&right.path));
    for FileChange { path, old, new } in files {
        out.extend_from_slice(format!("diff --git a/{path} b/{path}\n").as_bytes());
        let index = index_lines.get(&(path.clone(), new.clone()));
        out.extend(index.iter().flat_map(|line| format!("{line}\n").into_bytes()));
        out.extend_from_slice(&diff::unified(path, old, new));
    }
    out
}

/// Lines a change adds and removes.
fn count_lines(file: &FileChange) -> (usize, usize) {
    let diff = diff::unified(&file.path, &file.old, &file.new);
    let lines = || diff.split(|byte| *byte == b'\n').skip(2);
    let count = |mark: u8| lines().filter(|line| line.first() == Some(&mark)).count();
    (count(b'+'), count(b'-'))
}

/// The diffstat of some steps, as `git diff --stat` prints it; changes of one file are one row.
pub(crate) fn diffstat(steps: &[&PatchStep]) -> String {
    let mut files: Vec<(&str, usize, usize)> = Vec::new();
    for change in steps.iter().flat_map(|step| &step.files) {
        let (added, removed) = count_lines(change);
        match files.iter_mut().find(|file| file.0 == change.path) {
            Some(file) => (file.1, file.2) = (file.1 + added, file.2 + removed),
            None => files.push((&change.path, added, removed)),
        }
    }
    files.sort_unstable();
    let width = files.iter().map(|file| file.0.len()).max().unwrap_or(0);
    let most = files.iter().map(|file| file.1 + file.2).max().unwrap_or(0);
    let digits = most.to_string().len();
    let bar = |count: usize| if most <= 50 { count } else { (count * 50).div_ceil(most) };
    let mut out = String::new();
    for (path, added, removed) in &files {
        let marks = "+".repeat(bar(*added)) + &"-".repeat(bar(*removed));
        let _ = writeln!(out, " {path:<width$} | {:>digits$} {marks}", added + removed);
    }
    let sum = |figure: fn(&(&str, usize, usize)) -> usize| files.iter().map(figure).sum::<usize>();
    let (added, removed) = (sum(|file| file.1), sum(|file| file.2));
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let _ = write!(out, " {} changed", plural(files.len(), "file"));
    if added > 0 {
        let _ = write!(out, ", {}(+)", plural(added, "insertion"));
    }
    if removed > 0 {
        let _ = write!(out, ", {}(-)", plural(removed, "deletion"));
    }
    out.push('\n');
    out
}

/// Appends a paragraph with a blank line above.
pub(crate) fn write_separate_paragraph(out: &mut String, text: &str) {
    out.push('\n');
    write_paragraph(out, "", text);
}

/// Appends a paragraph, wrapped. `first` stands before its first line, blanks of the same width before the
/// others.
pub(crate) fn write_paragraph(out: &mut String, first: &str, text: &str) {
    let indent = " ".repeat(first.chars().count());
    let options = Options::new(COLUMNS).break_words(false).word_splitter(WordSplitter::NoHyphenation);
    let options = options.initial_indent(first).subsequent_indent(&indent);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(out, "{}", textwrap::fill(&words, options).trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(old: &str, new: &str) -> PatchStep {
        let file = FileChange { path: "a/s.h".into(), old: old.into(), new: new.into() };
        PatchStep { files: vec![file], ..PatchStep::default() }
    }

    #[test]
    fn names_beyond_ascii_are_encoded_and_marks_quoted() {
        assert_eq!(encode_author("Zo\u{eb} B <z@b>"), "=?UTF-8?q?Zo=C3=AB=20B?= <z@b>");
        assert_eq!(encode_author("A. B <z@b>"), "\"A. B\" <z@b>");
        assert_eq!(encode_author("A B <z@b>"), "A B <z@b>");
    }

    #[test]
    fn paragraphs_are_wrapped_and_hang() {
        let mut out = String::new();
        write_paragraph(&mut out, "  * ", &"word ".repeat(20));
        assert!(out.lines().all(|line| line.len() <= COLUMNS), "{out}");
        assert!(out.starts_with("  * word") && out.lines().nth(1).unwrap().starts_with("    word"), "{out}");
    }

    #[test]
    fn lines_are_counted_as_git_does() {
        let text = diffstat(&[&step("a\nb\n", "b\n"), &step("b\n", "b\nc\nd\n")]);
        assert_eq!(text, " a/s.h | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)\n");
        // A line that looks like a diff's head counts.
        assert_eq!(count_lines(&step("-- x\n", "++ y\n").files[0]), (1, 1));
    }

    #[test]
    fn mails_of_a_series_are_one_thread() {
        let options = SeriesOptions {
            author: "A Person <a@example.org>".to_owned(),
            date: String::new(),
            subject_prefix: "PATCH".to_owned(),
            trailers: Vec::new(),
            to: Vec::new(),
            cc: Vec::new(),
            base_commit: None,
            index_lines: IndexLines::new(),
            workload: None,
            measured: None,
            thread: 255,
        };
        let mail = |number| Mail {
            number: (number, 1),
            subject: "x",
            body: "",
            trailers: &[],
            attachment: Vec::new(),
        };
        let text = |number| String::from_utf8(mail(number).text(&options)).unwrap();
        let id = |number: usize| format!("<00000000000000ff.{number}.a@example.org>");
        assert!(text(0).contains(&format!("\nMessage-ID: {}\n", id(0))) && !text(0).contains("In-Reply-To"));
        let heads =
            format!("\nMessage-ID: {}\nIn-Reply-To: {cover}\nReferences: {cover}\n", id(1), cover = id(0));
        assert!(text(1).contains(&heads), "{}", text(1));
    }

    #[test]
    fn files_are_named_by_number_and_subject() {
        let mail =
            |number, subject| Mail { number, subject, body: "", trailers: &[], attachment: Vec::new() };
        assert_eq!(mail((0, 2), "x").file_name(), "0000-cover-letter.patch");
        assert_eq!(mail((1, 2), "net: Reorder struct a_b").file_name(), "0001-net-Reorder-struct-a_b.patch");
    }
}
