//! Which rows count (`--where`), and how often (`--weight`).

use crate::error::FileProblem;
use crate::row_sums::Tables;
use crate::schema::Table;
use crate::values::{NONE, Values};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use wildmatch::WildMatch;

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Is,
    IsNot,
    /// By text; the second is whether equal fits.
    Order(Ordering, bool),
}

/// A condition on one key: `cohort=web`, `host!=db*`, `day>=2026-05-01`. Keys are `host`, `day`, `build` (its
/// id), `kernel` (its release) and names of labels. `=` and `!=` take a pattern with `*` and `?`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    key: String,
    comparison: Comparison,
    value: String,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = text.find(['=', '!', '<', '>']).filter(|at| *at > 0);
        let (key, rest) =
            text.split_at(at.ok_or("a condition such as cohort=web, host!=db* or day>=2026-05-01")?);
        let known = [
            ("!=", Comparison::IsNot),
            ("<=", Comparison::Order(Ordering::Less, true)),
            (">=", Comparison::Order(Ordering::Greater, true)),
            ("=", Comparison::Is),
            ("<", Comparison::Order(Ordering::Less, false)),
            (">", Comparison::Order(Ordering::Greater, false)),
        ];
        let found = known.into_iter().find_map(|(sign, how)| Some((how, rest.strip_prefix(sign)?)));
        let (comparison, value) = found.ok_or("no comparison: =, !=, <, <=, > or >=")?;
        Ok(Self { key: key.trim().to_owned(), comparison, value: value.trim().to_owned() })
    }
}

impl Condition {
    fn fits(&self, value: Option<&str>) -> bool {
        let Some(value) = value else { return self.comparison == Comparison::IsNot };
        match self.comparison {
            Comparison::Is => WildMatch::new(&self.value).matches(value),
            Comparison::IsNot => !WildMatch::new(&self.value).matches(value),
            Comparison::Order(side, or_equal) => {
                let found = value.cmp(self.value.as_str());
                found == side || or_equal && found == Ordering::Equal
            }
        }
    }

    /// The column of the key, unless it is a label.
    fn column(&self) -> Option<&'static str> {
        match self.key.as_str() {
            "host" => Some("host"),
            "day" => Some("day"),
            "build" => Some("build_id"),
            "kernel" => Some("kernel"),
            _ => None,
        }
    }
}

/// Labels of a row by name.
pub fn parse_labels(text: &str) -> BTreeMap<String, String> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Conditions that all have to hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    conditions: Vec<Condition>,
    /// Build ids of kernels that fit, once the recordings are known.
    builds: Option<BTreeSet<String>>,
}

impl Filter {
    /// A filter of conditions.
    pub fn new(conditions: &[Condition]) -> Self {
        Self { conditions: conditions.to_vec(), builds: None }
    }

    /// Whether every row counts.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Notes the builds of the recordings left: other tables know kernels by them.
    pub(crate) fn note_kernels(&mut self, recordings: &Tables) {
        if self.conditions.iter().any(|condition| condition.key == "kernel") {
            let column = Table::Recordings.key_index("build_id");
            let id = |key: &[u32]| column.and_then(|column| key.get(column)).copied().unwrap_or(NONE);
            let rows = recordings.rows_of(Table::Recordings).rows();
            let builds = rows.filter_map(|(key, _)| recordings.values.get_text(id(key)));
            self.builds = Some(builds.map(str::to_owned).collect());
        }
    }

    /// Whether a column has to be read for it.
    pub(crate) fn uses(&self, table: Table, column: &str) -> bool {
        let columns = ["host", "day", "labels", "build_id", "kernel"];
        table != Table::Layouts && !self.is_empty() && columns.contains(&column)
    }

    /// Answers for the rows of a table, each different one once.
    pub(crate) fn verdicts(&self, table: Table) -> Verdicts<'_> {
        let columns = ["host", "day", "labels", "build_id", "kernel"].map(|name| table.key_index(name));
        Verdicts { filter: self, table, columns, known: FxHashMap::default() }
    }
}

/// Whether rows of a table count.
pub(crate) struct Verdicts<'f> {
    filter: &'f Filter,
    table: Table,
    columns: [Option<usize>; 5],
    known: FxHashMap<[u32; 5], bool>,
}

