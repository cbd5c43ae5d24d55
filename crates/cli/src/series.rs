//! A series of mails out of a plan: a cover letter and one patch a struct, if need be behind one of macros.
//!
//! * `mail`: the shape that `git am` takes.
//! * `story`: what the mails say.

mod mail;
mod story;

use crate::args::series::SeriesArgs;
use fieldline_access::access::AccessProfile;
use fieldline_plan::Plan;
use fieldline_tree::header::FileChange;
use mail::Mail;
use std::fmt::Write;

/// One patch of the series, upon those before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) about: About,
    /// What it changes.
    pub(crate) files: Vec<FileChange>,
    /// What readers of the patch should know, a sentence each.
    pub(crate) shared: Vec<String>,
    /// Whether it uses macros that align on some machines only.
    pub(crate) needs_macros: bool,
    /// Names of groups that are marked, by index into the plan's.
    pub(crate) groups: Vec<(usize, String)>,
}

/// What a patch is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum About {
    /// Macros that the others use.
    #[default]
    Macros,
    /// The struct with this tag.
    Struct(String),
}

impl Step {
    /// The struct's tag.
    fn name(&self) -> Option<&str> {
        match &self.about {
            About::Macros => None,
            About::Struct(name) => Some(name),
        }
    }
}

/// Name and text of each file of the series; none if nothing moves.
pub(crate) fn files(
    plan: &Plan,
    profile: Option<&AccessProfile>,
    steps: &[Step],
    args: &SeriesArgs,
) -> Vec<(String, Vec<u8>)> {
    if steps.is_empty() {
        return Vec::new();
    }
    let count = steps.len();
    let subjects: Vec<String> = steps.iter().map(|step| story::subject(step, plan)).collect();
    let cover = Mail {
        number: (0, count),
        subject: &story::cover_subject(steps),
        body: &story::cover(plan, profile, steps),
        trailers: &[],
        rest: overview(steps, &subjects, args),
    };
    let mut files = vec![(cover.file(), cover.text(args))];
    for ((number, step), subject) in (1..).zip(steps).zip(&subjects) {
        let body = match step.name().map(|name| plan.struct_named(name)) {
            Some(Some(of)) => story::of_struct(plan, of, step),
            Some(None) => continue,
            None => story::of_macros(step),
        };
        let mail = Mail {
            number: (number, count),
            subject,
            body: &body,
            trailers: &args.trailers,
            rest: mail::patch(step),
        };
        files.push((mail.file(), mail.text(args)));
    }
    files
}

/// Subjects and diffstat, as at the end of a cover letter.
fn overview(steps: &[Step], subjects: &[String], args: &SeriesArgs) -> Vec<u8> {
    let author = args.from.as_deref().unwrap_or_default();
    let name = author.rsplit_once(" <").map_or(author, |(name, _)| name);
    let mut out = format!("\n{name} ({}):\n", steps.len());
    for subject in subjects {
        let _ = writeln!(out, "  {subject}");
    }
    let all: Vec<&Step> = steps.iter().collect();
    let _ = write!(out, "\n{}\n", mail::stat(&all));
    out.into_bytes()
}
