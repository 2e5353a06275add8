//! Everything over real sockets, as those see it who scrape and collect.

mod document;
mod endpoint;
mod metrics;
mod protobuf;
mod receiver;
mod support;
mod traces;
