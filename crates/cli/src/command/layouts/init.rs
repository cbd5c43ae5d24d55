//! `fieldline init`: a first fieldline.toml.

use crate::args::InitArgs;
use crate::input::{document, shelf};
use crate::output::{self, Outcome};
use anyhow::{Result, bail};
use fieldline_access::AccessProfile;
use std::path::Path;

pub(crate) fn run(args: &InitArgs) -> Result<Outcome> {
    if args.output.exists() {
        bail!("{}: is there already", args.output.display());
    }
    let profile = args.profile.as_deref().map(document::read_profile).transpose()?;
    let asked = match &profile {
        Some(profile) if args.types.is_empty() => hottest(profile, args.top),
        _ => args.types.clone(),
    };
    if asked.is_empty() {
        bail!("name the types to check, or a profile that tells which are hot (--profile)");
    }
    let shelf = shelf::read(&args.from, &asked, None)?;
    let is_known = |name: &String| !shelf.missing.contains(name);
    if let Some(name) = args.types.iter().find(|name| !is_known(name)) {
        bail!("{}: no definition of a struct, union or class '{name}' in its debug info", shelf.file);
    }
    let types: Vec<&String> = asked.iter().filter(|name| is_known(name)).collect();
    if types.is_empty() || shelf.layouts.is_empty() {
        bail!("{}: has none of the types", shelf.file);
    }
    output::write_file(&args.output, text(args, &types)?.as_bytes())?;
    output::print(&format!("wrote {} for {} types\n", args.output.display(), types.len()))?;
    let names: Vec<&str> = types.iter().map(|name| name.as_str()).collect();
    let (from, names) = (args.from.display(), names.join(" "));
    // The command that makes what the file compares with.
    output::print(&format!(
        "next: fieldline baseline --from {from} {names} -o layouts.json; then fieldline check\n"
    ))
}

/// The structs with most samples.
fn hottest(profile: &AccessProfile, top: usize) -> Vec<String> {
    let mut types: Vec<_> =
        profile.types.iter().map(|of| (std::cmp::Reverse(of.samples()), &of.name)).collect();
    types.sort();
    types.into_iter().take(top).map(|(_, name)| name.clone()).collect()
}

fn text(args: &InitArgs, types: &[&String]) -> std::io::Result<String> {
    let place = |path: &Path| std::path::absolute(path).map(|path| quoted(&path.display().to_string()));
    let mut out = String::from(
        "# What fieldline check looks at (docs/formats.md, docs/rules). Paths count from this folder.\n\ntypes = [\n",
    );
    for name in types {
        out.push_str(&format!("    {},\n", quoted(name)));
    }
    out.push_str("]\n");
    if let Some(profile) = &args.profile {
        out.push_str(&format!("profile = {}\n", place(profile)?));
    }
    let (file, against) = (place(&args.from)?, quoted("layouts.json"));
    out.push_str(&format!(
        "\n[target.main]\nfile = {file}\n# Made by fieldline baseline; kept beside the source.\nagainst = {against}\n\n[rules]\n"
    ));
    for rule in fieldline_check::Rule::ALL {
        out.push_str(&format!("{} = \"{}\"\n", rule.id(), rule.default_level().word()));
    }
    Ok(out)
}

/// A basic string of TOML: JSON escapes what it must, and TOML reads these escapes alike.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
