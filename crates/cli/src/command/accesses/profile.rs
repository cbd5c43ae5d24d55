//! `fieldline profile`: samples to an access profile.

use crate::args::ProfileArgs;
use crate::input::{document, recordings};
use crate::output::{self, Outcome};
use crate::report::color::Paint;
use crate::report::profile::{coverage, types_text};
use anyhow::Result;

pub(crate) fn run(args: &ProfileArgs) -> Result<Outcome> {
    let (profile, by_dso) = recordings::attributed(&args.recordings, |attributed| {
        let by_dso = if args.coverage { attributed.coverage()? } else { Vec::new() };
        Ok((attributed.profile()?, by_dso))
    })?;
    if let Some(path) = &args.output {
        document::write(path, &profile)?;
    }
    let mut out = String::new();
    let paint = Paint::new(output::use_color());
    if args.coverage {
        coverage::draw_by_dso(&mut out, &profile, &by_dso, paint);
    } else {
        coverage::draw(&mut out, &profile, paint);
        types_text::draw(&mut out, &profile, paint);
    }
    output::print(&out)?;
    Ok(Outcome::Done)
}
