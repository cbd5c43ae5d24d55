//! Arguments for patch series and for marking groups.

use super::values::line_size;
use crate::series::SeriesRequest;
use clap::{Args, ValueEnum};
use fieldline_tree::idiom::options::{self, AlignGroups, CheckIn, GroupName, IdiomOptions};
use std::path::PathBuf;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// How groups of members are marked in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Idiom {
    /// Cacheline group markers, and a function run at startup that asserts their members (in kernel trees).
    Groups,
    /// A comment above each group, and ____cacheline_aligned at the first member where that costs no byte (in
    /// kernel trees).
    Plain,
    /// No marks: members move, and nothing is added.
    None,
}

/// How groups are marked.
#[derive(Clone, Debug, Args)]
pub(crate) struct IdiomArgs {
    /// How groups of members are marked in the source. Default: plain in kernel trees, groups where one needs alignment to
    /// stay on its lines in a build of --also, none elsewhere.
    #[arg(long, value_enum)]
    pub(crate) idiom: Option<Idiom>,
    /// Which groups --idiom groups aligns to the cacheline: those that the plan does, none, or, with
    /// cond:BYTES, all that it costs nothing, on machines whose cachelines have so many bytes.
    #[arg(long, value_name = "plan|none|cond:BYTES", default_value = "plan", value_parser = align_groups)]
    pub(crate) align_groups: AlignGroups,
    /// Another name for a group: the word that the plan calls it by, and yours. May be given several times.
    #[arg(long = "group-name", value_name = "WORD=WORD", value_parser = group_name)]
    pub(crate) group_names: Vec<GroupName>,
    /// The __init function that calls the checks of groups, with its file from the top of the tree. If not
    /// given, one in the file that names the struct most.
    #[arg(long, value_name = "FILE:FUNCTION", value_parser = check_in)]
    pub(crate) check_in: Option<CheckIn>,
}

