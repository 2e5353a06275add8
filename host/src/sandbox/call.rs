//! One call of a component: a fresh store and instance, its limits, its clocks.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use wasmtime::component::{Instance, InstancePre};
use wasmtime::{ResourceLimiter, Store, StoreContextMut, UpdateDeadline};

use super::engine::{GUEST_STACK_BYTES, Inner};
use super::epoch::TICK;
use super::failure::{self, Stop};
use super::limits::Limits;
use crate::contract::{Deadline, Failure};

/// Stack that must be left on the calling thread: the guest's, and the host's own below and above it.
const NEEDED_STACK_BYTES: usize = GUEST_STACK_BYTES + 256 * 1024;

/// The stack that is used instead where less is left.
const FRESH_STACK_BYTES: usize = 2 * NEEDED_STACK_BYTES;

/// Which function of the contract a call is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Under limits of the host's own, which nobody can raise.
    Declare,
    /// Under the operator's limits.
    Resolve,
}

/// What a call has used, and what it may.
pub(super) struct CallState {
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

/// Which limit refused a guest something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Memory,
    Table,
}

struct Clocks {
    started: Instant,
    /// The thread's processor time when the call began. Read at the first tick, so that calls which end
    /// before it, as nearly all do, need not ask the kernel; what the call used until then is taken to be
    /// one tick at most. A tick that is late on a busy machine forgives the rest, and the wall clock does not.
    cpu_started: Option<Duration>,
}

impl Inner {
    /// Instantiates and lets `work` call; everything is gone when this returns.
    ///
    /// `deadline` ends the call beside its own limits.
    ///
    /// # Errors
    /// What stopped the guest, as a [`Failure`] with its code.
    pub(super) fn call<R>(
        &self,
        component: &InstancePre<CallState>,
        phase: Phase,
        limits: &Limits,
        deadline: Option<&Deadline>,
        work: impl FnOnce(&mut Store<CallState>, Instance) -> wasmtime::Result<R>,
    ) -> Result<R, Failure> {
        stacker::maybe_grow(NEEDED_STACK_BYTES, FRESH_STACK_BYTES, || {
            let _ticking = self.ticker.tick();
            let mut store = Store::new(&self.engine, CallState::new(phase, limits, deadline));
            store.limiter(|state| state);
            store.set_hostcall_fuel(limits.output);
            store.set_epoch_deadline(1);
            store.epoch_deadline_callback(look_at_clocks);
            let instance = component.instantiate(&mut store);
            let instance = instance.map_err(|error| failure::of_instantiation(&error, store.data()))?;
            work(&mut store, instance).map_err(|error| failure::of_call(&error, store.data()))
        })
    }
}

impl CallState {
    fn new(phase: Phase, limits: &Limits, deadline: Option<&Deadline>) -> Self {
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
}

fn look_at_clocks(mut store: StoreContextMut<'_, CallState>) -> wasmtime::Result<UpdateDeadline> {
    let state = store.data_mut();
    if let Some(deadline) = &state.deadline {
        deadline.check().map_err(Stop::Overlay)?;
    }
    if state.clocks.started.elapsed() >= state.limits.wall {
        return Err(Stop::Wall(state.limits.wall).into());
    }
    if state.clocks.cpu_used() >= state.limits.cpu {
        return Err(Stop::Cpu(state.limits.cpu).into());
    }
    Ok(UpdateDeadline::Continue(1))
}

impl Clocks {
    /// Processor time since the call began.
    fn cpu_used(&mut self) -> Duration {
        let now = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
        let before_first_tick = self.started.elapsed().min(TICK);
        now.saturating_sub(*self.cpu_started.get_or_insert(now.saturating_sub(before_first_tick)))
    }
}

impl ResourceLimiter for CallState {
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

impl CallState {
    fn refuse(&mut self, what: Refused) -> bool {
        self.refused = Some(what);
        false
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
