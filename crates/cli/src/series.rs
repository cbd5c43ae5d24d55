//! A patch series of a plan: a cover letter, a patch of macros if they are needed, and one patch a struct.

mod letter;
mod mail;

use crate::args::SeriesArgs;
use fieldline_access::access::AccessProfile;
use fieldline_plan::Plan;
use fieldline_tree::edits::PatchStep;
use mail::Mail;
use std::fmt::Write;

/// Name and text of each file of the series; none if nothing moves.
pub(crate) fn build_files(
    plan: &Plan,
    profile: Option<&AccessProfile>,
    steps: &[PatchStep],
    args: &SeriesArgs,
) -> Vec<(String, Vec<u8>)> {
    if steps.is_empty() {
        return Vec::new();
    }
    let count = steps.len();
    let subjects: Vec<String> = steps.iter().map(|step| letter::subject(step, plan)).collect();
    let cover = Mail {
        number: (0, count),
        subject: &letter::cover_subject(steps),
        body: &letter::cover_body(plan, profile, steps),
        trailers: &[],
        attachment: build_overview(steps, &subjects, args),
    };
    let mut files = vec![(cover.file_name(), cover.text(args))];
    for ((number, step), subject) in (1..).zip(steps).zip(&subjects) {
        let body = match step.name().map(|name| plan.find_struct(name)) {
            Some(Some(struct_plan)) => letter::struct_body(plan, struct_plan, step),
            Some(None) => continue,
            None => letter::macros_body(step),
        };
        let mail = Mail {
            number: (number, count),
            subject,
            body: &body,
            trailers: &args.trailers,
            attachment: mail::patch(step),
        };
        files.push((mail.file_name(), mail.text(args)));
    }
    files
}

/// Subjects and diffstat, as at the end of a cover letter.
fn build_overview(steps: &[PatchStep], subjects: &[String], args: &SeriesArgs) -> Vec<u8> {
    let author = args.from.as_deref().unwrap_or_default();
    let name = author.rsplit_once(" <").map_or(author, |(name, _)| name);
    let mut out = format!("\n{name} ({}):\n", steps.len());
    for subject in subjects {
        let _ = writeln!(out, "  {subject}");
    }
    let all: Vec<&PatchStep> = steps.iter().collect();
    let _ = write!(out, "\n{}\n", mail::diffstat(&all));
    out.into_bytes()
}
