//! Dates as YYYY-MM-DD, which compare as texts do.

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
    date(seconds / 86_400)
}

/// The date some days after 1970-01-01 (H. Hinnant, chrono-Compatible Low-Level Date Algorithms:
/// civil_from_days).
fn date(days: u64) -> String {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_454), "2026-01-01");
    }

    #[test]
    fn dates_have_ten_characters_that_make_sense() {
        assert!(is_date("2026-11-21"));
        assert!(!is_date("2026-13-01") && !is_date("26-11-21") && !is_date("2026-11-21T00") && !is_date(""));
    }
}
