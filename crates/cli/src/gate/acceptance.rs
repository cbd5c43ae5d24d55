//! How to accept a finding: the command that stores the layout as the one to compare with, or lines for
//! fieldline.toml.

use super::config::Config;
use super::targets::LoadedTarget;
use crate::input::origin::FileOrigin;
use crate::input::select::matches_type;
use fieldline_check::{CheckedStruct, Finding, Rule};
use fieldline_debuginfo::types::DebugFormat;
use fieldline_files::printable::printable;
use serde::Serialize;
use std::path::Path;

/// Text behind `reason =` where the user's reason belongs.
const REASON: &str = "WHY";

/// Instructions to accept a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Acceptance {
    /// A command to run.
    Run(String),
    /// A command to run, whose file is compared with once the revision that is named has it.
    RunAndCommit(String),
    /// Lines to add to fieldline.toml.
    Add(String),
    /// A table of fieldline.toml with the lines that it then has.
    Set(String),
}

impl Acceptance {
    /// As an instruction; `config` names fieldline.toml.
    pub(crate) fn instruction(&self, config: &str) -> String {
        match self {
            Self::Run(command) => command.clone(),
            Self::RunAndCommit(command) => {
                format!("{command}, and commit it: findings end once the revision compared with has it")
            }
            Self::Add(lines) => format!("add to {config}, with the reason:\n{lines}"),
            Self::Set(lines) => format!("write into {config}:\n{lines}"),
        }
    }
}

/// How to accept a finding about a struct of one target.
pub(super) fn accept(
    config: &Config,
    target: &LoadedTarget<'_>,
    subject: &CheckedStruct<'_>,
    finding: &Finding,
) -> Acceptance {
    if finding.rule == Rule::OverBudget {
        return raise_budget(subject);
    }
    let is_compared = finding.rule.needs_before() || finding.rule == Rule::FalseSharingPair;
    let stored = target.before.as_ref().filter(|before| is_compared && before.is_baseline);
    let command = stored.zip(target.config.against.as_ref()).map(|(_, origin)| match origin {
        FileOrigin::File(path) => Acceptance::Run(baseline_command(config, target, path)),
        FileOrigin::Git { folder, file, .. } => {
            let path = if folder == Path::new(".") { Path::new(file).to_owned() } else { folder.join(file) };
            Acceptance::RunAndCommit(baseline_command(config, target, &path))
        }
    });
    let only = (config.targets.len() > 1).then_some(target.config.name.as_str());
    command.unwrap_or_else(|| suppress(&subject.now.name, finding, only))
}

/// The lines that suppress a finding; of one target only, if that is named.
pub(super) fn suppress(ty: &str, finding: &Finding, target: Option<&str>) -> Acceptance {
    let mut lines = vec![
        "[[suppress]]".to_owned(),
        format!("rule = {}", toml_string(finding.rule.id())),
        format!("type = {}", toml_string(ty)),
    ];
    lines.extend(finding.member.iter().map(|member| format!("member = {}", toml_string(member))));
    lines.extend(target.map(|target| format!("target = {}", toml_string(target))));
    lines.push(format!("reason = {}", toml_string(REASON)));
    Acceptance::Add(lines.join("\n"))
}

/// The budget that the struct fits.
fn raise_budget(subject: &CheckedStruct<'_>) -> Acceptance {
    let (now, budget) = (subject.now, subject.budget);
    let rows =
        [("size", budget.size, now.size), ("cachelines", budget.cachelines, now.cachelines(subject.line))];
    let mut lines = vec![format!("[budget.{}]", toml_key(&now.name))];
    let bounds = rows.into_iter().filter_map(|(key, may, is)| Some((key, may?.max(is))));
    lines.extend(bounds.map(|(key, bound)| format!("{key} = {bound}")));
    Acceptance::Set(lines.join("\n"))
}

/// The command that writes a target's layouts to a file, all that are checked.
fn baseline_command(config: &Config, target: &LoadedTarget<'_>, path: &Path) -> String {
    let mut words = vec!["fieldline".to_owned(), "baseline".to_owned(), "--vmlinux".to_owned()];
    words.push(target.config.file.display().to_string());
    // One without a hit would be an error.
    let is_there =
        |pattern: &&String| target.now.layouts.iter().any(|layout| matches_type(pattern, &layout.name));
    words.extend(config.types.iter().filter(is_there).cloned());
    if target.now.format == DebugFormat::Btf {
        words.extend(["--debug-format", "btf"].map(str::to_owned));
    }
    words.push("-o".to_owned());
    words.push(path.display().to_string());
    let quoted = words.iter().map(|word| shlex::try_quote(word).unwrap_or(word.into()).into_owned());
    printable(&quoted.collect::<Vec<String>>().join(" ")).into_owned()
}

/// A basic string of TOML, whose escapes include those of JSON.
pub(crate) fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A key of TOML, bare if it may be.
fn toml_key(text: &str) -> String {
    let is_bare = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if !text.is_empty() && text.chars().all(is_bare) { text.to_owned() } else { toml_string(text) }
}
