//! Runs in turns, as many as are left to do, with the time that the rest takes.

use crate::output;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

/// Makes the runs that are pending, by number and variant.
pub(super) fn run_pending(
    stage: &str,
    (pending, all): (&[(u32, usize)], usize),
    names: &[&str],
    mut run: impl FnMut((u32, usize)) -> Result<()>,
) -> Result<()> {
    if pending.len() < all {
        output::print_note(&format!("{} of {all} runs are there already", all - pending.len()));
    }
    let stage = output::begin_stage(stage);
    let began = Instant::now();
    for (done, at) in pending.iter().enumerate() {
        stage.set(done as u64, pending.len() as u64);
        let place = format!("{}, run {}", names.get(at.1).unwrap_or(&""), at.0);
        run(*at).with_context(|| place.clone())?;
        let left = left(began.elapsed(), done + 1, pending.len());
        output::print_progress(&format!("{place}: {} of {} runs, {left} left", done + 1, pending.len()));
    }
    Ok(())
}

/// The time that the rest takes, if it goes on as before.
fn left(spent: Duration, done: usize, all: usize) -> String {
    let seconds = spent.as_secs_f64() / done.max(1) as f64 * all.saturating_sub(done) as f64;
    format!("{} min", (seconds / 60.0).ceil())
}
