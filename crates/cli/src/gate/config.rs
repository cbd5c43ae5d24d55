//! fieldline.toml as a value.

use super::date::{self, is_date};
use super::keys;
use crate::input::{check_line_size, origin::FileOrigin};
use anyhow::{Context, Result, anyhow, bail};
use fieldline_check::rules::{PinnedEnds, SizeBudget};
use fieldline_check::{FindingLevel, Rule, Settings};
use fieldline_debuginfo::types::DebugFormat;
use fieldline_files::printable::printable;
use fieldline_tree::pins::{line_of, nearest};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) path: String,
    /// Types by name or glob.
    pub(crate) types: Vec<String>,
    pub(crate) profile: Option<PathBuf>,
    /// In order of their names.
    pub(crate) targets: Vec<Target>,
    pub(crate) settings: Settings,
    /// By struct.
    pub(crate) ends: BTreeMap<String, PinnedEnds>,
    pub(crate) budgets: BTreeMap<String, SizeBudget>,
    pub(crate) suppressions: Vec<Suppression>,
}

/// A file to check.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// The user's name for its machine and configuration.
    pub(crate) label: String,
    /// Bytes of a cacheline, if the machine's are not meant.
    pub(crate) line: Option<u64>,
    pub(crate) against: Option<FileOrigin>,
    pub(crate) format: Option<DebugFormat>,
    /// Types that may be absent.
    pub(crate) optional: Vec<String>,
}

