//! Hosts whose accesses differ from those of the others, and days whose accesses differ from those before.
//!
//! Two counts by member are compared by their total variation distance (half of the sum of differences of
//! shares), and by Pearson's chi-square of homogeneity. Samples come in visits, so that they spread more than
//! independent ones: chi-squares are divided by their median per degree of freedom (genomic control, Devlin and
//! Roeder 1999).

use crate::error::Error;
use crate::measure::is_of_blocks;
use crate::row_sums::Tables;
use crate::schema::{Projection, Table};
use crate::values::NONE;
use std::collections::BTreeMap;

/// Least distance worth a word: a tenth of the accesses is elsewhere.
const LEAST_DISTANCE: f64 = 0.1;
/// Least standard deviations: of 1000 hosts without a difference, one in 30 fleets shows one.
const LEAST_DEVIATIONS: f64 = 4.0;
/// Members expected less often are counted as one.
const LEAST_EXPECTED: f64 = 5.0;
/// Members named.
const MAX_NAMED: usize = 3;

/// Keys that counts by member don't need.
const DROPPED: [&str; 9] =
    ["host_group", "block", "build_id", "fingerprint", "offset", "size", "ip", "cpu", "written"];

/// Counts by member.
type Counts = BTreeMap<u32, u64>;

/// Hosts or days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedBy {
    /// Each host with the others that have its labels.
    Host,
    /// The last day with all before.
    LastDay,
}

/// A host or a day whose accesses to a struct differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The struct.
    pub type_name: String,
    /// The host, or the day.
    pub subject: String,
    /// Labels of the hosts compared, as JSON; empty of days, and without labels.
    pub labels: String,
    /// Samples of the struct there.
    pub samples: u64,
    /// Share of accesses that are to other members than elsewhere.
    pub distance: f64,
    /// How sure that is, in standard deviations.
    pub deviations: f64,
    /// Members that differ most: name, share there, share elsewhere.
    pub members: Vec<(String, f64, f64)>,
}

/// The keys that a comparison needs: counts by host, day and member.
pub fn projection() -> Projection {
    let dropped = [&DROPPED[..], &["function"]].concat();
    Projection::without(&dropped).of_tables(&[Table::Accesses])
}

/// Differences of structs, those of most distance first. `types` are the structs looked at, all if there are
/// none.
///
/// # Errors
/// If the tables keep no hosts or days.
pub fn find(tables: &Tables, subject: ComparedBy, types: &[String]) -> Result<Vec<Difference>, String> {
    let counts = counts(tables, subject, types)?;
    let mut found = Vec::new();
    for ((type_name, labels), subjects) in &counts {
        let compared = match subject {
            ComparedBy::Host => compare_each(subjects),
            ComparedBy::LastDay => compare_last(subjects),
        };
        found.extend(compared.into_iter().filter_map(|(id, compared)| {
            let text = |id: u32| tables.values.get_text(id).unwrap_or_default().to_owned();
            let is_different = compared.distance >= LEAST_DISTANCE && compared.deviations >= LEAST_DEVIATIONS;
            is_different.then(|| Difference {
                type_name: text(*type_name),
                subject: text(id),
                labels: text(*labels),
                samples: compared.samples,
                distance: compared.distance,
                deviations: compared.deviations,
                members: compared
                    .members
                    .into_iter()
                    .map(|(id, here, there)| (text(id), here, there))
                    .collect(),
            })
        }));
    }
    found.sort_by(|left, right| {
        let key = |found: &Difference| (found.type_name.clone(), found.subject.clone());
        right.distance.total_cmp(&left.distance).then_with(|| key(left).cmp(&key(right)))
    });
    Ok(found)
}

/// By struct and labels: counts of each subject.
type Groups = BTreeMap<(u32, u32), BTreeMap<u32, Counts>>;

