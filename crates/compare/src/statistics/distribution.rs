//! Quantiles and tails of Student's t and of the binomial distribution.

use statrs::distribution::{Binomial, Continuous, ContinuousCDF, DiscreteCDF, StudentsT};

/// Most steps to a quantile; ten are usual.
const MAX_STEPS: usize = 100;

/// Where Student's t with so many degrees of freedom has the share `probability` of its mass below; `None` for
/// degrees that are not positive and finite, and for shares outside 0 to 1. Nine digits are right, seven of them for ten
/// million degrees.
#[must_use]
pub fn t_quantile(probability: f64, degrees: f64) -> Option<f64> {
    let is_share = probability > 0.0 && probability < 1.0;
    let t = student(degrees).filter(|_| is_share)?;
    let tail = probability.min(1.0 - probability);
    let quantile = upper_quantile(&t, tail)?;
    Some(if probability < 0.5 { -quantile } else { quantile })
}

/// Where so much of the distribution lies above, up to half of it. Newton's method between two bounds: the library's
/// own inverse is wrong for many degrees of freedom.
fn upper_quantile(t: &StudentsT, tail: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, 1.0);
    while t.sf(high) > tail {
        (low, high) = (high, high * 2.0);
        if !high.is_finite() {
            return None;
        }
    }
    let mut at = (low + high) / 2.0;
    for _ in 0..MAX_STEPS {
        let excess = t.sf(at) - tail;
        if excess > 0.0 {
            low = at
        } else {
            high = at
        }
        let newton = at + excess / t.pdf(at);
        let next = if low <= newton && newton <= high { newton } else { (low + high) / 2.0 };
        if (next - at).abs() <= at.abs() * f64::EPSILON * 4.0 {
            return Some(next);
        }
        at = next;
    }
    Some(at)
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
