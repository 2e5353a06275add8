//! One component: inspect, compile, limit, call.

mod limits;

pub use limits::Limits;
