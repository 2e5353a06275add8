//! What threads agree by without a lock, or around one, tried in every order that they could do it in.
//!
//! The files are the host's own, included as they are; only `sync` is another here. A thread that is never woken
//! is a deadlock, which the checker finds by itself: so most of what follows just has to end.
#![cfg(test)]

#[path = "../../host/src/contract/cancellation.rs"]
mod cancellation;
#[path = "../../host/src/sandbox/epoch/handshake.rs"]
mod handshake;
mod sync;

mod giving_up;
mod ticking;
