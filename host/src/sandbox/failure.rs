//! What stopped a guest, as a stable code.
//!
//! Wasmtime tells some failures by type and others by words alone. The words are looked at here and
//! nowhere else, and each has a test, so that an upgrade which changes one is noticed.

use std::time::Duration;

use wasmtime::{PoolConcurrencyLimitError, Trap};

use super::call::{CallState, Phase, Refused};
use crate::contract::Failure;
use crate::error::Code;
use crate::text::shown;

/// Why the host ended a call.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error("the wall-clock limit of the call was reached")]
    Wall(Duration),
    #[error("the processor-time limit of the call was reached")]
    Cpu(Duration),
    #[error("nobody waits for the call any more")]
    Overlay(Failure),
}

/// The failure that an error while an instance was made amounts to.
pub(super) fn of_instantiation(error: &wasmtime::Error, state: &CallState) -> Failure {
    common(error, state).unwrap_or_else(|words| {
        let message = format!(
            "the host could not make an instance of it ({words}): allow the process more address space or memory"
        );
        Failure::new(Code::Internal, message)
    })
}

/// The failure that an error of a call amounts to.
pub(super) fn of_call(error: &wasmtime::Error, state: &CallState) -> Failure {
    common(error, state).unwrap_or_else(|words| {
        let message = format!("what it returned is not what the contract's types allow: {words}");
        Failure::new(Code::InvalidOutput, message)
    })
}

/// The failure where the error says which it is; else what it says.
fn common(error: &wasmtime::Error, state: &CallState) -> Result<Failure, String> {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return Ok(stopped(stop, state));
    }
    let trap = error.downcast_ref::<Trap>().copied();
    if trap == Some(Trap::StackOverflow) {
        return Ok(Failure::new(Code::StackLimit, "it used up its stack: look for a recursion without end"));
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Ok(Failure::new(Code::Overloaded, "all slots for calls are taken: try again later"));
    }
    let words = format!("{error:#}");
    if let Some(failure) = by_words(&words, state) {
        return Ok(failure);
    }
    if let Some(refused) = state.refused() {
        return Ok(refusal(refused, state));
    }
    match trap {
        Some(
            Trap::InvalidChar
            | Trap::StringOutOfBounds
            | Trap::ListOutOfBounds
            | Trap::InvalidDiscriminant
            | Trap::UnalignedPointer,
        )
        | None => Err(shown(&words)),
        Some(Trap::AllocationTooLarge) => Ok(refusal(Refused::Memory, state)),
        Some(trap) => {
            Ok(Failure::new(Code::Trap, format!("it crashed ({trap}): this is a mistake in the contributor")))
        }
    }
}

fn stopped(stop: &Stop, state: &CallState) -> Failure {
    let ran_out = |clock: &str, limit: &Duration, name: &str| {
        Failure::new(
            Code::Timeout,
            format!("its {clock} ran out after {} ms: {}", limit.as_millis(), remedy(state, "do less", name)),
        )
    };
    match stop {
        Stop::Wall(limit) => ran_out("wall clock", limit, "wall"),
        Stop::Cpu(limit) => ran_out("processor time", limit, "cpu"),
        Stop::Overlay(failure) => failure.clone(),
    }
}

fn by_words(words: &str, state: &CallState) -> Option<Failure> {
    let limits = state.limits();
    let too_many = |code, what: &str, most: usize| {
        let remedy = remedy(state, "be built of fewer modules", "instances");
        Some(Failure::new(code, format!("it has more than {most} {what}: {remedy}")))
    };
    if words.contains("fuel allocated for hostcalls has been exhausted") {
        let remedy = remedy(state, "return less", "output");
        return Some(Failure::new(
            Code::OutputLimit,
            format!("its answer has more than {} bytes: {remedy}", limits.output),
        ));
    }
    if words.contains("resource limit exceeded: instance count") {
        return too_many(Code::InstanceLimit, "instances", limits.instances);
    }
    if words.contains("resource limit exceeded: memory count") {
        return too_many(Code::MemoryLimit, "memories", limits.memories());
    }
    if words.contains("resource limit exceeded: table count") {
        return too_many(Code::TableLimit, "tables", limits.tables());
    }
    None
}

fn refusal(refused: Refused, state: &CallState) -> Failure {
    let (code, most, what, name) = match refused {
        Refused::Memory => (Code::MemoryLimit, state.limits().memory, "bytes of memory", "memory"),
        Refused::Table => (Code::TableLimit, state.limits().table_elements, "table elements", "table-elements"),
    };
    Failure::new(code, format!("it needs more than {most} {what}: {}", remedy(state, "use less", name)))
}

/// What to do about a limit.
fn remedy(state: &CallState, change: &str, limit: &str) -> String {
    match state.phase() {
        Phase::Resolve => format!("let it {change}, or raise its limit `{limit}`"),
        Phase::Declare => format!("let it {change} before and while it declares, since that limit is the host's own"),
    }
}
