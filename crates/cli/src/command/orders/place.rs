//! `fieldline place`: where a new member costs least.

use crate::args::{PlaceArgs, require_vmlinux};
use crate::input::document;
use crate::input::recordings::check_profile;
use crate::output::{self, CommandOutcome};
use crate::planning;
use crate::report::plan::place_text;
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::{new_member, types};
use fieldline_layout::Layout;
use fieldline_layout::spec::MemberSpec;
use fieldline_plan::PlanOptions;
use fieldline_plan::placement::{self, MemberAddition, PlacementReport};
use fieldline_tree::builds::BuildMachine;
use fieldline_tree::header::{self, Declaration};
use fieldline_tree::limits;
use fieldline_tree::pins::nearest;
use std::path::Path;

pub(crate) fn run(args: &PlaceArgs) -> Result<CommandOutcome> {
    let profile = args.profile.as_deref().map(document::read_profile).transpose()?;
    let placement = rank_locations(args, profile.as_ref())?;
    document::write_if_named(args.output.as_ref(), &placement)?;
    output::print_as(args.format, &placement, |out, paint| place_text::draw(out, &placement, paint))?;
    Ok(if placement.refusal.is_some() { CommandOutcome::Negative } else { CommandOutcome::Done })
}

fn rank_locations(args: &PlaceArgs, profile: Option<&AccessProfile>) -> Result<PlacementReport> {
    let spec = MemberSpec::parse(&args.member).with_context(|| format!("--member '{}'", args.member))?;
    let program = require_vmlinux(args.vmlinux.as_ref())?;
    if let (Some(known), Some(path)) = (profile, &args.profile) {
        check_profile(known, path, program)?;
    }
    let [name] = args.types.as_slice() else { bail!("one struct is expected, and a member for it") };
    let machine = BuildMachine::from_file(program)?;
    let (layout, member) = types::with_types(program, None, None, |known| {
        let layout = planning::find_layout(known, profile, types::strip_keyword(name))?;
        let choice = planning::describe_choice(&layout, known.find(&layout.name)?.len());
        choice.iter().for_each(|note| output::print_note(note));
        let member = new_member::resolve(known, &spec, machine.line);
        Ok((layout, member.with_context(|| format!("--member '{}'", args.member))?))
    })?;
    if layout.members.iter().any(|known| known.name.as_deref() == Some(spec.name.as_str())) {
        bail!("struct {} has a member {} already", layout.name, spec.name);
    }
    let (requests, refusal) = limits::read_requests(args.tree.as_deref(), &layout)?;
    let tree = args.tree.as_deref().filter(|_| !requests.notes.is_empty());
    let guards = read_guards(tree, &layout)?;
    let (build_line, lines) = (machine.line, args.lines.clone());
    let options = PlanOptions { lines, build_line, ..PlanOptions::default() };
    let with = find_members(&layout, &args.with)?;
    let addition = MemberAddition {
        layout: &layout,
        requests: &requests,
        guards: &guards,
        member: &member,
        declaration: args.member.trim(),
        align_limit: machine.align_limit,
        with: &with,
        is_cold: args.cold,
    };
    if let Some(reason) = refusal {
        output::print_note(&format!("the source was not used: {reason}"));
    }
    Ok(placement::rank_positions(&addition, profile, &options))
}

/// Preprocessor conditions around members, if the source has any.
fn read_guards(tree: Option<&Path>, layout: &Layout) -> Result<Vec<Vec<String>>> {
    let Some(tree) = tree else { return Ok(Vec::new()) };
    let declaration = Declaration::from(layout);
    let header = header::open(tree, &declaration)?;
    header::read_guards(&header, &declaration).with_context(|| header.path.clone())
}

/// Indices of the members named.
fn find_members(layout: &Layout, names: &[String]) -> Result<Vec<usize>> {
    let find = |name: &String| {
        let found = layout.members.iter().position(|member| member.name.as_deref() == Some(name.trim()));
        found.with_context(|| {
            let near = nearest(name, layout.members.iter().filter_map(|member| member.name.as_deref()));
            format!("--with {name}: struct {} has no such member{near}", layout.name)
        })
    };
    names.iter().map(find).collect()
}
