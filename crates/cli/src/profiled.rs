//! Which definition of a struct's name a profile means.

use anyhow::{Context, Result};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_debuginfo::types::Types;
use fieldline_layout::layout::Layout;

/// The layout the profile was made with; without samples, the one most units share.
pub(crate) fn layout_of(
    types: &Types<'_, '_>,
    profile: Option<&AccessProfile>,
    name: &str,
) -> Result<Layout> {
    match profile.and_then(|profile| sampled(profile, name)) {
        // As the profile calls it: with the namespaces around it.
        Some(of) => Ok(Layout { name: of.name.clone(), ..types.layout_like(&of.name, of.fingerprint)? }),
        None => types.layouts(name)?.into_iter().next().with_context(|| format!("{name} is no struct")),
    }
}

/// What a profile knows of a struct: most samples of those of that name.
pub(crate) fn sampled<'p>(profile: &'p AccessProfile, name: &str) -> Option<&'p TypeProfile> {
    let named = profile.types.iter().filter(|of| of.name == name);
    named.max_by_key(|of| of.samples()).or_else(|| profile.type_named(name))
}
