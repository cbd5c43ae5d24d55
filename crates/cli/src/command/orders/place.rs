//! `fieldline place`: where a new member costs least.

use crate::args::PlaceArgs;
use crate::input::document;
use crate::output::{self, Outcome};
use crate::planning;
use crate::report::plan::place_text;
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::new_member;
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_layout::constraint::Wishes;
use fieldline_layout::spec::MemberSpec;
use fieldline_plan::PlanOptions;
use fieldline_plan::place::{self, Addition, PlaceReport};
use fieldline_tree::builds::BuildMachine;
use fieldline_tree::header::{self, Declaration};
use fieldline_tree::limits;
use std::path::Path;

pub(crate) fn run(args: &PlaceArgs) -> Result<Outcome> {
    let profile = args.profile.as_deref().map(document::read_profile).transpose()?;
    let place = answer(args, profile.as_ref())?;
    document::keep(args.output.as_ref(), &place)?;
    output::draw(|out, paint| place_text::draw(out, &place, paint))?;
    Ok(if place.refusal.is_some() { Outcome::No } else { Outcome::Done })
}

fn answer(args: &PlaceArgs, profile: Option<&AccessProfile>) -> Result<PlaceReport> {
    let spec = MemberSpec::parse(&args.member).with_context(|| format!("--member '{}'", args.member))?;
    let machine = BuildMachine::of(&args.vmlinux)?;
    let (layout, member) = types::with_types(&args.vmlinux, None, None, |known| {
        let layout = planning::layout_of(known, profile, types::bare(&args.ty))?;
        let member = new_member::resolve(known, &spec, machine.line);
        Ok((layout, member.with_context(|| format!("--member '{}'", args.member))?))
    })?;
    if layout.members.iter().any(|known| known.name.as_deref() == Some(spec.name.as_str())) {
        bail!("struct {} has a member {} already", layout.name, spec.name);
    }
    let (wishes, refusal) = limits::wishes(args.tree.as_deref(), &layout)?;
    let guards = guards(args.tree.as_deref(), &layout, &wishes)?;
    let options =
        PlanOptions { lines: args.lines.clone(), build_line: machine.line, ..PlanOptions::default() };
    let with = with(&layout, &args.with)?;
    let addition = Addition {
        layout: &layout,
        wishes: &wishes,
        guards: &guards,
        member: &member,
        declaration: args.member.trim(),
        align_limit: machine.align_limit,
        with: &with,
        is_cold: args.cold,
    };
    if let Some(reason) = refusal {
        output::note(&format!("the source bars and mentions nothing: {reason}"));
    }
    Ok(place::place(&addition, profile, &options))
}

/// Conditions around members, if the source tells any.
fn guards(tree: Option<&Path>, layout: &Layout, wishes: &Wishes) -> Result<Vec<Vec<String>>> {
    let Some(tree) = tree.filter(|_| !wishes.notes.is_empty()) else { return Ok(Vec::new()) };
    let declaration = Declaration::from(layout);
    let header = header::open(tree, &declaration)?;
    header::guards(&header, &declaration).with_context(|| header.path.clone())
}

/// Indices of the members named.
fn with(layout: &Layout, names: &[String]) -> Result<Vec<usize>> {
    let find = |name: &String| {
        let found = layout.members.iter().position(|member| member.name.as_deref() == Some(name.trim()));
        found.with_context(|| format!("--with {name}: struct {} has no such member", layout.name))
    };
    names.iter().map(find).collect()
}
