//! What threads agree by, in those files that `models` tries in every order there is: there, these names are
//! those of a model checker.

#[cfg(feature = "wasm")]
pub(crate) use std::sync::atomic::AtomicUsize;
pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, PoisonError};
#[cfg(feature = "wasm")]
pub(crate) use std::thread::{Thread, park};
