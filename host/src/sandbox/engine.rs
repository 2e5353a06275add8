//! The engine, and how it is set up.

use std::path::PathBuf;
use std::sync::Arc;

use wasmtime::component::Linker;
use wasmtime::{Config, Engine};

use super::allocation::Allocation;
use super::cache::Cache;
use super::call::CallState;
use super::epoch::Ticker;
use super::limits::Limits;
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// Bytes of stack that a guest may use, in every call of the engine: wasmtime's own default, of which
/// ordinary code uses a fraction.
pub(super) const GUEST_STACK_BYTES: usize = 512 * 1024;

/// How a sandbox is made.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    allocation: Allocation,
    cache: Option<PathBuf>,
    ceiling: Limits,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self { allocation: Allocation::default(), cache: None, ceiling: Limits::RESOLVE }
    }
}

impl SandboxOptions {
    /// On-demand allocation, no cache, and calls within [`Limits::RESOLVE`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the memory of instances comes from.
    #[must_use]
    pub fn allocation(self, allocation: Allocation) -> Self {
        Self { allocation, ..self }
    }

    /// Keeps compiled code in a folder, which is made when it is needed. It must be one that no other
    /// user can write to.
    #[must_use]
    pub fn cache(self, folder: impl Into<PathBuf>) -> Self {
        Self { cache: Some(folder.into()), ..self }
    }

    /// The most memory and table elements that any contributor's limits allow, at most
    /// [`Limits::CEILING`]. The pool is made for it.
    #[must_use]
    pub fn ceiling(mut self, limits: &Limits) -> Self {
        self.ceiling.memory = limits.memory.max(self.ceiling.memory).min(Limits::CEILING.memory);
        self.ceiling.table_elements =
            limits.table_elements.max(self.ceiling.table_elements).min(Limits::CEILING.table_elements);
        self
    }
}

/// Compiles and runs components; cheap to clone, and every clone is the same sandbox.
#[derive(Clone)]
pub struct Sandbox {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) engine: Engine,
    pub(super) linker: Linker<CallState>,
    pub(super) ticker: Ticker,
    pub(super) cache: Option<Cache>,
}

impl Sandbox {
    /// Makes an engine and starts the thread that watches the time of its calls.
    ///
    /// # Errors
    /// `internal` when the platform cannot run the engine: too little address space or no more threads.
    pub fn new(options: &SandboxOptions) -> Result<Self> {
        let engine = Engine::new(&config(options)).map_err(|error| {
            Error::host(
                Code::Internal,
                format!(
                    "the WebAssembly engine could not start ({}): allow the process more address space, or use on-demand allocation",
                    shown(&format!("{error:#}"))
                ),
            )
        })?;
        let ticker = Ticker::start(&engine)?;
        let cache = options.cache.as_ref().map(|folder| Cache::new(folder.clone(), &engine));
        Ok(Self { inner: Arc::new(Inner { linker: Linker::new(&engine), ticker, cache, engine }) })
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("cache", &self.inner.cache).finish_non_exhaustive()
    }
}

fn config(options: &SandboxOptions) -> Config {
    let mut config = Config::new();
    config
        .allocation_strategy(options.allocation.strategy(&options.ceiling))
        .max_wasm_stack(GUEST_STACK_BYTES)
        .epoch_interruption(true)
        // Nobody waits inside a guest: without it a store is cheaper to make.
        .concurrency_support(false)
        .shared_memory(false)
        .relaxed_simd_deterministic(true)
        // A trap's place in a stranger's code tells an operator nothing, and finding it takes time.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(false);
    config
}
