//! What a guest with imports sees: WASI 0.2 without authority, but for what is granted.
//!
//! wasmtime-wasi and its companions do the work. They are given nothing to work with unless a grant says
//! so: no files, no variables, no arguments, a clock that stands at the epoch, the same random numbers in
//! every call, and a network that always denies. What a guest prints goes into its bounded log.

mod clocks;
mod files;
mod log;
mod network;

use std::collections::BTreeMap;
use std::fs::File;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};
use wasmtime::Engine;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView as _};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView, p2};
use wasmtime_wasi_config::{WasiConfig, WasiConfigVariables};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::call::CallState;
pub(super) use log::Log;

/// Seeds the random numbers of a guest to which randomness is not granted.
const SEED: u64 = 0;

/// The most random bytes of one request. What an honest guest asks for is a seed or an id; what is asked for
/// is made at once in the host's memory.
const MAX_RANDOM_BYTES: u64 = 64 * 1024;

/// Resources that a call may hold: open files, streams, things to wait for.
const MAX_RESOURCES: usize = 1_000;

/// What is granted to one call, as plain data: everything but the directories themselves.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Granted {
    /// The settings that it may read.
    pub(super) config: BTreeMap<String, String>,
    /// The variables that it sees.
    pub(super) env: Vec<(String, String)>,
    pub(super) clock: bool,
    pub(super) random: bool,
    /// Bytes of its log that are kept.
    pub(super) log: usize,
}

/// A directory and what the guest calls it.
pub(super) struct Preopen {
    pub(super) name: String,
    pub(super) directory: File,
}

/// What one call sees beside its arguments.
pub(super) struct World {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    denied: network::Denied,
    settings: WasiConfigVariables,
    preopens: Vec<(Descriptor, String)>,
    table: ResourceTable,
}

impl World {
    /// A world with what is granted and nothing else. What the guest prints goes into the log.
    pub(super) fn new(granted: &Granted, preopens: Vec<Preopen>, log: &Log) -> Self {
        let mut wasi = WasiCtx::builder();
        wasi.envs(&granted.env)
            .stdout(log.clone())
            .stderr(log.clone())
            // Its own process or thread is there to be kept waiting.
            .allow_blocking_current_thread(true)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .max_random_size(MAX_RANDOM_BYTES);
        if !granted.clock {
            wasi.wall_clock(clocks::Epoch).monotonic_clock(clocks::Epoch);
        }
        if !granted.random {
            wasi.secure_random(StdRng::seed_from_u64(SEED))
                .insecure_random(StdRng::seed_from_u64(SEED))
                .insecure_random_seed(u128::from(SEED));
        }
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Self {
            wasi: wasi.build(),
            http: WasiHttpCtx::new(),
            denied: network::Denied,
            settings: granted.config.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            preopens: preopens.into_iter().map(files::preopen).collect(),
            table,
        }
    }
}

/// Links everything that the host [offers](super::offered).
///
/// # Errors
/// None but a mistake of the host's own.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<CallState<World>>> {
    let mut linker = Linker::new(engine);
    p2::add_to_linker_sync(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_sync(&mut linker)?;
    wasmtime_wasi_config::add_to_linker(&mut linker, |state: &mut CallState<World>| {
        WasiConfig::from(&state.world.settings)
    })?;
    linker.allow_shadowing(true);
    files::add_to_linker(&mut linker)?;
    network::add_to_linker(&mut linker)?;
    Ok(linker)
}

impl WasiView for CallState<World> {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.world.wasi, table: &mut self.world.table }
    }
}

impl WasiHttpView for CallState<World> {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let World { http, denied, table, .. } = &mut self.world;
        WasiHttpCtxView { hooks: denied, table, ctx: http }
    }
}

impl CallState<World> {
    fn files(&mut self) -> files::Files<'_> {
        // Cloned before the rest is borrowed: a handful of handles.
        let preopens = self.world.preopens.clone();
        files::Files { preopens, wasi: self.filesystem() }
    }
}
