//! Quantiles and tails of Student's t and of the binomial distribution.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// Where Student's t with so many degrees of freedom has the share `probability` of its mass below; `None` for
/// degrees that are not positive and finite, and for shares outside 0 to 1.
#[must_use]
pub fn t_quantile(probability: f64, degrees: f64) -> Option<f64> {
    let is_share = probability > 0.0 && probability < 1.0;
    let t = student(degrees).filter(|_| is_share)?;
    Some(t.inverse_cdf(probability)).filter(|quantile| quantile.is_finite())
}

/// The share of Student's t that lies farther from zero than `t`, on both sides: a two-sided p-value.
#[must_use]
pub fn t_two_sided(t: f64, degrees: f64) -> Option<f64> {
    if t.is_infinite() {
        return Some(0.0);
    }
    let distribution = student(degrees).filter(|_| !t.is_nan())?;
    Some((2.0 * distribution.sf(t.abs())).clamp(0.0, 1.0))
}

fn student(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees).ok().filter(|_| degrees.is_finite())
}

/// The chance of at most `successes` heads when a fair coin is thrown `throws` times.
#[must_use]
pub fn fair_coin_at_most(successes: u64, throws: u64) -> Option<f64> {
    Binomial::new(0.5, throws).ok().map(|coin| coin.cdf(successes))
}
