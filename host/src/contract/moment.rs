//! Moments on a clock that goes on while the machine sleeps.

use std::time::Duration;

/// A moment since this machine started. What was true before it slept may well have ended when it wakes, which the
/// standard library's clock would not notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Duration);

impl Moment {
    /// This moment.
    pub(crate) fn now() -> Self {
        Self(since_start())
    }

    /// The moment that comes this much later.
    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}

#[cfg(target_os = "linux")]
fn since_start() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::try_from(now).unwrap_or_default()
}

/// Elsewhere no clock is known that does.
#[cfg(not(target_os = "linux"))]
fn since_start() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
