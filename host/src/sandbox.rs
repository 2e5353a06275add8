//! One component at a time: read, compile, limit, call.
//!
//! A [`Sandbox`] owns an engine. [`Sandbox::load`] turns bytes that anybody may have written into a
//! [`LoadedComponent`]; its [`contributor`](LoadedComponent::contributor) asks the component once what it
//! declares, and is then a [`Contributor`](crate::contract::Contributor) like any other.
//!
//! A component that imports nothing is called on the thread of whoever asks. One that imports WASI can wait in the
//! host, so it is called in a worker process, which can be ended ([`Isolation`]); components are compiled there too.
//! What it sees of its host is what it is granted ([`Grants`]).
//!
//! What bounds a call: every `declare` and every `resolve` runs in a store and an instance of its own,
//! which are dropped with the answer. Nothing a guest does survives its call, a trap included. The
//! limits of [`Limits`] hold in all of a call's instances together; time is watched by a thread of the
//! sandbox's own ([`epoch`](self)), which needs no runtime.
//!
//! Nothing here knows where a file came from or what else is registered.

mod allocation;
mod cache;
mod call;
mod callable;
mod compile;
mod componentize;
mod contract;
mod contributor;
mod engine;
mod epoch;
mod failure;
mod features;
mod grants;
mod guarded;
mod hasher;
mod inspect;
mod limits;
mod loaded;
mod log;
mod meter;
mod offered;
mod runner;
mod survey;
#[cfg(target_os = "linux")]
mod worker;
mod world;

pub use allocation::Allocation;
pub use cache::{CacheFolder, CacheInfo, Cleared, DEFAULT_CACHE_BYTES};
pub use contributor::SandboxedContributor;
pub use engine::{Isolation, Sandbox, SandboxOptions};
pub use grants::{Extensions, Grants, Settings, Workspace, WorkspaceKind};
pub use guarded::GUARDED_THREAD;
pub use inspect::{Import, Inspection, imports, inspect};
pub use limits::Limits;
pub use loaded::LoadedComponent;
pub use log::ContributorLog;
#[cfg(target_os = "linux")]
pub use worker::{Confinement, Landlock, WORKER_ARGUMENT, WorkerProgram, serve as serve_worker};

/// The most bytes of a component file. An interpreter with its library has 20 MB; what is larger is
/// refused unread.
pub const MAX_COMPONENT_BYTES: usize = 64 * 1024 * 1024;
