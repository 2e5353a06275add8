//! Against real sockets and servers that do as they are told.

mod collecting;
mod connecting;
mod misbehaving;
mod odd;
mod operating;
mod support;
