//! A clock that stands still.

use std::time::Duration;

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// Always the Unix epoch.
pub(super) struct Epoch;

impl HostWallClock for Epoch {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for Epoch {
    fn resolution(&self) -> u64 {
        1_000_000_000
    }

    fn now(&self) -> u64 {
        0
    }
}
