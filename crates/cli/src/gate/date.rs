//! Dates as YYYY-MM-DD, which compare as texts do.

use crate::calendar::civil_date;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let number = |text: &str, len: usize| (text.len() == len).then(|| text.parse::<u32>().ok()).flatten();
    let in_range = |text, last: u32| number(text, 2).is_some_and(|number| (1..=last).contains(&number));
    number(year, 4).is_some() && in_range(month, 12) && in_range(day, 31)
}

/// Today in UTC.
pub(crate) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_date(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_ten_characters_that_make_sense() {
        assert!(is_date("2026-11-21"));
        assert!(!is_date("2026-13-01") && !is_date("26-11-21") && !is_date("2026-11-21T00") && !is_date(""));
    }
}
