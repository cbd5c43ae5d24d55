//! Measured figures with the bounds they are held to.

/// The values that a figure may have.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    /// Any value: the figure is shown only.
    None,
    AtLeast(f64),
    AtMost(f64),
    /// Within a share of another figure: the figure, the share.
    Near(f64, f64),
}

impl Bound {
    fn holds(self, measured: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtLeast(least) => measured >= least,
            Self::AtMost(most) => measured <= most,
            Self::Near(wanted, share) => (measured - wanted).abs() <= share * wanted,
        }
    }

    fn text(self) -> String {
        match self {
            Self::None => String::new(),
            Self::AtLeast(least) => format!(">= {least}"),
            Self::AtMost(most) => format!("<= {most}"),
            Self::Near(wanted, share) => format!("{wanted:.3} within {:.0} %", 100.0 * share),
        }
    }
}

/// Rows in the order they were added.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<(String, f64, Bound)>,
    notes: Vec<String>,
}

impl Table {
    pub(super) fn add(&mut self, name: impl Into<String>, measured: f64, bound: Bound) {
        self.rows.push((name.into(), measured, bound));
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
                (Bound::None, _) => "",
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
        let mut table = Table::default();
        table.add("high", 0.5, Bound::AtLeast(0.4));
        table.add("near", 4.4, Bound::Near(4.0, 0.15));
        assert!(table.holds());
        table.add("low", 0.5, Bound::AtMost(0.4));
        assert!(!table.holds());
        assert!(table.text().contains("short"));
    }
}
