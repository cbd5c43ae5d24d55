//! `fieldline doctor`: what to record on a machine, and whether a recording can answer.

use crate::args::DoctorArgs;
use crate::diagnosis::Diagnosis;
use crate::input::document;
use crate::output::{self, Outcome};
use crate::report::doctor_text;
use anyhow::Result;

pub(crate) fn run(args: &DoctorArgs) -> Result<Outcome> {
    let diagnosis = match args.perf.is_empty() {
        true => Diagnosis::of_machine(&args.root)?,
        false => Diagnosis::of_recordings(&args.perf, args.vmlinux.as_deref(), &args.types)?,
    };
    if args.json {
        output::print(&String::from_utf8(document::text(&diagnosis)?)?)?;
    } else {
        output::draw(|out, paint| doctor_text::draw(out, &diagnosis, paint))?;
    }
    Ok(if diagnosis.fit { Outcome::Done } else { Outcome::No })
}
