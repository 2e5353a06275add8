//! Decides what a shell command may know about its surroundings.
//!
//! For every single execution a [`Registry`](registry::Registry) asks its contributors what is true now
//! and makes an immutable [`Overlay`](registry::Overlay) of `DSH_*` variables;
//! [`ChildEnvironment`](environment::ChildEnvironment) removes every inherited `DSH_*` and merges the overlay
//! last. A value that is missing is absent, never stale, and the process's own environment never changes.
//!
//! A contributor is a trait with two methods. A harness registers its own:
//!
//! ```
//! use dsh_env::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure};
//! use dsh_env::home::Home;
//! use dsh_env::registry::Registry;
//!
//! struct Branch;
//!
//! impl Contributor for Branch {
//!     fn declare(&self) -> Declaration {
//!         Declaration::new("branch").variable("DSH_BRANCH", "The branch that the agent works on.")
//!     }
//!     fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
//!         Ok(vec![Binding::new("DSH_BRANCH", "main")])
//!     }
//! }
//!
//! # fn main() -> dsh_env::Result<()> {
//! let registry = Registry::new(&Home::resolve(None)?);
//! let _branch = registry.register(Branch)?;
//! let overlay = registry.collect(&Execution::new("bash"))?;
//! assert_eq!(overlay.get("DSH_BRANCH").map(|entry| entry.value.expose()), Some("main"));
//! # Ok(())
//! # }
//! ```
//!
//! The feature `sessions` adds the logs of sessions (`sqlite`: also in a database), `harness` the executor,
//! tools, hooks and the loop (`openai`: also a client for real models).
//! With the feature `wasm` there is a `Host`, which loads contributors that are sandboxed WebAssembly
//! components; `cli` adds what the `dsh-env` command needs. Whole programs are in the package's `examples`.
//!
//! | module | owns |
//! | --- | --- |
//! | [`text`], [`file`](mod@file), errors | text and files that came from somebody else; stages, codes, messages |
//! | [`contract`] | the contract with contributors as types: keys, declarations, executions |
//! | [`home`] | where the host lives, and who may write there |
//! | [`registry`] | who may say what, and what they say: registrations, collections, overlays |
//! | `sandbox` | one component: inspect, compile, limit, call |
//! | [`sessions`] | where sessions are kept |
//! | [`activity`] | how many collections there are, how fast, and who is slow or fails |
//! | [`calls`] | what recent collections did, without values |
//! | [`session_persistence`] | the built-in contributor that tells a command where its session's log is |
//! | [`environment`] | the environment of a child, and shells without start-up files |
//! | `executor` | commands: started, bounded in time and output, ended with their host |
//! | `tools` | the shell tools that a model is shown, and what it is told of a result |
//! | `hooks` | users' hooks in the dialects of Claude Code and Codex |
//! | `skills` | the skills in the home |
//! | `agent` | the loop: a model, its tools, a session |
//! | [`facts`] | what a host finds out of the world outside of any call |
//! | `installation` | the home's folder of contributors and its configuration |
//! | [`operations`] | what an operator sees of a host and does to it |
//! | `protocol` | what a server and its clients say to each other |
//! | `server` | sockets on which one asks a host for overlays, and operates it |
//! | `client` | asking a server that runs, cheaply |
//! | `telemetry` | metrics, traces and health for those who watch many hosts |
//! | `host` | the managed environment, composed |
//! | `harness` | all of it composed |
//!
//! From the bottom up: a module knows those above it in the table, and none below.

pub mod activity;
#[cfg(feature = "harness")]
pub mod agent;
pub mod calls;
#[cfg(feature = "serve")]
pub mod client;
pub mod contract;
pub mod environment;
mod error;
#[cfg(feature = "harness")]
pub mod executor;
pub mod facts;
pub mod file;
#[cfg(all(feature = "harness", feature = "wasm"))]
mod harness;
pub mod home;
#[cfg(feature = "harness")]
pub mod hooks;
#[cfg(feature = "wasm")]
mod host;
#[cfg(feature = "wasm")]
pub mod installation;
pub mod operations;
#[cfg(feature = "serve")]
pub mod protocol;
pub mod registry;
#[cfg(feature = "wasm")]
pub mod sandbox;
#[cfg(feature = "serve")]
pub mod server;
pub mod session_persistence;
pub mod sessions;
#[cfg(feature = "harness")]
pub mod skills;
mod sync;
#[cfg(feature = "telemetry")]
pub mod telemetry;
pub mod text;
#[cfg(feature = "harness")]
pub mod tools;

pub use error::{Code, Error, Result, Stage};
#[cfg(all(feature = "harness", feature = "wasm"))]
pub use harness::{Harness, HarnessOptions, SessionStart};
#[cfg(feature = "wasm")]
pub use host::{Host, HostOptions, HostedContributor};
#[cfg(all(feature = "wasm", feature = "serve"))]
pub use host::{ServingHost, Watcher};
