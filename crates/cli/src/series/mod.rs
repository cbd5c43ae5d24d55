//! A series of mails out of a plan: a cover letter and one patch a struct.
//!
//! * `mail`: the shape that `git am` takes.
//! * `story`: what the mails say.

mod mail;
mod story;

use crate::args::series::SeriesArgs;
use fieldline_layout::access::AccessProfile;
use fieldline_plan::Plan;
use mail::Mail;
use std::fmt::Write;

/// The change of one struct, upon those before it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The struct's tag.
    pub(crate) name: String,
    /// The file from the top of the tree.
    pub(crate) path: String,
    /// The file before and after.
    pub(crate) old: Vec<u8>,
    pub(crate) new: Vec<u8>,
    /// What readers of the patch should know, a sentence each.
    pub(crate) shared: Vec<String>,
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
        body: &story::cover(plan, profile),
        trailers: &[],
        rest: overview(steps, &subjects, args),
    };
    let mut files = vec![(cover.file(), cover.text(args))];
    for ((number, step), subject) in (1..).zip(steps).zip(&subjects) {
        let Some(of) = plan.struct_named(&step.name) else { continue };
        let body = story::of_struct(plan, of, step);
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
