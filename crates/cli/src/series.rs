//! A patch series of a plan: a cover letter, a patch of macros if they are needed, and one patch a struct.

mod letter;
mod mail;

use fieldline_access::access::AccessProfile;
use fieldline_plan::Plan;
use fieldline_tree::edits::PatchStep;
use mail::Mail;
pub(crate) use mail::SeriesOptions;
use std::fmt::Write;

/// Name and text of each file of the series; none if nothing moves.
pub(crate) fn build_files(
    plan: &Plan,
    profile: Option<&AccessProfile>,
    steps: &[PatchStep],
    options: &SeriesOptions,
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
        attachment: build_overview(steps, &subjects, &options.author),
    };
    let mut files = vec![(cover.file_name(), cover.text(options))];
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
            trailers: &options.trailers,
            attachment: mail::patch(step),
        };
        files.push((mail.file_name(), mail.text(options)));
    }
    files
}

/// Subjects and diffstat, as at the end of a cover letter.
fn build_overview(steps: &[PatchStep], subjects: &[String], author: &str) -> Vec<u8> {
    let name = author.rsplit_once(" <").map_or(author, |(name, _)| name);
    let mut out = format!("\n{name} ({}):\n", steps.len());
    for subject in subjects {
        let _ = writeln!(out, "  {subject}");
    }
    let all: Vec<&PatchStep> = steps.iter().collect();
    let _ = write!(out, "\n{}\n", mail::diffstat(&all));
    out.into_bytes()
}
