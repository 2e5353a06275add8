//! A sign of life for what takes longer than a second.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work may take before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows on a terminal that `what` is going on, once it has gone on for a second; gone when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: std::time::Instant,
}

impl Progress {
    pub(crate) fn new(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::default_spinner());
        bar.set_message(what.to_owned());
        let progress = Self { bar, started: std::time::Instant::now() };
        if std::io::stderr().is_terminal() {
            let bar = progress.bar.clone();
            // Not joined: it ends with the process, and shows nothing once the bar is finished.
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        progress
    }

    /// Says what is going on now.
    pub(crate) fn now(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        if self.started.elapsed() >= PATIENCE {
            self.bar.tick();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
