//! `fieldline profile`: samples to an access profile.

use crate::Outcome;
use crate::args::ProfileArgs;
use crate::recordings;
use crate::report::color::Paint;
use crate::report::{coverage, types};
use crate::{document, output};
use anyhow::Result;

pub(crate) fn run(args: &ProfileArgs) -> Result<Outcome> {
    let profile = recordings::attributed(&args.recordings, |attributed| attributed.profile())?;
    if let Some(path) = &args.output {
        document::write(path, &profile)?;
    }
    let mut out = String::new();
    let paint = Paint::new(output::use_color());
    coverage::draw(&mut out, &profile, paint);
    types::draw(&mut out, &profile, paint);
    output::print(&out)?;
    Ok(Outcome::Done)
}
