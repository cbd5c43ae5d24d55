//! The size of the terminal that standard output goes to.

use terminal_size::{Height, Width, terminal_size_of};

/// Columns where nothing says how many there are.
const DEFAULT_COLUMNS: usize = 100;
/// Columns that every text gets, however narrow the terminal is.
const LEAST_COLUMNS: usize = 40;
/// Columns that no terminal has more of.
const MOST_COLUMNS: usize = 1_000;

/// Columns of text on standard output: as the variable COLUMNS says, or as the terminal has.
pub(crate) fn columns() -> usize {
    let asked = std::env::var("COLUMNS").ok();
    limit(asked.as_deref(), terminal().map(|(columns, _)| columns))
}

fn limit(asked: Option<&str>, terminal: Option<usize>) -> usize {
    let asked = asked.and_then(|text| text.trim().parse().ok()).filter(|columns| *columns > 0);
    asked.or(terminal).unwrap_or(DEFAULT_COLUMNS).clamp(LEAST_COLUMNS, MOST_COLUMNS)
}

/// Rows of the terminal, if standard output goes to one.
pub(crate) fn rows() -> Option<usize> {
    terminal().map(|(_, rows)| rows).filter(|rows| *rows > 0)
}

fn terminal() -> Option<(usize, usize)> {
    let (Width(columns), Height(rows)) = terminal_size_of(std::io::stdout())?;
    (columns > 0).then(|| (columns.into(), rows.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_asked_for_or_those_of_the_terminal() {
        assert_eq!(limit(None, None), 100);
        assert_eq!(limit(None, Some(132)), 132);
        assert_eq!(limit(Some("80"), Some(132)), 80);
        assert_eq!(limit(Some("wide"), Some(132)), 132);
        assert_eq!(limit(Some("0"), None), 100);
        assert_eq!(limit(Some("3"), None), 40);
        assert_eq!(limit(Some("99999999"), None), 1_000);
    }
}
