//! `fieldline merge`: profiles of several files or hosts as one.

use crate::args::MergeArgs;
use crate::input::document;
use crate::output::{self, Outcome};
use crate::report::profile;
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use std::path::Path;

/// A profile that was read, and what its order among the others depends on.
struct Part<'p> {
    path: &'p Path,
    profile: AccessProfile,
    text: Vec<u8>,
}

pub(crate) fn run(args: &MergeArgs) -> Result<Outcome> {
    let mut parts = args.profiles.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    check(&parts)?;
    // Which profile is named first says nothing, so it changes nothing either.
    parts.sort_by(|one, two| one.text.cmp(&two.text));
    let mut sum = AccessProfile::empty();
    for part in parts {
        sum.merge(part.profile);
    }
    document::write(&args.output, &sum)?;
    output::draw(|out, paint| profile::draw(out, &sum, paint))?;
    Ok(Outcome::Done)
}

fn read(path: &Path) -> Result<Part<'_>> {
    let profile = document::read_profile(path)?;
    let text = document::text(&profile)?;
    Ok(Part { path, profile, text })
}

/// Refuses profiles of different programs, and one given twice.
fn check(parts: &[Part<'_>]) -> Result<()> {
    for (index, part) in parts.iter().enumerate() {
        for before in parts.iter().take(index) {
            if before.text == part.text {
                bail!("{} and {} hold the same samples", before.path.display(), part.path.display());
            }
            before.profile.check_same_program(&part.profile).with_context(|| {
                format!("{} does not go with {}", part.path.display(), before.path.display())
            })?;
        }
    }
    Ok(())
}
