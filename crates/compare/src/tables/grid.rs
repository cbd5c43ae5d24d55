//! Columns of one width.

/// Rows of cells.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Vec<String>>,
    /// Whether a rule stands below the row.
    rules: Vec<bool>,
}

impl Grid {
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
        self.rules.push(false);
    }

    /// Puts a rule below the last row.
    pub(crate) fn rule(&mut self) {
        self.rules.iter_mut().last().into_iter().for_each(|rule| *rule = true);
    }

    fn widths(&self) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..count).map(width).collect()
    }

    /// Columns with two blanks between; all but the first and the last are aligned on the right.
    pub(crate) fn plain(&self, out: &mut String) {
        let widths = self.widths();
        let last = widths.len().saturating_sub(1);
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ if column == last => line.push_str(&format!("  {cell}")),
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    /// `| a | b |` with rules of plus signs, as posts to mailing lists have them.
    pub(crate) fn boxed(&self, out: &mut String) {
        let widths = self.widths();
        for (row, rule) in self.rows.iter().zip(&self.rules) {
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                out.push_str(if column == 0 { "| " } else { " | " });
                out.push_str(&format!("{cell:<width$}"));
            }
            out.push_str(" |\n");
            if *rule {
                for width in &widths {
                    out.push('+');
                    out.push_str(&"-".repeat(width + 2));
                }
                out.push_str("+\n");
            }
        }
    }

    /// Columns with bars between and no frame.
    pub(crate) fn barred(&self, out: &mut String) {
        let widths = self.widths();
        for (row, rule) in self.rows.iter().zip(&self.rules) {
            let cell = |(column, width): (usize, &usize)| {
                let cell = row.get(column).map_or("", String::as_str);
                format!("{cell:<width$}")
            };
            let cells: Vec<String> = widths.iter().enumerate().map(cell).collect();
            out.push_str(cells.join(" | ").trim_end());
            out.push('\n');
            if *rule {
                let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                out.push_str(&rules.join("-+-"));
                out.push('\n');
            }
        }
    }
}
