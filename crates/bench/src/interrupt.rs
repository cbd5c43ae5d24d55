//! Signals that ask for the end.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest time until a signal is noticed.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether SIGINT, SIGTERM or SIGHUP came since it was made. They end the process no more.
#[derive(Clone, Debug)]
pub struct Interrupt {
    came: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes the signals.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn new() -> io::Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, Arc::clone(&came))?;
        }
        Ok(Self { came })
    }

    /// An error if a signal came.
    pub(crate) fn check(&self) -> Result<()> {
        if self.came.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Sleeps; an error if a signal came.
    pub(crate) fn sleep(&self, time: Duration) -> Result<()> {
        let end = Instant::now() + time;
        loop {
            self.check()?;
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(());
            }
            std::thread::sleep(rest.min(PAUSE));
        }
    }
}
