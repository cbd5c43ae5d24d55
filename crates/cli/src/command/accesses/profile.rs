//! `fieldline profile`: samples to an access profile.

use crate::args::ProfileArgs;
use crate::input::{document, recordings};
use crate::output::{self, Outcome};
use crate::report::profile::{self as report, coverage};
use anyhow::Result;

pub(crate) fn run(args: &ProfileArgs) -> Result<Outcome> {
    let (profile, by_dso) = recordings::attributed(&args.recordings, |attributed| {
        let by_dso = if args.coverage { attributed.coverage()? } else { Vec::new() };
        Ok((attributed.profile()?, by_dso))
    })?;
    if let Some(path) = &args.output {
        document::write(path, &profile)?;
    }
    output::draw(|out, paint| match args.coverage {
        true => coverage::draw_by_dso(out, &profile, &by_dso, paint),
        false => report::draw(out, &profile, paint),
    })?;
    Ok(Outcome::Done)
}
