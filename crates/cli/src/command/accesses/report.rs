//! `fieldline report`: what a profile says about structs.

use crate::args::ReportArgs;
use crate::input::document;
use crate::output::{self, Outcome};
use crate::planning::by_samples;
use crate::report::color::Paint;
use crate::report::profile::heat::TypeHeat;
use crate::report::profile::{coverage, heat_sharing, heat_text};
use anyhow::{Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_debuginfo::types;
use fieldline_layout::layout::Layout;

/// How many structs are shown when none is named.
const BUSIEST: usize = 5;

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome> {
    let profile = document::read_profile(&args.profile)?;
    let chosen = choose(&profile, args)?;
    let paint = Paint::new(output::use_color());
    let options = heat_text::Options { lines: &args.cacheline, top: args.top, paint };
    let mut out = String::new();
    coverage::draw(&mut out, &profile, paint);
    for of in chosen {
        let layout = layout_of(of, args)?;
        heat_text::draw(&mut out, &TypeHeat::new(&profile, of, layout.as_ref()), &options);
        heat_sharing::draw(&mut out, of, layout.as_ref(), &options);
    }
    output::print(&out)?;
    Ok(Outcome::Done)
}

fn choose<'p>(profile: &'p AccessProfile, args: &ReportArgs) -> Result<Vec<&'p TypeProfile>> {
    if args.types.is_empty() {
        return Ok(by_samples(profile).into_iter().take(BUSIEST).collect());
    }
    let found = args.types.iter().map(|name| {
        let name = types::bare(name);
        match profile.type_named(name) {
            Some(of) => Ok(of),
            None => bail!(
                "{}: no samples of struct {name}; it has samples of: {}",
                args.profile.display(),
                most_sampled(profile)
            ),
        }
    });
    found.collect()
}

fn most_sampled(profile: &AccessProfile) -> String {
    let names: Vec<&str> = by_samples(profile).iter().take(12).map(|of| of.name.as_str()).collect();
    names.join(", ")
}

/// The layout the profile was made with, or the one of the program named, which must be the same.
fn layout_of(of: &TypeProfile, args: &ReportArgs) -> Result<Option<Layout>> {
    let Some(vmlinux) = &args.vmlinux else { return Ok(of.layout.clone()) };
    let layout = types::with_types(vmlinux, None, None, |types| types.layout_like(&of.name, of.fingerprint))?;
    Ok(Some(layout))
}
