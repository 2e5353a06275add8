//! The model checker's, by the names of `host/src/sync.rs`.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use loom::sync::{Arc, Condvar, Mutex};
pub(crate) use loom::thread::{Thread, park};
pub(crate) use std::sync::PoisonError;
