//! What stopped a guest, as a stable code.
//!
//! Wasmtime tells some failures by type and others by words alone. The words are looked at here and
//! nowhere else, and each has a test, so that an upgrade which changes one is noticed.

use std::time::Duration;

use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, Trap};
use wasmtime_wasi::I32Exit;

use super::limits::Limits;
use super::meter::{Meter, Phase, Refused};
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
pub(super) fn of_instantiation(error: &wasmtime::Error, meter: &Meter) -> Failure {
    common(error, meter).unwrap_or_else(|words| {
        if !is_of_the_system(error) {
            // From a function that the host offers, called while the guest started.
            return refused_by_host(&words);
        }
        let message = format!(
            "the host could not make an instance of it ({words}): allow the process more address space or memory"
        );
        Failure::new(Code::Internal, message)
    })
}

/// The failure that an error of a call amounts to.
pub(super) fn of_call(error: &wasmtime::Error, meter: &Meter) -> Failure {
    common(error, meter).unwrap_or_else(|words| {
        if HOST_WORDS.iter().any(|host| words.contains(host)) {
            return refused_by_host(&words);
        }
        let message = format!("what it returned is not what the contract's types allow: {words}");
        Failure::new(Code::InvalidOutput, message)
    })
}

/// What functions that the host offers say when a guest misuses them: a handle that is none, more bytes at once than
/// are made.
const HOST_WORDS: [&str; 4] = ["handle", "requested len", "resource", "exceeds limit"];

fn refused_by_host(words: &str) -> Failure {
    let message =
        format!("it asked its host for what no guest can have ({words}): this is a mistake in the contributor");
    Failure::new(Code::Trap, message)
}

/// Whether the operating system refused something, which no guest can feign: what the host offers to guests answers
/// such errors as values.
fn is_of_the_system(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| cause.is::<std::io::Error>() || cause.is::<rustix::io::Errno>())
        || format!("{error:#}").contains("out of memory")
}

/// The failure where the error says which it is; else what it says.
fn common(error: &wasmtime::Error, meter: &Meter) -> Result<Failure, String> {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return Ok(stopped(stop, meter));
    }
    if let Some(I32Exit(status)) = error.downcast_ref::<I32Exit>() {
        let message = format!("it ended itself with status {status} instead of answering: let it return an error");
        return Ok(Failure::new(Code::Trap, message));
    }
    if error.downcast_ref::<ResourceTableError>().is_some() {
        let message = "it holds too many files, streams and other things of its host at once, or one that is gone: let it close them";
        return Ok(Failure::new(Code::Trap, message));
    }
    let trap = error.downcast_ref::<Trap>().copied();
    if trap == Some(Trap::StackOverflow) {
        return Ok(Failure::new(Code::StackLimit, "it used up its stack: look for a recursion without end"));
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Ok(Failure::new(Code::Overloaded, "all slots for calls are taken: try again later"));
    }
    let words = format!("{error:#}");
    if let Some(failure) = by_words(&words, meter) {
        return Ok(failure);
    }
    if let Some(refused) = meter.refused() {
        return Ok(refusal(refused, meter));
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
        Some(Trap::AllocationTooLarge) => Ok(refusal(Refused::Memory, meter)),
        Some(trap) => {
            Ok(Failure::new(Code::Trap, format!("it crashed ({trap}): this is a mistake in the contributor")))
        }
    }
}

fn stopped(stop: &Stop, meter: &Meter) -> Failure {
    match stop {
        Stop::Wall(limit) => ran_out("wall clock", *limit, meter.phase(), "wall"),
        Stop::Cpu(limit) => ran_out("processor time", *limit, meter.phase(), "cpu"),
        Stop::Overlay(failure) => failure.clone(),
    }
}

fn ran_out(clock: &str, limit: Duration, phase: Phase, name: &str) -> Failure {
    let remedy = remedy(phase, "do less", name);
    Failure::new(Code::Timeout, format!("its {clock} ran out after {} ms: {remedy}", limit.as_millis()))
}

/// The failure of a call that was ended from outside.
pub(super) fn wall_clock_ran_out(phase: Phase, limits: &Limits) -> Failure {
    ran_out("wall clock", limits.wall, phase, "wall")
}

/// The failure of a call that made its host run out of the memory that it may have.
#[cfg(target_os = "linux")]
pub(super) fn host_memory_ran_out(phase: Phase, limits: &Limits) -> Failure {
    let remedy = remedy(phase, "ask its host for less at a time", "memory");
    Failure::new(
        Code::MemoryLimit,
        format!("what it asked of its host needs far more than its {} bytes of memory: {remedy}", limits.memory),
    )
}

fn by_words(words: &str, meter: &Meter) -> Option<Failure> {
    let limits = meter.limits();
    let too_many = |code, what: &str, most: usize| {
        let remedy = remedy(meter.phase(), "be built of fewer modules", "instances");
        Some(Failure::new(code, format!("it has more than {most} {what}: {remedy}")))
    };
    if words.contains("fuel allocated for hostcalls has been exhausted") {
        let remedy = remedy(meter.phase(), "return less", "output");
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

fn refusal(refused: Refused, meter: &Meter) -> Failure {
    let (code, most, what, name) = match refused {
        Refused::Memory => (Code::MemoryLimit, meter.limits().memory, "bytes of memory", "memory"),
        Refused::Table => (Code::TableLimit, meter.limits().table_elements, "table elements", "table-elements"),
    };
    Failure::new(code, format!("it needs more than {most} {what}: {}", remedy(meter.phase(), "use less", name)))
}

/// What to do about a limit.
fn remedy(phase: Phase, change: &str, limit: &str) -> String {
    match phase {
        Phase::Resolve => format!("let it {change}, or raise its limit `{limit}`"),
        Phase::Declare => format!("let it {change} before and while it declares, since that limit is the host's own"),
    }
}
