//! What a call has used, and what it may.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use wasmtime::ResourceLimiter;

use super::epoch::TICK;
use super::failure::Stop;
use super::limits::Limits;
use crate::contract::Deadline;

/// Which function of the contract a call is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Under limits of the host's own, which nobody can raise.
    Declare,
    /// Under the operator's limits.
    Resolve,
}

/// Which limit refused a guest something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Memory,
    Table,
}

/// What a call has used, and what it may.
pub(super) struct Meter {
    phase: Phase,
    limits: Limits,
    memory: usize,
    table_elements: usize,
    /// What the growth that was allowed last added, to be taken back if it fails all the same; nothing
    /// where it went beyond the guest's own maximum, which is no limit of the host.
    last_growth: Option<usize>,
    /// The last limit that refused the guest something.
    refused: Option<Refused>,
    clocks: Clocks,
    deadline: Option<Deadline>,
}

struct Clocks {
    started: Instant,
    /// The thread's processor time when the call began. Read at the first tick, so that calls which end
    /// before it, as nearly all do, need not ask the kernel; what the call used until then is taken to be
    /// one tick at most. A tick that is late on a busy machine forgives the rest, and the wall clock does not.
    cpu_started: Option<Duration>,
}

impl Meter {
    /// `deadline` ends the call beside its own limits.
    pub(super) fn new(phase: Phase, limits: &Limits, deadline: Option<&Deadline>) -> Self {
        Self {
            phase,
            limits: *limits,
            memory: 0,
            table_elements: 0,
            last_growth: None,
            refused: None,
            clocks: Clocks { started: Instant::now(), cpu_started: None },
            deadline: deadline.cloned(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn refused(&self) -> Option<Refused> {
        self.refused
    }

    /// Ends a call whose time is up.
    ///
    /// # Errors
    /// Why it ends.
    pub(super) fn look_at_clocks(&mut self) -> Result<(), Stop> {
        if let Some(deadline) = &self.deadline {
            deadline.check().map_err(Stop::Overlay)?;
        }
        if self.clocks.started.elapsed() >= self.limits.wall {
            return Err(Stop::Wall(self.limits.wall));
        }
        if self.clocks.cpu_used() >= self.limits.cpu {
            return Err(Stop::Cpu(self.limits.cpu));
        }
        Ok(())
    }

    fn refuse(&mut self, what: Refused) -> bool {
        self.refused = Some(what);
        false
    }
}

impl Clocks {
    /// Processor time since the call began.
    fn cpu_used(&mut self) -> Duration {
        let now = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
        let before_first_tick = self.started.elapsed().min(TICK);
        now.saturating_sub(*self.cpu_started.get_or_insert(now.saturating_sub(before_first_tick)))
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let (total, growth) = grown(self.memory, current, desired);
        if total > self.limits.memory {
            return Ok(self.refuse(Refused::Memory));
        }
        self.last_growth = within(desired, maximum).then_some(growth);
        self.memory = if self.last_growth.is_some() { total } else { self.memory };
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        if let Some(growth) = self.last_growth.take() {
            self.memory = self.memory.saturating_sub(growth);
            self.refuse(Refused::Memory);
        }
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let (total, growth) = grown(self.table_elements, current, desired);
        if total > self.limits.table_elements {
            return Ok(self.refuse(Refused::Table));
        }
        self.last_growth = within(desired, maximum).then_some(growth);
        self.table_elements = if self.last_growth.is_some() { total } else { self.table_elements };
        Ok(true)
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        if let Some(growth) = self.last_growth.take() {
            self.table_elements = self.table_elements.saturating_sub(growth);
            self.refuse(Refused::Table);
        }
        Ok(())
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.memories()
    }

    fn tables(&self) -> usize {
        self.limits.tables()
    }
}

/// What all memories or tables have together once one grew, and by how much it did.
fn grown(total: usize, current: usize, desired: usize) -> (usize, usize) {
    let growth = desired.saturating_sub(current);
    (total.saturating_add(growth), growth)
}

/// Whether a growth stays within the guest's own maximum; beyond it the engine refuses it by itself.
fn within(desired: usize, maximum: Option<usize>) -> bool {
    maximum.is_none_or(|maximum| desired <= maximum)
}
