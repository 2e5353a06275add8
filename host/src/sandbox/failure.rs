//! What stopped a guest, as a stable code.
//!
//! Wasmtime tells some failures by type and others by words alone. The words are looked at here and
//! nowhere else, and each has a test, so that an upgrade which changes one is noticed.

use std::time::Duration;

use wasmtime::{PoolConcurrencyLimitError, Trap};

use super::call::{CallState, Refused};
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

/// The failure that an error of a call amounts to.
pub(super) fn classify(error: &wasmtime::Error, state: &CallState) -> Failure {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return stopped(stop);
    }
    let trap = error.downcast_ref::<Trap>().copied();
    if trap == Some(Trap::StackOverflow) {
        return Failure::new(Code::StackLimit, "it used up its stack: look for a recursion without end");
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Failure::new(Code::Overloaded, "all slots for calls are taken: try again later");
    }
    let words = format!("{error:#}");
    if let Some(failure) = by_words(&words, state) {
        return failure;
    }
    if let Some(refused) = state.refused() {
        return refusal(refused, state);
    }
    match trap {
        Some(
            Trap::InvalidChar
            | Trap::StringOutOfBounds
            | Trap::ListOutOfBounds
            | Trap::InvalidDiscriminant
            | Trap::UnalignedPointer,
        )
        | None => Failure::new(
            Code::InvalidOutput,
            format!("what it returned is not what the contract's types allow: {}", shown(&words)),
        ),
        Some(Trap::AllocationTooLarge) => refusal(Refused::Memory, state),
        Some(trap) => Failure::new(Code::Trap, format!("it crashed ({trap}): this is a mistake in the contributor")),
    }
}

fn stopped(stop: &Stop) -> Failure {
    match stop {
        Stop::Wall(limit) => Failure::new(
            Code::Timeout,
            format!("its wall clock ran out after {} ms: make it faster, or raise its limit `wall`", limit.as_millis()),
        ),
        Stop::Cpu(limit) => Failure::new(
            Code::Timeout,
            format!(
                "its processor time ran out after {} ms: make it faster, or raise its limit `cpu`",
                limit.as_millis()
            ),
        ),
        Stop::Overlay(failure) => failure.clone(),
    }
}

fn by_words(words: &str, state: &CallState) -> Option<Failure> {
    if words.contains("fuel allocated for hostcalls has been exhausted") {
        let message = format!(
            "its answer has more than {} bytes: return less, or raise its limit `output`",
            state.limits().output
        );
        return Some(Failure::new(Code::OutputLimit, message));
    }
    if words.contains("resource limit exceeded: instance count") {
        let message = format!(
            "it has more than {} instances: build it of fewer modules, or raise its limit `instances`",
            state.limits().instances
        );
        return Some(Failure::new(Code::InstanceLimit, message));
    }
    if words.contains("resource limit exceeded: memory count") {
        return Some(Failure::new(
            Code::MemoryLimit,
            format!("it has more than {} memories: build it of fewer modules", state.limits().instances),
        ));
    }
    if words.contains("resource limit exceeded: table count") {
        return Some(Failure::new(
            Code::TableLimit,
            format!(
                "it has more than {} tables: build it of fewer modules",
                state.limits().instances.saturating_mul(4)
            ),
        ));
    }
    None
}

fn refusal(refused: Refused, state: &CallState) -> Failure {
    match refused {
        Refused::Memory => Failure::new(
            Code::MemoryLimit,
            format!(
                "it needs more than {} bytes of memory: let it use less, or raise its limit `memory`",
                state.limits().memory
            ),
        ),
        Refused::Table => Failure::new(
            Code::TableLimit,
            format!(
                "it needs more than {} table elements: let it use less, or raise its limit `table-elements`",
                state.limits().table_elements
            ),
        ),
    }
}
