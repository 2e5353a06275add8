//! Decides what a shell command may know about its surroundings.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod contract;
pub mod environment;
mod error;
pub mod home;
pub mod registry;
pub mod session_persistence;
pub mod sessions;
pub mod text;

pub use error::{Code, Error, Result, Stage};

#[cfg(feature = "wasm")]
pub mod sandbox;
