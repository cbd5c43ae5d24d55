//! Known keys of fieldline.toml. A mistyped key would be a rule that never finds anything.

use anyhow::{Result, anyhow, bail};
use fieldline_check::{FindingLevel, Rule};
use fieldline_tree::pins::{line_of, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const TOP: [&str; 7] = ["types", "profile", "target", "rules", "pin", "budget", "suppress"];
const TARGET: [&str; 7] = ["file", "arch", "config", "line", "against", "debug-format", "optional"];
const LEVELS: [FindingLevel; 3] = [FindingLevel::Off, FindingLevel::Warn, FindingLevel::Error];
const SUPPRESS: [&str; 6] = ["rule", "type", "member", "target", "reason", "until"];

/// Refuses text that is no TOML, and unknown keys, with the nearest known one.
pub(super) fn check(path: &str, text: &str) -> Result<()> {
    let reader = KeyChecker { path, text };
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        anyhow!("{path}:{}: {}", line_of(text, at), error.message())
    })?;
    let top = document.get_ref();
    reader.check_keys(top, &TOP, "key")?;
    for (key, value) in top {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("target", DeValue::Table(table)) => reader.check_tables(table, &TARGET, "key of a target")?,
            ("pin", DeValue::Table(table)) => reader.check_tables(table, &["first", "last"], "pin")?,
            ("budget", DeValue::Table(table)) => {
                reader.check_tables(table, &["size", "cachelines"], "budget")?
            }
            ("rules", DeValue::Table(table)) => {
                reader.check_keys(table, &Rule::ALL.map(Rule::id), "rule")?;
                reader.check_levels(table)?;
                reader.check_tables(table, &["level", "allow", "adjacent-lines"], "key of a rule")?;
            }
            ("suppress", DeValue::Array(list)) => {
                for value in list.iter() {
                    if let DeValue::Table(table) = value.get_ref() {
                        reader.check_keys(table, &SUPPRESS, "key of a suppression")?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

struct KeyChecker<'r> {
    path: &'r str,
    text: &'r str,
}

impl KeyChecker<'_> {
    fn check_keys(&self, table: &DeTable<'_>, keys: &[&str], what: &str) -> Result<()> {
        // The parser sorts keys; the first in the file is named.
        let unknown = table.keys().filter(|key| !keys.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let (name, line) = (key.get_ref(), line_of(self.text, key.span().start));
        bail!("{}:{line}: there is no {what} '{name}'{}", self.path, nearest(name, keys.iter().copied()))
    }

    /// Checks the levels of rules, as such or in a rule's table.
    fn check_levels(&self, table: &DeTable<'_>) -> Result<()> {
        for (rule, value) in table {
            let level = match value.get_ref() {
                DeValue::Table(inner) => inner.iter().find(|(key, _)| key.get_ref() == "level"),
                _ => Some((rule, value)),
            };
            let Some((_, level)) = level else { continue };
            let name = level.get_ref().as_str().unwrap_or_default();
            let levels = LEVELS.map(FindingLevel::word);
            if !levels.contains(&name) {
                let line = line_of(self.text, level.span().start);
                let (given, near) = (self.text.get(level.span()).unwrap_or_default(), nearest(name, levels));
                let choices = levels.map(|level| format!("\"{level}\"")).join(", ");
                bail!("{}:{line}: {} = {given}: a level is {choices}{near}", self.path, rule.get_ref());
            }
        }
        Ok(())
    }

    /// Checks the tables in a table.
    fn check_tables(&self, table: &DeTable<'_>, keys: &[&str], what: &str) -> Result<()> {
        let mut values: Vec<&Spanned<DeValue<'_>>> = table.values().collect();
        values.sort_by_key(|value| value.span().start);
        for value in values {
            if let DeValue::Table(inner) = value.get_ref() {
                self.check_keys(inner, keys, what)?;
            }
        }
        Ok(())
    }
}