fn counts(tables: &Tables, subject: ComparedBy, types: &[String]) -> Result<Groups, String> {
    let column = |name| Table::Accesses.key_index(name).unwrap_or(usize::MAX);
    let (name, keyed) = match subject {
        ComparedBy::Host => ("host", column("host")),
        ComparedBy::LastDay => ("day", column("day")),
    };
    let [labels, type_name, member, measure] = ["labels", "type", "member", "measure"]
        .map(|name| Table::Accesses.key_index(name).unwrap_or(usize::MAX));
    let mut groups = Groups::new();
    let mut has_subject = false;
    for (key, counts) in tables.rows_of(Table::Accesses).rows() {
        let id = |column: usize| key.get(column).copied().unwrap_or(NONE);
        let text = |column| tables.values.get_text(id(column));
        let is_counted = text(measure).is_some_and(is_of_blocks) && id(member) != NONE;
        let is_asked =
            types.is_empty() || text(type_name).is_some_and(|name| types.iter().any(|asked| asked == name));
        if !is_counted || !is_asked || id(keyed) == NONE {
            continue;
        }
        has_subject = true;
        let group = (id(type_name), if subject == ComparedBy::Host { id(labels) } else { NONE });
        let sum =
            groups.entry(group).or_default().entry(id(keyed)).or_default().entry(id(member)).or_default();
        *sum = sum.saturating_add(counts.first().copied().unwrap_or_default().unsigned_abs());
    }
    match has_subject {
        true => Ok(split_days(groups, tables, subject)),
        false => {
            Err(format!("no accesses with a {name} there: compare tables that keep it (merge --keep {name})"))
        }
    }
}

/// Of days, the last one, and under no number the sum of those before.
fn split_days(groups: Groups, tables: &Tables, subject: ComparedBy) -> Groups {
    if subject == ComparedBy::Host {
        return groups;
    }
    groups
        .into_iter()
        .map(|(group, days)| {
            let last = days.keys().copied().max_by_key(|id| tables.values.get_text(*id).map(str::to_owned));
            let mut before = Counts::new();
            let mut found = BTreeMap::new();
            for (day, counts) in days {
                if Some(day) == last {
                    found.insert(day, counts);
                } else {
                    add(&mut before, &counts);
                }
            }
            if !before.is_empty() {
                found.insert(NONE, before);
            }
            (group, found)
        })
        .collect()
}

fn add(sum: &mut Counts, counts: &Counts) {
    for (member, count) in counts {
        let known = sum.entry(*member).or_default();
        *known = known.saturating_add(*count);
    }
}

/// A comparison of one count with others.
struct Compared {
    samples: u64,
    distance: f64,
    /// Chi-square and its degrees of freedom, then standard deviations.
    chi_square: f64,
    freedom: f64,
    deviations: f64,
    members: Vec<(u32, f64, f64)>,
}

fn compare_each(subjects: &BTreeMap<u32, Counts>) -> Vec<(u32, Compared)> {
    let mut all = Counts::new();
    subjects.values().for_each(|counts| add(&mut all, counts));
    let rest = |counts: &Counts| -> Counts {
        let left =
            |(member, count): (&u32, &u64)| (*member, count - counts.get(member).copied().unwrap_or(0));
        all.iter().map(left).collect()
    };
    let mut compared: Vec<(u32, Compared)> =
        subjects.iter().filter_map(|(id, counts)| Some((*id, compare(counts, &rest(counts))?))).collect();
    correct(&mut compared);
    compared
}

fn compare_last(subjects: &BTreeMap<u32, Counts>) -> Vec<(u32, Compared)> {
    let last = subjects.iter().find(|(id, _)| **id != NONE);
    let (Some(before), Some((id, counts))) = (subjects.get(&NONE), last) else { return Vec::new() };
    let mut compared: Vec<(u32, Compared)> =
        compare(counts, before).map(|found| (*id, found)).into_iter().collect();
    correct(&mut compared);
    compared
}

fn compare(here: &Counts, there: &Counts) -> Option<Compared> {
    let sum = |counts: &Counts| counts.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let (samples, others) = (sum(here), sum(there));
    if samples == 0 || others == 0 {
        return None;
    }
    let (mut distance, mut chi_square, mut cells) = (0.0, 0.0, 0.0_f64);
    let (mut rare_here, mut rare_there) = (0.0, 0.0);
    let mut members = Vec::new();
    let all = (samples + others) as f64;
    let mut cell = |here: f64, there: f64| {
        let (expected, expected_there) =
            ((here + there) * samples as f64 / all, (here + there) * others as f64 / all);
        chi_square +=
            (here - expected).powi(2) / expected + (there - expected_there).powi(2) / expected_there;
        cells += 1.0;
    };
    for member in here.keys().chain(there.keys().filter(|member| !here.contains_key(member))) {
        let count_in = |counts: &Counts| counts.get(member).copied().unwrap_or(0) as f64;
        let (count, other) = (count_in(here), count_in(there));
        let (share, other_share) = (count / samples as f64, other / others as f64);
        distance += (share - other_share).abs() / 2.0;
        members.push((*member, share, other_share));
        match (count + other) * (samples.min(others) as f64) / all >= LEAST_EXPECTED {
            true => cell(count, other),
            false => (rare_here, rare_there) = (rare_here + count, rare_there + other),
        }
    }
    if rare_here + rare_there > 0.0 {
        cell(rare_here, rare_there);
    }
    let change = |(_, here, there): &(u32, f64, f64)| (here - there).abs();
    members.sort_by(|left, right| change(right).total_cmp(&change(left)).then(left.0.cmp(&right.0)));
    members.truncate(MAX_NAMED);
    let freedom = (cells - 1.0).max(1.0);
    Some(Compared { samples, distance, chi_square, freedom, deviations: 0.0, members })
}

