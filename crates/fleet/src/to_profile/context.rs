//! Options and state that the readers of all tables share.

use crate::filter::{Weight, parse_labels, weight_of};
use crate::row_sums::Tables;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The number of no function in a profile.
const NO_FUNCTION: u32 = u32::MAX;

/// How rows become a profile.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileOptions<'o> {
    /// Build id of the program whose layouts count; if not given, that of most samples.
    pub build_id: Option<&'o str>,
    /// How often rows count, by label.
    pub weights: &'o [Weight],
    /// The name and value of a label that rows have to have.
    pub only: Option<(&'o str, &'o str)>,
}

/// Names of functions by their number in a profile.
#[derive(Debug, Default)]
pub(super) struct FunctionNames {
    pub(super) names: Vec<String>,
    indices: BTreeMap<String, u32>,
}

impl FunctionNames {
    /// The number of a function; that of none for an empty name: code without a symbol.
    pub(super) fn index(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return NO_FUNCTION;
        }
        if let Some(index) = self.indices.get(name) {
            return *index;
        }
        let index = self.names.len() as u32;
        // Behind the name of a further function of it stands a number.
        let numbered = name.rsplit_once('@').filter(|(_, number)| number.parse::<u32>().is_ok());
        self.names.push(numbered.map_or(name, |(plain, _)| plain).to_owned());
        self.indices.insert(name.to_owned(), index);
        index
    }
}

/// Weights of rows, each set of labels decided once.
pub(super) struct RowWeights<'t> {
    tables: &'t Tables,
    options: ProfileOptions<'t>,
    known: RefCell<BTreeMap<u32, u64>>,
}

impl<'t> RowWeights<'t> {
    pub(super) fn new(tables: &'t Tables, options: ProfileOptions<'t>) -> Self {
        Self { tables, options, known: RefCell::default() }
    }

    /// How often rows with these labels count.
    pub(super) fn weight(&self, labels: u32) -> u64 {
        let decide = || {
            let text = self.tables.values.get_text(labels).unwrap_or_default();
            let labels = parse_labels(text);
            let is_left_out = self
                .options
                .only
                .is_some_and(|(name, value)| labels.get(name).is_none_or(|known| known != value));
            if is_left_out { 0 } else { weight_of(self.options.weights, &labels).unsigned_abs() }
        };
        *self.known.borrow_mut().entry(labels).or_insert_with(decide)
    }
}
