//! Facts about the machine that ran: from `uname -a`, `lscpu`, /proc and /sys as they are copied, from the heads that
//! perf prints, from stress-ng's YAML, and from lines `governor: performance`.

use crate::readers::{Line, lines, number};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A fact's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentKey {
    /// The processor's model.
    Cpu,
    /// How many CPUs are online.
    Cpus,
    /// The kind of processor.
    Architecture,
    /// The machine's name.
    Host,
    /// The kernel's release.
    Kernel,
    /// The kernel's arguments, but for the image and the root.
    Arguments,
    /// The frequency governor.
    Governor,
    /// Whether the processor may run faster than its nominal frequency.
    Boost,
    /// The processor's microcode.
    Microcode,
}

impl EnvironmentKey {
    /// All names, as lines and tables have them.
    const NAMES: [(&'static str, Self); 9] = [
        ("cpu", Self::Cpu),
        ("cpus", Self::Cpus),
        ("architecture", Self::Architecture),
        ("host", Self::Host),
        ("kernel", Self::Kernel),
        ("arguments", Self::Arguments),
        ("governor", Self::Governor),
        ("boost", Self::Boost),
        ("microcode", Self::Microcode),
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, key)| *key == self).map_or("", |(name, _)| name)
    }

    /// Whether runs that differ in it can't be compared: they measured something else than the change.
    #[must_use]
    pub fn is_void_when_different(self) -> bool {
        !matches!(self, Self::Kernel | Self::Host | Self::Microcode)
    }
}

/// Facts, each with all values that were found: runs of one variant may contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EnvironmentFacts {
    values: BTreeMap<EnvironmentKey, BTreeSet<String>>,
}

/// A fact in which variants differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentDifference {
    /// The fact.
    pub key: EnvironmentKey,
    /// Its values by variant, in words.
    pub values: Vec<String>,
    /// Whether it voids the comparison.
    pub is_void: bool,
}

