//! PMUs as sysfs shows them: `Documentation/ABI/testing/sysfs-bus-event_source-devices-*` of the kernel.

use crate::machine::root::Root;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Where the kernel lists them.
const DEVICES: &str = "sys/bus/event_source/devices";
/// Letters of a capability's value that are kept.
const VALUE_LIMIT: usize = 256;

/// A PMU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pmu {
    /// Its name.
    pub name: String,
    /// The number that event attributes have as type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<u32>,
    /// Names of its events (files of `events`); `None` if they were not recorded.
    #[serde(skip)]
    pub events: Option<BTreeSet<String>>,
    /// Names of terms that its events take (files of `format`); `None` if they were not recorded.
    #[serde(skip)]
    pub terms: Option<BTreeSet<String>>,
    /// Capabilities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub caps: BTreeMap<String, String>,
    /// The CPUs it is for, where it is not for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
}

impl Pmu {
    /// Whether it has an event, if known.
    #[must_use]
    pub fn has_event(&self, name: &str) -> Option<bool> {
        self.events.as_ref().map(|events| events.contains(name))
    }

    /// Whether its events take a term, if known.
    #[must_use]
    pub fn has_term(&self, name: &str) -> Option<bool> {
        self.terms.as_ref().map(|terms| terms.contains(name))
    }

    /// The value of a capability.
    #[must_use]
    pub fn cap(&self, name: &str) -> Option<&str> {
        self.caps.get(name).map(String::as_str)
    }

    /// It counts what cores execute: perf takes `cpu`, and whatever has a file `cpus`, for such
    /// (`is_pmu_core` in `tools/perf/util/pmu.c`). A recording lists no files, so names decide there.
    #[must_use]
    pub fn is_core(&self) -> bool {
        let named = ["cpu", "cpu_core", "cpu_atom", "cpu_lowpower", "cpum_cf"].contains(&self.name.as_str());
        named || self.name.starts_with("armv") || self.name.contains("_pmuv3")
    }

    fn read(root: &Root, name: String) -> Self {
        let below = |file: &str| format!("{DEVICES}/{name}/{file}");
        let names = |file: &str| Some(root.names(&below(file)).into_iter().collect());
        let cap = |cap: String| {
            let value = root.text(&below(&format!("caps/{cap}")))?;
            Some((cap, value.chars().take(VALUE_LIMIT).collect()))
        };
        Self {
            kind: root.text(&below("type")).and_then(|kind| kind.parse().ok()),
            // Beside each event may be files for its unit and scale.
            events: names("events"),
            terms: names("format"),
            caps: root.names(&below("caps")).into_iter().filter_map(cap).collect(),
            cpus: root.text(&below("cpus")).filter(|cpus| !cpus.is_empty()),
            name,
        }
    }
}

/// All PMUs, by name; none if the kernel has no folder of them.
pub(super) fn read(root: &Root) -> Option<Vec<Pmu>> {
    root.exists(DEVICES).then(|| root.names(DEVICES).into_iter().map(|name| Pmu::read(root, name)).collect())
}
