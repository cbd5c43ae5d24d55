//! First screens: the few rows that decide, no wider than the terminal. What they leave out is behind `-v`.
//!
//! * `text`: rows that fit, names and lists cut short.
//! * `bars`: cachelines with their share of accesses.
//! * `benefit`: the benefit of an order as a table.
//! * `movers`: the members that move.
//! * `plan`, `accesses`: the screens of a plan and of a report.
//! * `coverage`: recordings in a row each.
//! * `next`: the command to type next.

pub(crate) mod accesses;
mod bars;
mod benefit;
pub(crate) mod coverage;
mod movers;
pub(crate) mod next;
pub(crate) mod plan;
pub(crate) mod text;

use crate::report::color::Palette;
use text::Rows;

/// Rows for one struct.
const FIRST_ROWS: usize = 40;
/// Rows for each further struct.
const FURTHER_ROWS: usize = 20;
/// Rows that a struct gets at least.
const LEAST_ROWS: usize = 8;

/// How a screen is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Columns of the terminal.
    pub(crate) width: usize,
    pub(crate) paint: Palette,
    /// Rows that are printed beside it.
    pub(crate) reserved: usize,
}

impl Screen {
    /// No rows yet.
    pub(crate) fn rows(self) -> Rows {
        Rows::new(self.width, self.paint)
    }

    /// Rows before and behind those of structs, which share what is left of the rows that so many structs may take.
    pub(crate) fn assemble<'s, S>(
        self,
        (head, foot): (Rows, Rows),
        structs: &'s [S],
        mut draw: impl FnMut(&mut Rows, &'s S, usize),
    ) -> String {
        let all = FIRST_ROWS + FURTHER_ROWS * structs.len().saturating_sub(1);
        let left = all.saturating_sub(self.reserved + head.len() + foot.len());
        let each = (left / structs.len().max(1)).max(LEAST_ROWS);
        let mut text = head.into_text();
        for part in structs {
            let mut rows = self.rows();
            draw(&mut rows, part, each);
            text.push_str(&rows.into_text());
        }
        text + &foot.into_text()
    }
}

#[cfg(test)]
mod tests;
