//! The engine, and how it is set up.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use wasmtime::component::Linker;
use wasmtime::{Config, Engine, OptLevel, RegallocAlgorithm};

use super::allocation::Allocation;
use super::cache::{Cache, CacheFolder, DEFAULT_CACHE_BYTES};
use super::call::CallState;
use super::epoch::Ticker;
use super::hasher::Sha256Hasher;
use super::limits::Limits;
#[cfg(target_os = "linux")]
use super::worker::{Pool, WORKER_ARGUMENT, WorkerProgram};
use super::world::{self, World};
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
    cache_bytes: u64,
    ceiling: Limits,
    isolation: Isolation,
}

/// Where components are called that import something, and so can wait in the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Nowhere: they are refused.
    #[default]
    None,
    /// In worker processes, which also compile. A call that is not over in time is ended with its process. Whoever
    /// replaces this process by another program drops the host before, or its workers become that program's children.
    #[cfg(target_os = "linux")]
    Workers(WorkerProgram),
    /// On threads of this process. A guest that waits in the host keeps its thread for as long as it waits,
    /// whatever its limits; its caller is free when the time of the overlay, or of declaring, is up.
    InProcess,
}

impl Isolation {
    /// In workers where this platform has them, made of this very program; else in this process. For a
    /// program that calls `serve_worker` when its first argument is `worker`.
    #[must_use]
    pub fn of_this_program() -> Self {
        #[cfg(target_os = "linux")]
        {
            // A worker that did not say so first thing would start another, and that one another.
            let is_worker = std::env::args_os().nth(1).is_some_and(|argument| argument == WORKER_ARGUMENT);
            if is_worker { Self::None } else { Self::Workers(WorkerProgram::this_program()) }
        }
        #[cfg(not(target_os = "linux"))]
        Self::InProcess
    }
}

/// [`Isolation`] at work.
pub(super) enum Isolated {
    Refused,
    #[cfg(target_os = "linux")]
    Workers(Arc<Pool>),
    InProcess,
}

impl Isolated {
    #[cfg(target_os = "linux")]
    pub(super) fn pool(&self) -> Option<&Pool> {
        match self {
            Self::Workers(pool) => Some(pool),
            _ => None,
        }
    }
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            allocation: Allocation::default(),
            cache: None,
            cache_bytes: DEFAULT_CACHE_BYTES,
            ceiling: Limits::RESOLVE,
            isolation: Isolation::default(),
        }
    }
}

impl SandboxOptions {
    /// On-demand allocation, no cache, calls within [`Limits::RESOLVE`], and no component with imports.
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

    /// The most bytes of compiled code that are kept, instead of [`DEFAULT_CACHE_BYTES`]. Beyond, what was not
    /// used for longest goes.
    #[must_use]
    pub fn cache_size(self, bytes: u64) -> Self {
        Self { cache_bytes: bytes, ..self }
    }

    /// Where components are called that import something.
    #[must_use]
    pub fn isolation(self, isolation: Isolation) -> Self {
        Self { isolation, ..self }
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
    pub(super) linker: Linker<CallState<()>>,
    /// Made when the first component needs it: it has hundreds of functions.
    world_linker: OnceLock<Linker<CallState<World>>>,
    pub(super) isolation: Isolated,
    pub(super) ticker: Ticker,
    pub(super) cache: Option<Cache>,
    fingerprint: String,
}

impl Inner {
    /// Stands for whatever shapes compiled code beside the component: the engine's version, target and
    /// settings, and this crate's version.
    pub(super) fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    /// What components with imports are linked with.
    ///
    /// # Errors
    /// `internal`, for a mistake of the host's own.
    pub(super) fn world_linker(&self) -> Result<&Linker<CallState<World>>> {
        if let Some(linker) = self.world_linker.get() {
            return Ok(linker);
        }
        let linker = world::linker(&self.engine).map_err(|error| {
            Error::host(Code::Internal, format!("WASI could not be linked: {}", shown(&format!("{error:#}"))))
        })?;
        Ok(self.world_linker.get_or_init(|| linker))
    }
}

fn fingerprint(engine: &Engine) -> String {
    use std::hash::Hash as _;
    let mut hasher = Sha256Hasher::default();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    std::env::consts::ARCH.hash(&mut hasher);
    std::env::consts::OS.hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.hex()
}

impl Sandbox {
    /// Makes an engine and starts the thread that watches the time of its calls.
    ///
    /// # Errors
    /// `internal` when the platform cannot run the engine: too little address space or no more threads.
    pub fn new(options: &SandboxOptions) -> Result<Self> {
        let engine = engine(&config(options))?;
        let ticker = Ticker::start(&engine)?;
        let fingerprint = fingerprint(&engine);
        let folder = options.cache.as_ref().map(|folder| CacheFolder::new(folder, options.cache_bytes));
        let cache = folder.map(|folder| Cache::new(folder, &fingerprint));
        let isolation = match &options.isolation {
            Isolation::None => Isolated::Refused,
            #[cfg(target_os = "linux")]
            Isolation::Workers(program) => {
                Isolated::Workers(Arc::new(Pool::new(program.clone(), fingerprint.clone(), &options.ceiling)))
            }
            Isolation::InProcess => Isolated::InProcess,
        };
        let linker = Linker::new(&engine);
        let inner = Inner { linker, world_linker: OnceLock::new(), isolation, ticker, cache, fingerprint, engine };
        Ok(Self { inner: Arc::new(inner) })
    }
}

#[cfg(target_os = "linux")]
impl Sandbox {
    /// What holds the workers of this sandbox beside the limits of their calls; nothing where it has none.
    ///
    /// # Errors
    /// `internal` where no worker can be started.
    pub fn confinement(&self) -> Result<Option<super::worker::Confinement>> {
        let Some(pool) = self.inner.isolation.pool() else { return Ok(None) };
        pool.confinement().map(Some).map_err(crate::contract::Failure::into_load_error)
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("cache", &self.inner.cache).finish_non_exhaustive()
    }
}

fn engine(config: &Config) -> Result<Engine> {
    Engine::new(config).map_err(|error| {
        Error::host(
            Code::Internal,
            format!(
                "the WebAssembly engine could not start ({}): allow the process more address space, or use on-demand allocation",
                shown(&format!("{error:#}"))
            ),
        )
    })
}

/// An engine that compiles in half the time, to code that the others can call and that is slower.
///
/// # Errors
/// As [`Sandbox::new`].
pub(super) fn quick_compiler() -> Result<Engine> {
    let mut config = config(&SandboxOptions::new());
    config.cranelift_opt_level(OptLevel::None).cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
    engine(&config)
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
