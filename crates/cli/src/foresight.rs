//! What can be read about structs before there is a profile: their definitions and what the tree says about them.
//!
//! Reading recordings leaves a processor idle here and there, and reading a tree waits for disks; side by side they take
//! little longer than the longer of the two. Which definition of a name counts is only known from the profile: what was
//! read of another one is read again.

use crate::profiled;
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_tree::limits::{self, Limits};
use std::path::Path;

/// Definitions of structs, and what the tree says about the first of each.
pub(crate) struct Foresight {
    /// By struct asked for, all definitions of its name, those of most units first.
    definitions: Vec<Vec<Layout>>,
    /// What the tree says about the first definitions.
    limits: Vec<Limits>,
}

impl Foresight {
    /// Reads what is there; nothing if anything fails: who needs it then reads it again and tells what is wrong.
    pub(crate) fn new(types: &[String], vmlinux: &Path, tree: Option<&Path>) -> Option<Self> {
        let definitions = types::with_types(vmlinux, None, None, |found| {
            types.iter().map(|name| found.layouts(types::bare(name))).collect::<anyhow::Result<Vec<_>>>()
        });
        let definitions = definitions.ok()?;
        let firsts: Vec<Layout> = definitions.iter().filter_map(|all| all.first().cloned()).collect();
        let limits = limits::of(tree, &firsts).ok()?;
        (firsts.len() == definitions.len()).then_some(Self { definitions, limits })
    }

    /// The layouts that a profile was made with, as [`profiled::layout_of`] finds them; `None` if any can't be told by
    /// what was read.
    pub(crate) fn layouts(&self, names: &[&str], profile: Option<&AccessProfile>) -> Option<Vec<Layout>> {
        let layouts = names.iter().zip(&self.definitions).map(|(name, all)| {
            match profile.and_then(|profile| profiled::sampled(profile, name)) {
                Some(of) if of.name == *name => all.iter().find(|one| one.fingerprint() == of.fingerprint),
                Some(_) => None,
                None => all.first(),
            }
        });
        layouts.map(Option::<&Layout>::cloned).collect()
    }

    /// What the tree says about layouts, if they are those it was asked about.
    pub(crate) fn limits(&self, layouts: &[Layout]) -> Option<Vec<Limits>> {
        let firsts = self.definitions.iter().filter_map(|all| all.first());
        firsts.eq(layouts).then(|| self.limits.clone())
    }
}