impl EnvironmentFacts {
    /// Facts that a text states; none in most.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let lines = lines(text);
        let mut facts = Self::default();
        if facts.read_named(&lines) || facts.read_whole(text.trim()) {
            return facts;
        }
        for line in &lines {
            facts.read_line(line);
        }
        facts.read_processors(&lines);
        facts
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds a fact.
    pub fn add(&mut self, key: EnvironmentKey, value: &str) {
        let value = match key {
            EnvironmentKey::Arguments => comparable_arguments(value),
            _ => value.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        if !value.is_empty() {
            self.values.entry(key).or_default().insert(value);
        }
    }

    /// Adds all facts of another.
    pub fn merge(&mut self, other: Self) {
        for (key, values) in other.values {
            self.values.entry(key).or_default().extend(values);
        }
    }

    /// A fact in words; several values with commas between.
    #[must_use]
    pub fn value(&self, key: EnvironmentKey) -> Option<String> {
        let values = self.values.get(&key)?;
        Some(values.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
    }

    /// All facts in words, by name.
    pub fn iter(&self) -> impl Iterator<Item = (EnvironmentKey, String)> + '_ {
        self.values.keys().filter_map(|key| Some((*key, self.value(*key)?)))
    }

    /// Lines `name: value`, all of names that are known here.
    fn read_named(&mut self, lines: &[Line<'_>]) -> bool {
        let named = |line: &Line<'_>| {
            let (name, value) = line.text.split_once(':').or_else(|| line.text.split_once('='))?;
            let name = name.trim().to_ascii_lowercase();
            let (_, key) = EnvironmentKey::NAMES.iter().find(|(known, _)| *known == name)?;
            Some((*key, value.trim().to_owned()))
        };
        let full = lines.iter().filter(|line| !line.text.trim().is_empty());
        let Some(found) = full.map(named).collect::<Option<Vec<_>>>() else { return false };
        found.iter().for_each(|(key, value)| self.add(*key, value));
        !found.is_empty()
    }

    /// Files of /proc and /sys that are one value.
    fn read_whole(&mut self, text: &str) -> bool {
        let governors = ["performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"];
        let words: BTreeSet<&str> = text.split_whitespace().collect();
        if !words.is_empty() && words.iter().all(|word| governors.contains(word)) {
            words.iter().for_each(|word| self.add(EnvironmentKey::Governor, word));
            return true;
        }
        let is_arguments =
            text.lines().count() == 1 && (text.starts_with("BOOT_IMAGE=") || text.contains(" root="));
        if is_arguments {
            self.add(EnvironmentKey::Arguments, text);
        }
        is_arguments
    }

    fn read_line(&mut self, line: &Line<'_>) {
        let text = line.text.trim();
        let words = line.words();
        match words.as_slice() {
            // `uname -a`
            ["Linux", host, kernel, .., "GNU/Linux"] => {
                self.add(EnvironmentKey::Host, host);
                self.add(EnvironmentKey::Kernel, kernel);
            }
            // /proc/version
            ["Linux", "version", kernel, rest @ ..]
                if rest.first().is_some_and(|word| word.starts_with('(')) =>
            {
                self.add(EnvironmentKey::Kernel, kernel);
            }
            _ => {}
        }
        // The heads of `perf report`, `perf script` and `perf stat`, and stress-ng's YAML.
        let known = [
            ("# hostname :", EnvironmentKey::Host),
            ("# os release :", EnvironmentKey::Kernel),
            ("# arch :", EnvironmentKey::Architecture),
            ("# cpudesc :", EnvironmentKey::Cpu),
            ("# nrcpus online :", EnvironmentKey::Cpus),
        ];
        for (name, key) in known {
            text.strip_prefix(name).into_iter().for_each(|value| self.add(key, value));
        }
    }

    /// Groups of lines that only together are what they seem: of `lscpu`, /proc/cpuinfo, and stress-ng's YAML.
    fn read_processors(&mut self, lines: &[Line<'_>]) {
        let field = |name: &str| {
            let value = |line: &Line<'_>| {
                let (found, value) = line.text.split_once(':')?;
                (found.trim() == name).then(|| value.trim().trim_matches('\'').to_owned())
            };
            lines.iter().filter_map(value).collect::<Vec<String>>()
        };
        let mut take = |name: &str, key: EnvironmentKey| {
            field(name).iter().for_each(|value| self.add(key, value));
        };
        if !field("Architecture").is_empty() && !field("CPU(s)").is_empty() {
            take("Architecture", EnvironmentKey::Architecture);
            take("CPU(s)", EnvironmentKey::Cpus);
            take("Model name", EnvironmentKey::Cpu);
        }
        if !field("stress-ng-version").is_empty() {
            take("nodename", EnvironmentKey::Host);
            take("release", EnvironmentKey::Kernel);
            take("machine", EnvironmentKey::Architecture);
            take("cpus-online", EnvironmentKey::Cpus);
        }
        let processors = field("processor").iter().filter(|value| number(value).is_some()).count();
        if processors > 0 && (!field("model name").is_empty() || !field("CPU implementer").is_empty()) {
            take("model name", EnvironmentKey::Cpu);
            take("microcode", EnvironmentKey::Microcode);
            self.add(EnvironmentKey::Cpus, &processors.to_string());
        }
    }
}

/// Arguments without those that name the image, its disks or their identity.
fn comparable_arguments(text: &str) -> String {
    let is_own =
        |word: &&str| !["BOOT_IMAGE=", "initrd=", "root=", "resume="].iter().any(|own| word.starts_with(own));
    text.split_whitespace().filter(is_own).collect::<Vec<_>>().join(" ")
}

/// Facts in which variants differ, or one contradicts itself. What a variant does not state is no difference.
#[must_use]
pub fn differences(variants: &[EnvironmentFacts]) -> Vec<EnvironmentDifference> {
    let keys = EnvironmentKey::NAMES.iter().map(|(_, key)| *key);
    let difference = |key: EnvironmentKey| {
        let values: Vec<Option<String>> = variants.iter().map(|facts| facts.value(key)).collect();
        let stated: BTreeSet<&String> = values.iter().flatten().collect();
        let is_mixed =
            variants.iter().any(|facts| facts.values.get(&key).is_some_and(|values| values.len() > 1));
        (stated.len() > 1 || is_mixed).then(|| EnvironmentDifference {
            key,
            values: values
                .iter()
                .map(|value| value.clone().unwrap_or_else(|| "not stated".to_owned()))
                .collect(),
            is_void: key.is_void_when_different() || key == EnvironmentKey::Kernel && is_mixed,
        })
    };
    keys.filter_map(difference).collect()
}
