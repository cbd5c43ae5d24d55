//! A series of mails out of a plan: a cover letter and one patch a struct, if need be behind one of macros.

mod mail;
mod story;

use crate::args::SeriesArgs;
use fieldline_access::access::AccessProfile;
use fieldline_plan::Plan;
use fieldline_tree::edits::PatchStep;
use mail::Mail;
use std::fmt::Write;

/// Name and text of each file of the series; none if nothing moves.
pub(crate) fn files(
    plan: &Plan,
    profile: Option<&AccessProfile>,
    steps: &[PatchStep],
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
fn overview(steps: &[PatchStep], subjects: &[String], args: &SeriesArgs) -> Vec<u8> {
    let author = args.from.as_deref().unwrap_or_default();
    let name = author.rsplit_once(" <").map_or(author, |(name, _)| name);
    let mut out = format!("\n{name} ({}):\n", steps.len());
    for subject in subjects {
        let _ = writeln!(out, "  {subject}");
    }
    let all: Vec<&PatchStep> = steps.iter().collect();
    let _ = write!(out, "\n{}\n", mail::stat(&all));
    out.into_bytes()
}
