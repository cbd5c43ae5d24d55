//! A profile as rows of the tables.

mod accesses;

use crate::error::FileProblem;
use crate::members;
use crate::row_sums::Tables;
use crate::schema::{Table, host_group};
use crate::values::NONE;
use fieldline_access::access::{AccessProfile, Recording, TypeProfile, Window};
use fieldline_files::printable::printable;
use std::collections::BTreeMap;

/// Host of a profile whose recordings name none.
const UNKNOWN_HOST: &str = "unknown";

/// Facts that a profile does not say itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileFacts {
    /// Host, instead of the one recorded.
    pub host: Option<String>,
    /// Day, such as 2026-05-01.
    pub day: Option<String>,
    /// Labels by name.
    pub labels: BTreeMap<String, String>,
}

/// Why a profile can't become rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// Its recordings are of several hosts, but an access does not say which.
    #[error(
        "recordings of several hosts ({0}, {1}): make a profile of each, or name one by --label host=NAME"
    )]
    Hosts(String, String),
    /// Its recordings are of several builds.
    #[error("recordings of several builds ({0}, {1}): make a profile of each")]
    Builds(String, String),
    /// The name of a label stands for something else.
    #[error("label {0}: that name is taken; host and day may be given, others mean themselves")]
    Label(String),
}

/// Keys that all rows of a profile share.
struct Common {
    host: u32,
    day: u32,
    labels: u32,
    host_group: u32,
    build_id: u32,
}

/// A profile as tables, in its order.
///
/// # Errors
/// If it is of several hosts or builds.
pub fn to_tables(
    profile: &AccessProfile,
    facts: &ProfileFacts,
) -> Result<Result<Tables, RowsError>, FileProblem> {
    let mut tables = Tables::default();
    let common = match common_keys(profile, facts, &mut tables) {
        Ok(common) => common,
        Err(error) => return Ok(Err(error)),
    };
    let functions = function_names(&profile.functions);
    let mut rows = ProfileRows { tables, common, profile, functions };
    rows.add_recordings()?;
    rows.add_coverage()?;
    rows.add_functions()?;
    for type_profile in &profile.types {
        rows.add_layout(type_profile)?;
        rows.add_accesses(type_profile)?;
    }
    let names = word_names(&profile.types);
    for window in &profile.windows {
        rows.add_window(window, &names)?;
    }
    Ok(Ok(rows.tables))
}

fn only<'r>(
    recordings: &'r [Recording],
    fact: impl Fn(&'r Recording) -> Option<&'r str>,
) -> Result<Option<&'r str>, (String, String)> {
    let mut all = recordings.iter().map(fact);
    let first = all.next().flatten();
    let other = all.find(|other| *other != first);
    let name = |name: Option<&str>| name.unwrap_or("none").to_owned();
    other.map_or(Ok(first), |other| Err((name(first), name(other))))
}

fn common_keys(
    profile: &AccessProfile,
    facts: &ProfileFacts,
    tables: &mut Tables,
) -> Result<Common, RowsError> {
    let taken = ["host", "day", "build", "kernel"];
    if let Some(name) = facts.labels.keys().find(|name| taken.contains(&name.as_str())) {
        return Err(RowsError::Label(name.clone()));
    }
    let host = match &facts.host {
        Some(host) => host.as_str(),
        None => only(&profile.recordings, |recording| recording.host.as_deref())
            .map_err(|(first, second)| RowsError::Hosts(first, second))?
            .unwrap_or(UNKNOWN_HOST),
    };
    let build = only(&profile.recordings, |recording| recording.build_id.as_deref())
        .map_err(|(first, second)| RowsError::Builds(first, second))?;
    let labels = serde_json::to_string(&facts.labels).unwrap_or_default();
    let values = &mut tables.values;
    Ok(Common {
        host: values.text(&printable(host)),
        day: values.maybe_text(facts.day.as_deref().map(printable).as_deref()),
        labels: if facts.labels.is_empty() { NONE } else { values.text(&printable(&labels)) },
        host_group: values.number(host_group(host)),
        build_id: values.maybe_text(build),
    })
}

/// Names of types in windows. If several types have one name, their fingerprint follows behind `@`.
fn word_names(types: &[TypeProfile]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    types.iter().for_each(|known| *counts.entry(known.name.as_str()).or_default() += 1);
    let name = |known: &TypeProfile| match counts.get(known.name.as_str()) {
        Some(1) => known.name.clone(),
        _ => format!("{}@{:016x}", known.name, known.fingerprint),
    };
    types.iter().map(name).collect()
}

/// Names of functions. Static functions may share one: from the second on, `@` and a number follow.
fn function_names(names: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let name = |name: &String| {
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name.clone() } else { format!("{name}@{count}") }
    };
    names.iter().map(name).collect()
}