/// A finding that is allowed to stay, with the reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suppression {
    pub(crate) rule: Rule,
    /// A name or glob.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    pub(crate) member: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) reason: String,
    pub(crate) until: Option<String>,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfig {
    types: Vec<String>,
    profile: Option<PathBuf>,
    #[serde(default)]
    target: BTreeMap<String, RawTarget>,
    #[serde(default)]
    rules: BTreeMap<Rule, RawRule>,
    #[serde(default)]
    pin: BTreeMap<String, PinnedEnds>,
    #[serde(default)]
    budget: BTreeMap<String, SizeBudget>,
    #[serde(default)]
    suppress: Vec<Suppression>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawTarget {
    file: PathBuf,
    arch: Option<String>,
    config: Option<String>,
    line: Option<u64>,
    against: Option<String>,
    debug_format: Option<RawFormat>,
    #[serde(default)]
    optional: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawFormat {
    Dwarf,
    Btf,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawRule {
    Level(FindingLevel),
    #[serde(rename_all = "kebab-case")]
    Options {
        level: Option<FindingLevel>,
        allow: Option<u64>,
        adjacent_lines: Option<bool>,
    },
}

/// Reads the file. Paths in it are relative to its folder. Suppressions may have expired by `today`, the system
/// clock's day if not given.
pub(crate) fn read(path: &Path, today: Option<&str>) -> Result<Config> {
    let today = &today.map_or_else(date::today, str::to_owned);
    if !is_date(today) {
        bail!("--today {today}: no date such as 2026-01-31");
    }
    let name = path.display().to_string();
    let text = fieldline_files::read_to_string(path).with_context(|| match path.exists() {
        true => name.clone(),
        false => format!("{name}: name the configuration (--config FILE), or make one with fieldline init"),
    })?;
    parse(&name, &text, path.parent().unwrap_or(Path::new("")), today)
}

fn parse(path: &str, text: &str, folder: &Path, today: &str) -> Result<Config> {
    keys::check(path, text)?;
    let raw: RawConfig = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        anyhow!("{path}:{line}: {}", error.message())
    })?;
    check_effective(path, &raw, today)?;
    let targets = raw.target.into_iter().map(|(name, target)| target.into_target(&name, folder));
    Ok(Config {
        path: path.to_owned(),
        types: raw.types,
        profile: raw.profile.map(|profile| folder.join(profile)),
        targets: targets.collect::<Result<_>>().with_context(|| path.to_owned())?,
        settings: settings(raw.rules).with_context(|| path.to_owned())?,
        ends: raw.pin,
        budgets: raw.budget,
        suppressions: raw.suppress.into_iter().map(Suppression::on_one_line).collect(),
    })
}

/// Refuses a configuration that checks less than it seems to.
fn check_effective(path: &str, raw: &RawConfig, today: &str) -> Result<()> {
    if raw.types.is_empty() {
        bail!("{path}: no types to check");
    }
    if raw.target.is_empty() {
        bail!("{path}: no target: write [target.NAME] with file = \"vmlinux\"");
    }
    for suppression in &raw.suppress {
        suppression.check(&raw.target, today).with_context(|| path.to_owned())?;
    }
    if let Some((name, _)) = raw.pin.iter().find(|(_, ends)| **ends == PinnedEnds::default()) {
        bail!("{path}: [pin.{name}] has neither first nor last");
    }
    if let Some((name, _)) = raw.budget.iter().find(|(_, budget)| **budget == SizeBudget::default()) {
        bail!("{path}: [budget.{name}] has neither size nor cachelines");
    }
    Ok(())
}

fn settings(rules: BTreeMap<Rule, RawRule>) -> Result<Settings> {
    let mut settings = Settings::default();
    for (rule, value) in rules {
        let (level, allow, adjacent) = match value {
            RawRule::Level(level) => (Some(level), None, None),
            RawRule::Options { level, allow, adjacent_lines } => (level, allow, adjacent_lines),
        };
        if adjacent.is_some() && rule != Rule::FalseSharingPair {
            bail!("rule {} knows no adjacent-lines", rule.id());
        }
        settings.adjacent_lines |= adjacent == Some(true);
        if allow.is_some() && rule.unit().is_none() {
            bail!("rule {} counts nothing, so nothing of it can be allowed", rule.id());
        }
        settings.levels.extend(level.map(|level| (rule, level)));
        settings.allowed.extend(allow.map(|allow| (rule, allow)));
    }
    if Rule::ALL.into_iter().all(|rule| settings.level(rule) == FindingLevel::Off) {
        bail!("every rule is off, so nothing would be checked");
    }
    Ok(settings)
}

impl RawTarget {
    fn into_target(self, name: &str, folder: &Path) -> Result<Target> {
        if let Some(line) = self.line {
            check_line_size(line).map_err(|why| anyhow!("target {name}: line: {why}"))?;
        }
        let place = |against: String| FileOrigin::parse(&against, folder);
        let against = self.against.map(place).transpose().with_context(|| format!("target {name}"))?;
        let label = [self.arch, self.config].into_iter().flatten().collect::<Vec<_>>().join(", ");
        Ok(Target {
            name: printable(name).into_owned(),
            file: folder.join(self.file),
            label: printable(&label).into_owned(),
            line: self.line,
            against,
            format: self.debug_format.map(|format| match format {
                RawFormat::Dwarf => DebugFormat::Dwarf,
                RawFormat::Btf => DebugFormat::Btf,
            }),
            optional: self.optional,
        })
    }
}

impl Suppression {
    /// With a reason that reports can put into a line.
    fn on_one_line(self) -> Self {
        let reason = self.reason.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        Self { reason: printable(reason.trim()).into_owned(), ..self }
    }

    fn check(&self, targets: &BTreeMap<String, RawTarget>, today: &str) -> Result<()> {
        let what = format!("suppression of {} in {}", self.rule.id(), self.ty);
        if self.reason.trim().is_empty() {
            bail!("{what}: no reason is given");
        }
        match self.until.as_deref() {
            Some(until) if !is_date(until) => {
                bail!("{what}: until = \"{until}\" is no date such as \"2027-01-31\"")
            }
            Some(until) if until < today => {
                bail!("{what}: expired on {until} (reason given: {})", self.reason)
            }
            _ => {}
        }
        match self.target.as_ref().filter(|name| !targets.contains_key(*name)) {
            Some(name) => {
                let near = nearest(name, targets.keys().map(String::as_str));
                bail!("{what}: there is no target '{name}'{near}")
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "types = [\"a\", \"b_*\"]\n[target.x86]\nfile = \"vmlinux\"\n[rules]\nsize-grew = { allow = 8 }\n\
        new-hole = \"off\"\n[[suppress]]\nrule = \"slab-class\"\ntype = \"a\"\nreason = \"measured\"\nuntil = \"2027-01-01\"\n";

    fn error(text: &str) -> String {
        format!("{:#}", parse("f.toml", text, Path::new(""), "2026-01-01").unwrap_err())
    }

    #[test]
    fn a_config_is_read() {
        let config = parse("f.toml", GOOD, Path::new("sub"), "2026-12-31").unwrap();
        assert_eq!(config.targets[0].file, Path::new("sub/vmlinux"));
        assert_eq!(config.settings.level(Rule::NewHole), FindingLevel::Off);
        assert_eq!(config.settings.level(Rule::SizeGrew), FindingLevel::Warn);
        assert_eq!(config.settings.allowed(Rule::SizeGrew), 8);
        assert_eq!(config.suppressions.len(), 1);
        let pairs = GOOD.replace("new-hole = \"off\"", "false-sharing-pair = { adjacent-lines = true }");
        assert!(parse("f.toml", &pairs, Path::new(""), "2026-12-31").unwrap().settings.adjacent_lines);
        assert!(
            error(&GOOD.replace("allow = 8", "adjacent-lines = true")).contains("knows no adjacent-lines")
        );
    }

    #[test]
    fn what_means_nothing_is_refused_with_what_is_near() {
        let with = |from: &str, to: &str| error(&GOOD.replace(from, to));
        assert_eq!(
            with("new-hole", "new-holes"),
            "f.toml:6: there is no rule 'new-holes'; did you mean 'new-hole'?"
        );
        assert!(
            with("file =", "fil =")
                .contains("f.toml:3: there is no key of a target 'fil'; did you mean 'file'?")
        );
        assert!(with("types", "typs").contains("f.toml:1: there is no key 'typs'; did you mean 'types'?"));
        assert!(with("allow", "alow").contains("'alow'; did you mean 'allow'?"));
        assert!(with("reason", "raison").contains("'raison'; did you mean 'reason'?"));
        assert!(with("\"off\"", "\"of\"").starts_with("f.toml:6:"));
        assert!(
            with("new-hole = \"off\"", "slab-class = { allow = 1 }").contains("nothing of it can be allowed")
        );
        assert!(with("[target.x86]\nfile = \"vmlinux\"\n", "").contains("no target"));
    }

    #[test]
    fn suppressions_need_a_reason_and_expire() {
        let with = |from: &str, to: &str| error(&GOOD.replace(from, to));
        assert!(with("2027-01-01", "2025-12-31").contains("expired on 2025-12-31 (reason given: measured)"));
        assert!(with("2027-01-01", "soon").contains("no date"));
        assert!(with("measured", " ").contains("no reason"));
        let elsewhere = with("until = \"2027-01-01\"", "target = \"x68\"");
        assert!(elsewhere.contains("there is no target 'x68'; did you mean 'x86'?"), "{elsewhere}");
    }

    #[test]
    fn a_check_of_nothing_is_refused() {
        let off: Vec<String> = Rule::ALL.iter().map(|rule| format!("{} = \"off\"", rule.id())).collect();
        let text =
            format!("types = [\"a\"]\n[target.x86]\nfile = \"vmlinux\"\n[rules]\n{}\n", off.join("\n"));
        assert!(error(&text).contains("every rule is off"));
        assert!(error(&format!("{GOOD}[pin.a]\n")).contains("[pin.a] has neither first nor last"));
        assert!(error(&format!("{GOOD}[budget.a]\n")).contains("[budget.a] has neither size nor cachelines"));
        assert!(error("types = []\n[target.x86]\nfile = \"vmlinux\"\n").contains("no types"));
    }
}
