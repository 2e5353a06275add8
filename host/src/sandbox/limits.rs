//! What one call of a component may use.
//!
//! Every limit is on; there is no "unlimited". An operator sets them for every contributor or for one,
//! up to [`Limits::CEILING`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// How long compiling one component may take. One of 60,000 functions compiles for about ten seconds.
pub(super) const COMPILE_TIME: Duration = Duration::from_secs(20);

/// How long it may take where others keep the processors busy: as long as it was not given as much processor time as
/// it may take on an idle machine. What loads on an idle machine loads on a busy one.
#[cfg(target_os = "linux")]
pub(super) const COMPILE_PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of memory that compiling one component may take: several times what the largest interpreters need.
pub(super) const COMPILE_BYTES: u64 = 1024 * 1024 * 1024;

/// What one call of a component may use, in all its instances together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time of the call.
    pub cpu: Duration,
    /// Wall clock of the call: stops a guest that sleeps as well as one on a busy machine.
    pub wall: Duration,
    /// Bytes of linear memory.
    pub memory: usize,
    /// Elements of tables.
    pub table_elements: usize,
    /// Core instances.
    pub instances: usize,
    /// Bytes copied out of the sandbox, counted before they are copied.
    pub output: usize,
    /// Bytes of what it prints that are kept; the rest is dropped.
    pub log: usize,
}

impl Limits {
    /// For `resolve`, where the operator says nothing else.
    ///
    /// 100 ms is five thousand times what a small contributor needs and still a pause that a person
    /// hardly notices; a second of wall clock lets it finish on a busy machine. 64 MiB, 10,000 table
    /// elements and 64 instances hold an interpreter such as Python's. 5 MiB are 128 values of 32 KiB
    /// and the keys beside them; 64 KiB are a thousand lines of a log.
    pub const RESOLVE: Self = Self {
        cpu: Duration::from_millis(100),
        wall: Duration::from_secs(1),
        memory: 64 * MIB,
        table_elements: 10_000,
        instances: 64,
        output: 5 * MIB,
        log: 64 * KIB,
    };

    /// For `declare`, which runs once for each build, at load, and which nobody configures: an
    /// interpreter may start up in it.
    pub const DECLARE: Self = Self { cpu: Duration::from_secs(1), wall: Duration::from_secs(5), ..Self::RESOLVE };

    /// What an operator may allow at most. The times end with the overlay's own five seconds.
    pub const CEILING: Self = Self {
        cpu: Duration::from_secs(5),
        wall: Duration::from_secs(5),
        memory: 1024 * MIB,
        table_elements: 1_000_000,
        instances: 1_000,
        output: 64 * MIB,
        log: MIB,
    };
}

impl Limits {
    /// How many memories there may be. One reserves address space whatever its size, and a real component
    /// has one for each instance at most.
    pub(super) fn memories(&self) -> usize {
        self.instances
    }

    /// How many tables there may be. A module and the shims that connect it have a handful.
    pub(super) fn tables(&self) -> usize {
        self.instances.saturating_mul(4)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::RESOLVE
    }
}