/// Rows of a profile in the making.
struct ProfileRows<'p> {
    tables: Tables,
    common: Common,
    profile: &'p AccessProfile,
    /// Names of functions that tell them apart.
    functions: Vec<String>,
}

impl ProfileRows<'_> {
    fn text(&mut self, text: &str) -> u32 {
        self.tables.values.text(text)
    }

    fn add_recordings(&mut self) -> Result<(), FileProblem> {
        let spots = self.profile.blind_spots.join("\n");
        for recording in &self.profile.recordings {
            let Common { host, day, labels, build_id, .. } = self.common;
            let values = &mut self.tables.values;
            let others = recording.other_build_ids.join(" ");
            let key = [
                host,
                day,
                labels,
                build_id,
                values.maybe_text(Some(others.as_str()).filter(|others| !others.is_empty())),
                values.maybe_text(recording.release.as_deref()),
                values.text(&recording.file),
                values.maybe_text(recording.command.as_deref()),
                values.maybe_number(recording.cacheline.map(|bytes| bytes as i64)),
                values.maybe_text(Some(spots.as_str()).filter(|spots| !spots.is_empty())),
            ];
            let Recording { samples, lost, callchains, branch_stacks, straight_line_ranges: ranges, .. } =
                *recording;
            let counts = [samples, lost, callchains, branch_stacks, ranges].map(|count| count as i64);
            self.tables.add(Table::Recordings, &key, &counts)?;
        }
        Ok(())
    }

    fn add_coverage(&mut self) -> Result<(), FileProblem> {
        let Common { host, day, labels, host_group, build_id } = self.common;
        for event in &self.profile.coverage {
            let name = self.text(&event.event);
            let reasons = event.unattributed.iter().map(|(reason, count)| (Some(reason.as_str()), *count));
            for (reason, count) in std::iter::once((None, event.attributed)).chain(reasons) {
                let reason = self.tables.values.maybe_text(reason);
                let key = [host, day, labels, NONE, NONE, build_id, name, reason];
                self.tables.add(Table::Coverage, &key, &[count.samples as i64, count.period as i64])?;
            }
        }
        for (block, samples) in self.profile.blocks.iter().enumerate() {
            let block = self.tables.values.number(block as i64);
            let key = [host, day, labels, host_group, block, build_id, NONE, NONE];
            self.tables.add(Table::Coverage, &key, &[*samples as i64, 0])?;
        }
        Ok(())
    }

    fn add_layout(&mut self, known: &TypeProfile) -> Result<(), FileProblem> {
        let line = self.profile.recordings.iter().find_map(|recording| recording.cacheline);
        let text = known.layout.as_ref().and_then(|layout| serde_json::to_string(layout).ok());
        let values = &mut self.tables.values;
        let shared = [
            self.common.build_id,
            values.text(&known.name),
            values.text(&format!("{:016x}", known.fingerprint)),
            values.number(known.size as i64),
            values.maybe_number(line.map(|line| line as i64)),
        ];
        let [build, name, fingerprint, type_size, line] = shared;
        let (zero, layout) = (values.number(0), values.maybe_text(text.as_deref()));
        let whole = [build, name, fingerprint, type_size, line, NONE, NONE, zero, type_size, layout];
        self.tables.add(Table::Layouts, &whole, &[1])?;
        for member in known.layout.iter().flat_map(members::list) {
            let values = &mut self.tables.values;
            let (path, member_type) = (values.text(&member.path), values.text(&member.type_name));
            let (offset, size) = (values.number(member.offset as i64), values.number(member.size as i64));
            let key = [build, name, fingerprint, type_size, line, path, member_type, offset, size, NONE];
            self.tables.add(Table::Layouts, &key, &[1])?;
        }
        Ok(())
    }

    fn add_window(&mut self, window: &Window, names: &[String]) -> Result<(), FileProblem> {
        let mut words = Vec::with_capacity(window.entries.len());
        for (type_index, function) in &window.entries {
            let name = usize::try_from(*type_index).ok().and_then(|index| names.get(index));
            let function = self.functions.get(*function as usize);
            words.push(format!(
                "{}\t{}",
                name.map_or("", String::as_str),
                function.map_or("", String::as_str)
            ));
        }
        let words = self.text(&words.join("\n"));
        let Common { host, day, labels, host_group, build_id } = self.common;
        let mut rest = window.count;
        let add = |tables: &mut Tables, block, count: u64| {
            let key = [host, day, labels, host_group, block, build_id, words];
            tables.add(Table::Windows, &key, &[count as i64])
        };
        for (block, count) in &window.blocks {
            let block = self.tables.values.number(i64::from(*block));
            add(&mut self.tables, block, *count)?;
            rest = rest.saturating_sub(*count);
        }
        if rest > 0 {
            add(&mut self.tables, NONE, rest)?;
        }
        Ok(())
    }
}
