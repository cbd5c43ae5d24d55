//! Measured figures with the bounds they are held to.

/// What a figure must reach.
#[derive(Clone, Copy)]
pub(super) enum FigureBound {
    /// Nothing; it is shown only.
    None,
    AtLeast(f64),
    AtMost(f64),
    /// Off a wanted figure by no more than a share of it.
    Near {
        wanted: f64,
        share: f64,
    },
}

impl FigureBound {
    fn holds(self, measured: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtLeast(least) => measured >= least,
            Self::AtMost(most) => measured <= most,
            Self::Near { wanted, share } => (measured - wanted).abs() <= share * wanted,
        }
    }

    fn text(self) -> String {
        match self {
            Self::None => String::new(),
            Self::AtLeast(least) => format!(">= {least}"),
            Self::AtMost(most) => format!("<= {most}"),
            Self::Near { wanted, share } => format!("{wanted:.3} within {:.0} %", 100.0 * share),
        }
    }
}

/// Rows in the order they were added.
#[derive(Default)]
pub(super) struct FigureTable {
    rows: Vec<(String, f64, FigureBound)>,
    notes: Vec<String>,
}

impl FigureTable {
    pub(super) fn add(&mut self, name: String, measured: f64, bound: FigureBound) {
        self.rows.push((name, measured, bound));
    }

    /// Adds a remark, shown below the rows.
    pub(super) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    pub(super) fn holds(&self) -> bool {
        self.rows.iter().all(|(_, measured, bound)| bound.holds(*measured))
    }

    pub(super) fn text(&self) -> String {
        let rows = self.rows.iter().map(|(name, measured, bound)| {
            let verdict = match (*bound, bound.holds(*measured)) {
                (FigureBound::None, _) => "",
                (_, true) => "ok",
                (_, false) => "short",
            };
            format!("  {name:<52} {measured:>9.3}  {:<20} {verdict}\n", bound.text())
        });
        let notes = self.notes.iter().map(|note| format!("  {note}\n"));
        rows.chain(notes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_figure_out_of_bounds_spoils_the_table() {
        let mut table = FigureTable::default();
        table.add("high".to_owned(), 0.5, FigureBound::AtLeast(0.4));
        table.add("near".to_owned(), 4.4, FigureBound::Near { wanted: 4.0, share: 0.15 });
        assert!(table.holds());
        table.add("low".to_owned(), 0.5, FigureBound::AtMost(0.4));
        assert!(!table.holds());
        assert!(table.text().contains("short"));
    }
}
