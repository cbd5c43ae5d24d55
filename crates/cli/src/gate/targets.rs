//! The layouts of each target, now and before.

use super::config::{Config, Target};
use crate::input::origin::{Fetched, Origin};
use crate::input::select;
use crate::input::shelf::{self, Content, Shelf};
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_check::set::paired;
use fieldline_debuginfo::types::Format;
use fieldline_layout::Layout;
use rayon::prelude::*;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Loaded<'c> {
    pub(crate) target: &'c Target,
    pub(crate) line: u64,
    pub(crate) now: Shelf,
    pub(crate) before: Option<Shelf>,
}

impl Loaded<'_> {
    /// Each definition with what it was, by name.
    pub(crate) fn pairs(&self) -> Vec<(&Layout, Option<&Layout>)> {
        let before = self.before.iter().flat_map(|shelf| &shelf.layouts);
        paired(before, &self.now.layouts).filter_map(|(old, new)| Some((new?, old))).collect()
    }
}

/// Files to compare with, as typed: of the only target, or `TARGET=FILE`.
pub(crate) fn against(config: &mut Config, typed: &[String]) -> Result<()> {
    let mut given = Vec::new();
    for text in typed {
        let named = text.split_once('=').and_then(|(name, file)| {
            let place = config.targets.iter().position(|target| target.name == name)?;
            Some((place, file))
        });
        let (place, file) = match (named, config.targets.len()) {
            (Some((place, file)), _) => (place, file),
            (None, 1) => (0, text.as_str()),
            (None, _) => {
                bail!("--against {text}: there are several targets; write TARGET=FILE with one of them")
            }
        };
        if given.contains(&place) {
            bail!("--against {text}: target {} has another one already", config.targets[place].name);
        }
        given.push(place);
        config.targets[place].against = Some(Origin::parse(file, Path::new(""))?);
    }
    Ok(())
}

/// Reads all targets at once.
pub(crate) fn read(config: &Config) -> Result<Vec<Loaded<'_>>> {
    let read = |target| read_one(config, target).with_context(|| format!("target {}", target.name));
    config.targets.par_iter().map(read).collect()
}

fn read_one<'c>(config: &Config, target: &'c Target) -> Result<Loaded<'c>> {
    let against = target.against.as_ref().map(Origin::fetch).transpose()?;
    let format = match (target.format, &against) {
        (Some(format), _) => Some(format),
        (None, Some(against)) => {
            let content = against.named(Content::of(against.path()))?;
            // DWARF tells lines of the source.
            content.common(Content::of(&target.file)?, [Format::Dwarf, Format::Btf])
        }
        (None, None) => None,
    };
    let earlier = |of: &Fetched| shelf::read_fetched(of, &config.types, format);
    let (now, before) = rayon::join(
        || shelf::read(&target.file, &config.types, format),
        || against.as_ref().map(earlier).transpose(),
    );
    let (mut now, mut before) = (now?, before?);
    expect_all(config, target, &now)?;
    if let Some(before) = before.as_ref().filter(|before| before.layouts.is_empty()) {
        bail!("{}: has none of the types checked", before.file);
    }
    if let Some(before) = before.as_mut().filter(|before| before.format != now.format) {
        let (old, new) = (&before.file, &now.file);
        output::note(&format!("{old} and {new}: one is of DWARF, one of BTF; alignments are not compared"));
        before.forget_alignments();
        now.forget_alignments();
    }
    if let Some(before) = before.as_ref().filter(|before| before.pointer != now.pointer) {
        bail!("{} has pointers of {} bytes, {} of {}", before.file, before.pointer, now.file, now.pointer);
    }
    Ok(Loaded { line: target.line.unwrap_or(now.line), target, now, before })
}

/// Refuses to check less than was asked for.
fn expect_all(config: &Config, target: &Target, now: &Shelf) -> Result<()> {
    let may_miss = |name: &str| target.optional.iter().any(|of| select::names(of, name));
    if let Some(name) = now.missing.iter().find(|name| !may_miss(name)) {
        bail!("{}: no struct '{name}'; if it may be absent, write optional = [\"{name}\"]", now.file);
    }
    let is_empty = |pattern: &&String| {
        select::is_glob(pattern) && !now.layouts.iter().any(|of| select::names(pattern, &of.name))
    };
    match config.types.iter().filter(|pattern| !target.optional.contains(pattern)).find(is_empty) {
        Some(pattern) => bail!("{}: nothing matches '{pattern}'", now.file),
        None if now.layouts.is_empty() => bail!("{}: has none of the types to check", now.file),
        None => Ok(()),
    }
}
