//! `fieldline import`: what perf counted by type, as a profile.

use crate::args::ImportArgs;
use crate::input::document;
use crate::input::recordings::base_name;
use crate::output::{self, Outcome};
use crate::report::profile;
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::types::{self, Types};
use fieldline_debuginfo::{Elf, FileBytes, hex};
use fieldline_layout::Layout;
use fieldline_profile::perf_types::{self, Error, TypeCounts};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn run(args: &ImportArgs) -> Result<Outcome> {
    let build_id = build_id(&args.vmlinux)?;
    let mut sum = AccessProfile::empty();
    for path in &args.reports {
        let counts = read(path)?;
        let place = || path.display().to_string();
        let mut layouts = layouts(&args.vmlinux, &counts)?;
        let name = base_name(path);
        let of_tag = |tag: &str| layouts.remove(tag).unwrap_or_default();
        sum.merge(perf_types::profile(&counts, &name, build_id.as_deref(), of_tag).with_context(place)?);
    }
    document::keep(args.output.as_ref(), &sum)?;
    output::draw(|out, paint| profile::draw(out, &sum, paint))
}

fn read(path: &Path) -> Result<TypeCounts> {
    let place = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(place)?;
    match perf_types::parse(&bytes) {
        Err(Error::Line { line, problem }) => bail!("{}:{line}: {problem}", path.display()),
        counts => counts.with_context(place),
    }
}

/// The program's build id in hex; raw BTF has none.
fn build_id(path: &Path) -> Result<Option<String>> {
    let file = FileBytes::open(path)?;
    if types::is_raw_btf(file.bytes()) {
        return Ok(None);
    }
    Ok(Elf::parse(&file)?.build_id().map(hex))
}

/// Layouts of the types that were counted, by tag, those that most units share first. Types that aren't there have none.
fn layouts(vmlinux: &Path, counts: &TypeCounts) -> Result<BTreeMap<String, Vec<Layout>>> {
    let tags = perf_types::tags(counts);
    let names: Vec<&str> = tags.iter().map(String::as_str).collect();
    types::with_types(vmlinux, None, None, |types: &Types<'_, '_>| {
        let mut entries = types.find_many(&names)?;
        for of_name in &mut entries {
            of_name.sort_by_key(|entry| std::cmp::Reverse(entry.units));
        }
        let all: Vec<_> = entries.iter().flatten().cloned().collect();
        let mut reader = types.reader(&all)?;
        let mut found: BTreeMap<String, Vec<Layout>> = BTreeMap::new();
        for (tag, entry) in
            tags.iter().zip(&entries).flat_map(|(tag, all)| all.iter().map(move |one| (tag, one)))
        {
            let id = reader.read(entry)?;
            found.entry(tag.clone()).or_default().extend(Layout::of(reader.table(), id));
        }
        Ok(found)
    })
}
