//! A patch series of a plan: a cover letter, a patch of macros if they are needed, and one patch a struct.

mod alignment;
pub(crate) mod evidence;
pub(crate) mod letter;
mod mail;
pub(crate) mod placement;
mod repository;
mod visibility;

use anyhow::{Context, Result};
use fieldline_access::access::AccessProfile;
use fieldline_plan::Plan;
use fieldline_tree::edits::{PatchStep, PatchSubject};
use mail::Mail;
use mail::SeriesOptions;
use rustc_hash::FxHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// The date where nothing else has one: the one `git format-patch` puts into its own first lines.
const DATE: &str = "Mon, 17 Sep 2001 00:00:00 +0000";
/// Words in the brackets of subjects: of a request for comments until something is measured.
const PREFIXES: [&str; 2] = ["RFC PATCH", "PATCH"];

/// A user's wishes for a series.
#[derive(Clone, Copy)]
pub(crate) struct SeriesRequest<'a> {
    /// `Name <user@host>`
    pub(crate) author: &'a str,
    pub(crate) date: Option<&'a str>,
    pub(crate) subject_prefix: Option<&'a str>,
    pub(crate) trailers: &'a [String],
    pub(crate) is_signed_off: bool,
    /// The workload that was recorded.
    pub(crate) workload: Option<&'a str>,
    /// A file with measured results.
    pub(crate) measured: Option<&'a Path>,
    /// A file that `compare` wrote.
    pub(crate) evidence: Option<&'a Path>,
    /// Whether the tree's script names recipients.
    pub(crate) names_maintainers: bool,
}

impl SeriesRequest<'_> {
    /// Completes what is asked for from the tree, its repository and the environment.
    fn options(&self, tree: &Path, steps: &[PatchStep]) -> Result<SeriesOptions> {
        let read = |path: &Path| fieldline_files::read(path).with_context(|| path.display().to_string());
        let measured = self.measured.map(read).transpose()?;
        let measured = measured.map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        let measured = measured.or(self.evidence.map(evidence::cover_text).transpose()?);
        let base_commit = repository::base_commit(tree);
        let (to, cc) = if self.names_maintainers {
            repository::recipients(tree, steps)?
        } else {
            (Vec::new(), Vec::new())
        };
        let mut trailers = self.trailers.to_vec();
        trailers.extend(self.is_signed_off.then(|| format!("Signed-off-by: {}", self.author)));
        let date = self.choose_date(tree)?;
        Ok(SeriesOptions {
            thread: number_thread((self.author, &date), steps),
            author: self.author.to_owned(),
            date,
            subject_prefix: self
                .subject_prefix
                .unwrap_or(PREFIXES[usize::from(measured.is_some())])
                .to_owned(),
            trailers,
            to,
            cc,
            index_lines: match base_commit.is_some() {
                true => repository::index_lines(tree, steps),
                false => std::collections::BTreeMap::new(),
            },
            base_commit,
            workload: self.workload.map(str::to_owned),
            measured,
        })
    }

    fn choose_date(&self, tree: &Path) -> Result<String> {
        if let Some(date) = self.date {
            return Ok(date.to_owned());
        }
        if let Ok(epoch) = std::env::var("SOURCE_DATE_EPOCH") {
            let seconds = epoch.parse().ok().filter(|seconds| *seconds < LAST_DATE);
            let seconds =
                seconds.with_context(|| format!("SOURCE_DATE_EPOCH={epoch} is no time in seconds"))?;
            return Ok(repository::mail_date(seconds));
        }
        Ok(repository::commit_date(tree).unwrap_or_else(|| DATE.to_owned()))
    }
}

/// The year 10000, in seconds.
const LAST_DATE: u64 = 253_402_300_800;

/// Name and text of each file of the series; none if nothing moves.
/// Fails if the tree's script fails or the measured results can't be read.
pub(crate) fn build_files(
    plan: &Plan,
    profile: Option<&AccessProfile>,
    steps: &[PatchStep],
    request: &SeriesRequest<'_>,
    tree: &Path,
) -> Result<Vec<(String, Vec<u8>)>> {
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let options = &request.options(tree, steps)?;
    let count = steps.len();
    let subjects: Vec<String> = steps.iter().map(|step| letter::subject(step, plan)).collect();
    let cover = Mail {
        number: (0, count),
        subject: &letter::cover_subject(steps),
        body: &letter::cover_body(plan, profile, steps, options, tree),
        trailers: &[],
        attachment: build_overview(steps, &subjects, options),
    };
    let mut files = vec![(cover.file_name(), cover.text(options))];
    for ((number, step), subject) in (1..).zip(steps).zip(&subjects) {
        let (body, layouts) = match &step.subject {
            PatchSubject::Macros => (letter::macros_body(step), String::new()),
            PatchSubject::Alignment(holder) => (alignment::body(plan, holder, step), String::new()),
            PatchSubject::Struct(name) => match plan.find_struct(name) {
                Some(struct_plan) => (
                    letter::struct_body(plan, struct_plan, step),
                    placement::describe(struct_plan, plan.build_line),
                ),
                None => continue,
            },
        };
        let mail = Mail {
            number: (number, count),
            subject,
            body: &body,
            trailers: &options.trailers,
            attachment: mail::patch(step, &layouts, &options.index_lines),
        };
        files.push((mail.file_name(), mail.text(options)));
    }
    Ok(files)
}

/// A number for a series, from its author, its date and what its patches make of the files.
fn number_thread(author_and_date: (&str, &str), steps: &[PatchStep]) -> u64 {
    let mut hasher = FxHasher::default();
    author_and_date.hash(&mut hasher);
    for file in steps.iter().flat_map(|step| &step.files) {
        (&file.path, &file.new).hash(&mut hasher);
    }
    hasher.finish()
}

/// Subjects and diffstat, as at the end of a cover letter.
fn build_overview(steps: &[PatchStep], subjects: &[String], options: &SeriesOptions) -> Vec<u8> {
    let author = options.author.as_str();
    let name = author.rsplit_once(" <").map_or(author, |(name, _)| name);
    let mut out = format!("\n{name} ({}):\n", steps.len());
    for subject in subjects {
        let _ = writeln!(out, "  {subject}");
    }
    let all: Vec<&PatchStep> = steps.iter().collect();
    let _ = write!(out, "\n{}\n", mail::diffstat(&all));
    out.extend(options.base_commit.iter().map(|commit| format!("\nbase-commit: {commit}\n")));
    out.into_bytes()
}