/// Standard deviations of chi-squares, corrected by how much they spread here (Wilson and Hilferty 1931).
fn correct(compared: &mut [(u32, Compared)]) {
    let mut ratios: Vec<f64> = compared.iter().map(|(_, found)| found.chi_square / found.freedom).collect();
    ratios.sort_by(f64::total_cmp);
    // One comparison alone can't tell its own spread from a difference.
    let spread = if ratios.len() > 2 { ratios[ratios.len() / 2].max(1.0) } else { 1.0 };
    for (_, found) in compared {
        let variance = 2.0 / (9.0 * found.freedom);
        let root = (found.chi_square / spread / found.freedom).cbrt();
        found.deviations = (root - (1.0 - variance)) / variance.sqrt();
    }
}

/// Reads what a comparison needs, and compares.
///
/// # Errors
/// If a file is broken, or the tables keep no hosts or days.
pub fn find_in(
    dataset: &mut crate::dataset::Dataset,
    subject: ComparedBy,
    types: &[String],
) -> Result<Result<Vec<Difference>, String>, Error> {
    let tables = dataset.sum(&projection())?;
    Ok(find(&tables, subject, types))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(rows: &[(&str, &str, &str, i64)]) -> Tables {
        let mut tables = Tables::default();
        for (host, day, member, count) in rows {
            let mut key = vec![NONE; Table::Accesses.keys().len()];
            for (column, text) in
                [("host", *host), ("day", *day), ("type", "queue"), ("member", *member), ("measure", "loads")]
            {
                key[Table::Accesses.key_index(column).unwrap()] = tables.values.text(text);
            }
            tables.add(Table::Accesses, &key, &[*count]).unwrap();
        }
        tables
    }

    fn fleet(odd: i64) -> Tables {
        let hosts: Vec<String> = (0..20).map(|host| format!("h{host}")).collect();
        let mut rows = Vec::new();
        for (index, host) in hosts.iter().enumerate() {
            let noise = index as i64 % 5 * 4;
            let extra = if index == 7 { odd } else { 0 };
            rows.push((host.as_str(), "2026-05-01", "head", 500 + noise + extra));
            rows.push((host.as_str(), "2026-05-01", "tail", 500 - noise));
        }
        tables(&rows)
    }

    #[test]
    fn the_host_that_differs_is_named_and_noise_is_not() {
        let found = find(&fleet(700), ComparedBy::Host, &[]).unwrap();
        let [only] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((only.subject.as_str(), only.type_name.as_str()), ("h7", "queue"));
        assert_eq!(only.members[0].0, "head");
        assert!(only.distance > 0.15 && only.members[0].1 > only.members[0].2, "{only:?}");
        assert_eq!(find(&fleet(0), ComparedBy::Host, &[]).unwrap(), []);
        let none = find(&fleet(700), ComparedBy::Host, &["other".to_owned()]).unwrap_err();
        assert!(none.contains("host"), "{none}");
    }

    #[test]
    fn the_last_day_is_compared_with_all_before() {
        let days = |tail| {
            tables(&[
                ("a", "2026-05-03", "head", 500),
                ("a", "2026-05-03", "tail", tail),
                ("a", "2026-05-01", "head", 500),
                ("a", "2026-05-01", "tail", 500),
                ("b", "2026-05-02", "head", 480),
                ("b", "2026-05-02", "tail", 520),
            ])
        };
        let found = find(&days(1500), ComparedBy::LastDay, &[]).unwrap();
        assert_eq!(found.iter().map(|found| found.subject.as_str()).collect::<Vec<_>>(), ["2026-05-03"]);
        assert_eq!(find(&days(510), ComparedBy::LastDay, &[]).unwrap(), []);
    }
}