impl Verdicts<'_> {
    /// Whether a row counts, by the values of its columns.
    pub(crate) fn keeps(&mut self, values: &Values, id: impl Fn(usize) -> u32) -> Result<bool, FileProblem> {
        if self.filter.is_empty() || self.table == Table::Layouts {
            return Ok(true);
        }
        let ids = self.columns.map(|column| column.map_or(NONE, &id));
        if let Some(known) = self.known.get(&ids) {
            return Ok(*known);
        }
        let answer = self.decide(ids, values)?;
        self.known.insert(ids, answer);
        Ok(answer)
    }

    fn decide(&self, ids: [u32; 5], values: &Values) -> Result<bool, FileProblem> {
        let [host, day, labels, build, kernel] = ids.map(|id| values.get_text(id));
        let labels = parse_labels(labels.unwrap_or_default());
        for condition in &self.filter.conditions {
            let value = match condition.column() {
                Some("host" | "day") if host.is_none() => {
                    return Err(FileProblem::Condition(format!(
                        "these sums keep no {}; merge with --where, or with --keep {}",
                        condition.key, condition.key
                    )));
                }
                Some("host") => host,
                Some("day") => day,
                Some("kernel") if self.table != Table::Recordings => {
                    let is_known = |builds: &BTreeSet<String>| build.is_some_and(|id| builds.contains(id));
                    match self.filter.builds.as_ref().is_none_or(is_known) {
                        true => continue,
                        false => return Ok(false),
                    }
                }
                Some("kernel") => kernel,
                Some(_) => build,
                None => labels.get(&condition.key).map(String::as_str),
            };
            if !condition.fits(value) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// How often rows count: `cohort=web*3`.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    condition: Condition,
    factor: i64,
}

impl FromStr for Weight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "a label and a whole number from 0 to 1000000, such as cohort=web*3";
        let (condition, factor) = text.rsplit_once('*').ok_or(wanted)?;
        let factor =
            factor.trim().parse().ok().filter(|factor| (0..=1_000_000).contains(factor)).ok_or(wanted)?;
        let condition: Condition = condition.parse()?;
        match condition.column() {
            None => Ok(Self { condition, factor }),
            Some(_) => Err(format!("{} is no label; {wanted}", condition.key)),
        }
    }
}

/// The weight of rows with some labels: that of the first condition that fits, else 1.
pub(crate) fn weight_of(weights: &[Weight], labels: &BTreeMap<String, String>) -> i64 {
    let value = |weight: &&Weight| labels.get(&weight.condition.key).map(String::as_str);
    let found = weights.iter().find(|weight| weight.condition.fits(value(weight)));
    found.map_or(1, |weight| weight.factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(condition: &str, value: Option<&str>) -> bool {
        condition.parse::<Condition>().unwrap().fits(value)
    }

    #[test]
    fn conditions_compare_by_pattern_or_by_order() {
        assert!(fits("host=web*", Some("web1")) && !fits("host=web*", Some("db1")));
        assert!(fits("host!=web*", Some("db1")) && fits("host!=web*", None) && !fits("cohort=web", None));
        assert!(fits("day>=2026-05-01", Some("2026-05-01")) && !fits("day>2026-05-01", Some("2026-05-01")));
        assert!(fits("day<2026-05-01", Some("2026-04-30")));
        for wrong in ["web", "=web", "host!web", ""] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_weight_that_fits_counts() {
        let weights = ["cohort=web*3", "cohort=**2"].map(|text| text.parse::<Weight>().unwrap());
        let labels = |cohort: &str| BTreeMap::from([("cohort".to_owned(), cohort.to_owned())]);
        assert_eq!(weight_of(&weights, &labels("web")), 3);
        assert_eq!(weight_of(&weights, &labels("db")), 2);
        assert_eq!(weight_of(&weights, &BTreeMap::new()), 1);
        for wrong in ["cohort=web", "cohort=web*-1", "host=a*2", "cohort=web*x"] {
            assert!(wrong.parse::<Weight>().is_err(), "{wrong}");
        }
    }
}
