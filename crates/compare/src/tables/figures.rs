//! Numbers as tables have them.

/// Digits that matter in a measured value.
const DIGITS: i32 = 4;

/// A value with four significant digits, or all before the point: `45.05`, `948.2`, `1048`, `12345`.
#[must_use]
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs();
    if !(1e-4..1e15).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    format!("{value:.*}", decimals(magnitude))
}

/// Digits behind the point that leave four significant ones; rounding up may take one away.
pub(crate) fn decimals(magnitude: f64) -> usize {
    if !(magnitude.is_finite() && magnitude > 0.0) {
        return 0;
    }
    let wanted = |value: f64| usize::try_from(DIGITS - 1 - value.log10().floor() as i32).unwrap_or(0).min(12);
    let first = wanted(magnitude);
    let scale = 10_f64.powi(i32::try_from(first).unwrap_or(0));
    wanted((magnitude * scale).round() / scale)
}

/// A value with commas between thousands.
#[must_use]
pub fn with_commas(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, rest) =
        digits.split_once('.').map_or((digits, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + &rest
}

/// A change in percent, with its sign: `-22.01%`.
#[must_use]
pub fn signed_percent(percent: Option<f64>) -> String {
    match percent {
        Some(percent) if percent.abs() < 1e6 => format!("{percent:+.2}%"),
        Some(percent) => format!("{percent:+.2e}%"),
        None => "-".to_owned(),
    }
}

/// A p-value.
#[must_use]
pub fn p_value(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
        None => "-".to_owned(),
    }
}

/// The scale by which large counts are shown, so that each keeps three digits before the point: a divisor and a letter.
pub(crate) fn count_scale(counts: impl Iterator<Item = f64>) -> (f64, &'static str) {
    let least = counts.map(f64::abs).filter(|count| *count > 0.0).reduce(f64::min).unwrap_or(0.0);
    let scales = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")];
    scales.into_iter().find(|(divisor, _)| least >= 100.0 * divisor).unwrap_or((1.0, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_four_digits() {
        let found = [45.051, 27.0, 948.23, 1048.4, 12_345.6, 0.012_344, 999.96, 0.0, -3.5, 1e-9, f64::MAX];
        assert_eq!(
            found.map(significant),
            [
                "45.05",
                "27.00",
                "948.2",
                "1048",
                "12346",
                "0.01234",
                "1000",
                "0",
                "-3.500",
                "1.000e-9",
                "1.798e308"
            ]
        );
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!(with_commas(3_294.4, 0), "3,294");
        assert_eq!(with_commas(-1_234_567.25, 1), "-1,234,567.2");
        assert_eq!(with_commas(404.0, 0), "404");
    }

    #[test]
    fn counts_are_scaled_together() {
        assert_eq!(count_scale([404e6, 3_294e6].into_iter()), (1e6, "M"));
        assert_eq!(count_scale([960.2e6, 3_344e6].into_iter()).1, "M");
        assert_eq!(count_scale([12.0, 5e9].into_iter()).1, "");
        assert_eq!(count_scale([0.0].into_iter()).1, "");
    }
}