impl IdiomArgs {
    /// The options as the tree crate takes them.
    pub(crate) fn options(&self) -> IdiomOptions {
        IdiomOptions {
            idiom: self.idiom.map(|idiom| match idiom {
                Idiom::Groups => options::Idiom::Groups,
                Idiom::Plain => options::Idiom::Plain,
                Idiom::None => options::Idiom::None,
            }),
            align_groups: self.align_groups,
            group_names: self.group_names.clone(),
            check_in: self.check_in.clone(),
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SeriesArgs {
    #[command(flatten)]
    pub(crate) idiom_args: IdiomArgs,
    /// Write a series as `git format-patch --cover-letter` does, one mail a struct, instead of one bare diff
    /// a file. `git am` takes it; it has no Signed-off-by unless a --trailer gives one.
    #[arg(long, requires = "from")]
    pub(crate) series: bool,
    /// The author of the series.
    #[arg(long, value_name = "NAME <MAIL>", requires = "series", value_parser = author)]
    pub(crate) from: Option<String>,
    /// The date of the mails, such as '21 Nov 2026 12:00:00 +0100'. If not given, that of SOURCE_DATE_EPOCH, else of the
    /// tree's commit, so that equal inputs give equal files.
    #[arg(long, value_name = "DATE", requires = "series", value_parser = date)]
    pub(crate) date: Option<String>,
    /// Text in the brackets of the subjects before the number. If not given, PATCH with --measured or --evidence, else RFC PATCH.
    #[arg(long, value_name = "TEXT", requires = "series", value_parser = prefix)]
    pub(crate) subject_prefix: Option<String>,
    /// A trailer for each patch, such as 'Reviewed-by: Ada'; may be given several times.
    #[arg(long = "trailer", value_name = "KEY: TEXT", requires = "series", value_parser = trailer)]
    pub(crate) trailers: Vec<String>,
    /// Sign each patch off as the author: you certify the Developer Certificate of Origin.
    #[arg(long, requires = "series")]
    pub(crate) signoff: bool,
    /// The workload that was recorded, for the cover letter.
    #[arg(long, value_name = "TEXT", requires = "series", value_parser = one_line)]
    pub(crate) workload: Option<String>,
    /// A text with measured results, for the cover letter. Without it, the letter says that nothing was measured yet.
    #[arg(long, value_name = "FILE", requires = "series")]
    pub(crate) measured: Option<PathBuf>,
    /// Measured results for the cover letter: what `compare --format json` or `--format cover` wrote.
    #[arg(long, value_name = "FILE", requires = "series", conflicts_with = "measured")]
    pub(crate) evidence: Option<PathBuf>,
    /// Address the mails as the tree's scripts/get_maintainer.pl says: maintainers in To, lists and reviewers in Cc.
    #[arg(long, requires = "series")]
    pub(crate) maintainers: bool,
}

impl SeriesArgs {
    /// The contents wanted of the series, if one is to be written.
    pub(crate) fn request(&self) -> Option<SeriesRequest<'_>> {
        self.series.then(|| SeriesRequest {
            author: self.from.as_deref().unwrap_or_default(),
            date: self.date.as_deref(),
            subject_prefix: self.subject_prefix.as_deref(),
            trailers: &self.trailers,
            is_signed_off: self.signoff,
            workload: self.workload.as_deref(),
            measured: self.measured.as_deref(),
            evidence: self.evidence.as_deref(),
            names_maintainers: self.maintainers,
        })
    }
}

fn align_groups(text: &str) -> Result<AlignGroups, String> {
    match text {
        "plan" => Ok(AlignGroups::Plan),
        "none" => Ok(AlignGroups::None),
        other => match other.strip_prefix("cond:").map(line_size) {
            Some(bytes) => bytes.map(AlignGroups::Where),
            None => Err("plan, none or cond:BYTES".to_owned()),
        },
    }
}

fn group_name(text: &str) -> Result<GroupName, String> {
    let (from, to) = text.split_once('=').ok_or("the word of a group, =, and another word")?;
    match is_identifier(from) && is_identifier(to) {
        true => Ok(GroupName { from: from.to_owned(), to: to.to_owned() }),
        false => Err("names are letters, digits and underscores".to_owned()),
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn check_in(text: &str) -> Result<CheckIn, String> {
    match text.rsplit_once(':') {
        Some((file, function)) if !file.is_empty() && is_identifier(function) => {
            Ok(CheckIn { file: file.to_owned(), function: function.to_owned() })
        }
        _ => Err("a file of the tree, a colon, and a function in it".to_owned()),
    }
}

fn is_one_line(text: &str) -> bool {
    !text.chars().any(char::is_control) && text.trim() == text && !text.is_empty()
}

fn check_value(text: &str, is_good: bool, wanted: &str) -> Result<String, String> {
    if is_good { Ok(text.to_owned()) } else { Err(wanted.to_owned()) }
}

/// `Name <user@host>`: without an address `git am` refuses.
fn author(text: &str) -> Result<String, String> {
    let address = text.strip_suffix('>').and_then(|text| text.rsplit_once(" <"));
    let is_good = |(name, mail): (&str, &str)| {
        let (user, host) = mail.split_once('@').unwrap_or_default();
        let part = |part: &str| !part.is_empty() && part.is_ascii() && !part.contains([' ', '<', '>', '@']);
        part(user) && part(host) && is_one_line(name) && !name.contains(['<', '>', '"'])
    };
    check_value(text, address.is_some_and(is_good), "an author is Name <user@host>")
}

/// A date as mails have it (RFC 5322, 3.3).
fn date(text: &str) -> Result<String, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = if words.first().is_some_and(|word| word.ends_with(',')) { &words[1..] } else { &words[..] };
    let number = |word: &str, range: std::ops::RangeInclusive<u32>| {
        word.bytes().all(|byte| byte.is_ascii_digit()) && word.parse().is_ok_and(|n| range.contains(&n))
    };
    let time = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() == 3
            && parts.iter().zip([23, 59, 60]).all(|(part, most)| part.len() == 2 && number(part, 0..=most))
    };
    let zone = |word: &str| {
        word.len() == 5 && word.starts_with(['+', '-']) && number(word.get(1..).unwrap_or_default(), 0..=1400)
    };
    let is_good = match words {
        [day, month, year, clock, offset] => {
            let day_and_year = number(day, 1..=31) && number(year, 1970..=9999);
            day_and_year && MONTHS.contains(month) && time(clock) && zone(offset)
        }
        _ => false,
    };
    check_value(text, is_good && is_one_line(text), "a day is such as '21 Nov 2026 12:00:00 +0100'")
}

fn prefix(text: &str) -> Result<String, String> {
    let is_good = is_one_line(text) && text.is_ascii() && !text.contains(['[', ']']);
    check_value(text, is_good, "one line of ASCII without brackets")
}

fn one_line(text: &str) -> Result<String, String> {
    check_value(text, is_one_line(text), "one line of text")
}

fn trailer(text: &str) -> Result<String, String> {
    let (key, value) = text.split_once(": ").unwrap_or_default();
    let is_key = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    check_value(text, is_key && is_one_line(text) && !value.trim().is_empty(), "a trailer is Key: text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_have_a_name_and_an_address() {
        assert!(author("Ada B. <ada@example.org>").is_ok());
        for wrong in ["Ada", "ada@example.org", "Ada <ada>", "Ada <a@b> x", " <a@b>", "Ada\n <a@b>"] {
            assert!(author(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn dates_are_those_of_mails() {
        for good in [
            "Mon, 17 Sep 2001 00:00:00 +0000",
            "1 Jan 1970 00:00:00 +0000",
            "Sat, 21 Nov 2026 12:46:24 -0730",
        ] {
            assert!(date(good).is_ok(), "{good}");
        }
        for wrong in
            ["", "2026-11-21", "21 Nov 2026", "32 Nov 2026 12:00:00 +0000", "21 Nov 2026 24:00:00 +0000"]
        {
            assert!(date(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn groups_are_named_and_aligned_by_words() {
        assert_eq!(align_groups("cond:64"), Ok(AlignGroups::Where(64)));
        for wrong in ["cond", "cond:63", "64", ""] {
            assert!(align_groups(wrong).is_err(), "{wrong}");
        }
        assert_eq!(group_name("tx=rx"), Ok(GroupName { from: "tx".to_owned(), to: "rx".to_owned() }));
        for wrong in ["s", "s=", "s=a,b", "s=a b", "=a"] {
            assert!(group_name(wrong).is_err(), "{wrong}");
        }
        assert!(check_in("a/b.c:b_init").is_ok());
        for wrong in ["a/b.c", ":b_init", "a/b.c:", "a/b.c:b()"] {
            assert!(check_in(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn trailers_have_a_key() {
        assert!(trailer("Link: https://example.org/1").is_ok());
        for wrong in ["Link", "Link:", ": x", "Re viewed: x", "A: x\nB: y"] {
            assert!(trailer(wrong).is_err(), "{wrong}");
        }
    }
}
