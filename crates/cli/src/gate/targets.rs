//! The layouts of each target, now and before.

use super::config::{Config, Target};
use crate::input::layout_set::{self, DebugFormats, LayoutSet};
use crate::input::origin::{FetchedFile, FileOrigin};
use crate::input::select::{is_glob, matches_type};
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_check::set::pair_by_name;
use fieldline_debuginfo::types::DebugFormat;
use fieldline_layout::Layout;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct LoadedTarget<'c> {
    pub(crate) config: &'c Target,
    pub(crate) line: u64,
    pub(crate) now: LayoutSet,
    pub(crate) before: Option<LayoutSet>,
}

impl LoadedTarget<'_> {
    /// Each definition with the earlier one, by name.
    pub(crate) fn pairs(&self) -> Vec<(&Layout, Option<&Layout>)> {
        let before = self.before.iter().flat_map(|layout_set| &layout_set.layouts);
        pair_by_name(before, &self.now.layouts).filter_map(|(old, new)| Some((new?, old))).collect()
    }
}

/// Files to compare with, as typed: of the only target, or `TARGET=FILE`.
pub(crate) fn set_baselines(config: &mut Config, typed: &[String]) -> Result<()> {
    for (place, file) in assign(config, "--against", typed)? {
        config.targets[place].against = Some(FileOrigin::parse(file, Path::new(""))?);
    }
    Ok(())
}

/// Files to check in place of the configuration's, likewise.
pub(crate) fn set_files(config: &mut Config, typed: &[String]) -> Result<()> {
    for (place, file) in assign(config, "--vmlinux", typed)? {
        config.targets[place].file = file.into();
    }
    Ok(())
}

/// Build folders by target, likewise.
pub(crate) fn builds<'c>(config: &'c Config, typed: &[String]) -> Result<Vec<(&'c Target, PathBuf)>> {
    // As make is told where to build.
    let typed: Vec<String> =
        typed.iter().map(|text| text.strip_prefix("O=").unwrap_or(text).to_owned()).collect();
    let assigned = assign(config, "--build", &typed)?.into_iter();
    Ok(assigned.map(|(place, folder)| (&config.targets[place], PathBuf::from(folder))).collect())
}

/// The target that each file is for.
fn assign<'t>(config: &Config, option: &str, typed: &'t [String]) -> Result<Vec<(usize, &'t str)>> {
    let mut given: Vec<(usize, &str)> = Vec::new();
    for text in typed {
        let named = text.split_once('=').and_then(|(name, file)| {
            let place = config.targets.iter().position(|target| target.name == name)?;
            Some((place, file))
        });
        let (place, file) = match (named, config.targets.len()) {
            (Some((place, file)), _) => (place, file),
            (None, 1) => (0, text.as_str()),
            (None, _) => bail!("{option} {text}: there are several targets; write TARGET=FILE"),
        };
        if given.iter().any(|known| known.0 == place) {
            bail!("{option} {text}: target {} has another one already", config.targets[place].name);
        }
        given.push((place, file));
    }
    Ok(given)
}

/// Reads all targets at once.
pub(crate) fn read(config: &Config) -> Result<Vec<LoadedTarget<'_>>> {
    let read = |target| read_target(config, target).with_context(|| format!("target {}", target.name));
    fieldline_parallel::map(&config.targets, read).into_iter().collect()
}

fn read_target<'c>(config: &Config, target: &'c Target) -> Result<LoadedTarget<'c>> {
    let against = target.against.as_ref().map(FileOrigin::fetch).transpose()?;
    let format = match (target.format, &against) {
        (Some(format), _) => Some(format),
        (None, Some(against)) => {
            let content = against.with_name_in_error(DebugFormats::detect(against.path()))?;
            // DWARF first: only it has source lines.
            content.common(DebugFormats::detect(&target.file)?, [DebugFormat::Dwarf, DebugFormat::Btf])
        }
        (None, None) => None,
    };
    let earlier = |file: &FetchedFile| layout_set::read_fetched(file, &config.types, format);
    let (now, before) = rayon::join(
        || layout_set::read(&target.file, &config.types, format),
        || against.as_ref().map(earlier).transpose(),
    );
    let (mut now, mut before) = (now?, before?);
    check_complete(config, target, &now)?;
    if let Some(before) = before.as_ref().filter(|before| before.layouts.is_empty()) {
        bail!("{}: has none of the types checked", before.file);
    }
    if let Some(before) = before.as_mut().filter(|before| before.format != now.format) {
        let (old, new) = (&before.file, &now.file);
        output::print_note(&format!("{old} and {new}: one is DWARF, one BTF; alignments are not compared"));
        before.forget_alignments();
        now.forget_alignments();
    }
    if let Some(before) = before.as_ref().filter(|before| before.pointer != now.pointer) {
        bail!("{} has pointers of {} bytes, {} of {}", before.file, before.pointer, now.file, now.pointer);
    }
    Ok(LoadedTarget { line: target.line.unwrap_or(now.line), config: target, now, before })
}

/// Refuses a target that lacks types of the configuration.
fn check_complete(config: &Config, target: &Target, now: &LayoutSet) -> Result<()> {
    let may_miss = |name: &str| target.optional.iter().any(|optional| matches_type(optional, name));
    if let Some(name) = now.missing.iter().find(|name| !is_glob(name) && !may_miss(name)) {
        bail!("{}: no struct '{name}'; if it may be absent, write optional = [\"{name}\"]", now.file);
    }
    let is_empty = |pattern: &&String| {
        is_glob(pattern) && !now.layouts.iter().any(|layout| matches_type(pattern, &layout.name))
    };
    match config.types.iter().filter(|pattern| !target.optional.contains(pattern)).find(is_empty) {
        Some(pattern) => bail!("{}: nothing matches '{pattern}'", now.file),
        None if now.layouts.is_empty() => bail!("{}: has none of the types to check", now.file),
        None => Ok(()),
    }
}
