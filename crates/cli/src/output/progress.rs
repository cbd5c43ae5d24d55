//! Stages of the work on a terminal: what is done, how much there is, and the time left.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::time::Duration;

/// Time between two looks at the clock.
const TICK: Duration = Duration::from_millis(200);

/// All bars that are shown.
static BARS: OnceLock<MultiProgress> = OnceLock::new();

/// A stage. Its row disappears with it.
pub(crate) struct Stage {
    bar: Option<ProgressBar>,
}

impl Stage {
    /// A stage that is shown, if standard error is a terminal and `is_shown`.
    pub(super) fn begin(name: &str, is_shown: bool) -> Self {
        let bar = (is_shown && io::stderr().is_terminal()).then(|| {
            let bar = BARS.get_or_init(MultiProgress::new).add(ProgressBar::no_length());
            bar.set_style(style("{prefix}  {elapsed}"));
            bar.set_prefix(name.to_owned());
            bar.enable_steady_tick(TICK);
            bar
        });
        Self { bar }
    }

    /// Shows how many of how many parts are done; nothing is known of them if there are none.
    pub(crate) fn set(&self, done: u64, count: u64) {
        self.show(done, count, "{prefix}  [{bar:24}]  {pos} of {len}  {eta} left");
    }

    /// Shows how much of something is done, by its share.
    pub(crate) fn set_share(&self, done: u64, count: u64, name: String) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(name);
        }
        self.show(done, count, "{prefix}  [{bar:24}]  {percent} %  {eta} left");
    }

    fn show(&self, done: u64, count: u64, template: &str) {
        let Some(bar) = self.bar.as_ref().filter(|_| count > 0) else { return };
        if bar.length() != Some(count) {
            bar.set_length(count);
            bar.set_style(style(template));
        }
        bar.set_position(done.min(count));
    }

    /// Takes its row away, for good.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Whether it is shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.bar.is_some()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

/// Runs what prints on the terminal, without the bars in between.
pub(super) fn suspend(print: impl FnOnce()) {
    match BARS.get() {
        Some(bars) => bars.suspend(print),
        None => print(),
    }
}
