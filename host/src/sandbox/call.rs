//! One call of a component: a fresh store and instance, its limits, its clocks.

use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Store, StoreContextMut, UpdateDeadline};

use super::engine::{GUEST_STACK_BYTES, Inner};
use super::failure;
use super::meter::Meter;
use crate::contract::Failure;

/// Stack that must be left on the calling thread: the guest's, and the host's own below and above it.
const NEEDED_STACK_BYTES: usize = GUEST_STACK_BYTES + 256 * 1024;

/// The stack that is used instead where less is left.
const FRESH_STACK_BYTES: usize = 2 * NEEDED_STACK_BYTES;

/// What belongs to one call.
pub(super) struct CallState<W> {
    /// What it has used, and what it may.
    pub(super) meter: Meter,
    /// What it sees beside its arguments: nothing, `()`, for a component that imports nothing.
    pub(super) world: W,
}

impl Inner {
    /// Instantiates and lets `work` call; everything is gone when this returns.
    ///
    /// # Errors
    /// What stopped the guest, as a [`Failure`] with its code.
    pub(super) fn call<W: 'static, R>(
        &self,
        component: &InstancePre<CallState<W>>,
        state: CallState<W>,
        work: impl FnOnce(&mut Store<CallState<W>>, Instance) -> wasmtime::Result<R>,
    ) -> Result<R, Failure> {
        stacker::maybe_grow(NEEDED_STACK_BYTES, FRESH_STACK_BYTES, || {
            let _ticking = self.ticker.tick();
            let output = state.meter.limits().output;
            let mut store = Store::new(&self.engine, state);
            store.limiter(|state| &mut state.meter);
            store.set_hostcall_fuel(output);
            store.set_epoch_deadline(1);
            store.epoch_deadline_callback(look_at_clocks);
            let instance = component.instantiate(&mut store);
            let instance = instance.map_err(|error| failure::of_instantiation(&error, &store.data().meter))?;
            work(&mut store, instance).map_err(|error| failure::of_call(&error, &store.data().meter))
        })
    }
}

fn look_at_clocks<W>(mut store: StoreContextMut<'_, CallState<W>>) -> wasmtime::Result<UpdateDeadline> {
    store.data_mut().meter.look_at_clocks()?;
    Ok(UpdateDeadline::Continue(1))
}
