//! Telling whoever started a server how it is, as systemd wants to know it (`sd_notify`).

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;

use rustix::time::{ClockId, clock_gettime};

/// Where notes go; the default goes nowhere. A note that cannot be sent harms nothing.
#[derive(Clone, Debug, Default)]
pub struct Notifier {
    address: Option<OsString>,
}

impl Notifier {
    /// Sends notes to the socket that the variable `NOTIFY_SOCKET` names: a path, or `@` and an abstract name.
    #[must_use]
    pub fn to(address: Option<OsString>) -> Self {
        Self { address: address.filter(|address| !address.is_empty()) }
    }

    /// It serves.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// It reads its configuration again; [`ready`](Self::ready) when that is done.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000;
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// It ends.
    pub fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// How it is, in one line for people.
    pub fn status(&self, status: &str) {
        self.send(&format!("STATUS={}", crate::text::shown(status)));
    }

    fn send(&self, note: &str) {
        if let Err(error) = self.try_send(note) {
            tracing::debug!(%error, "nobody could be notified");
        }
    }

    fn try_send(&self, note: &str) -> io::Result<()> {
        let Some(address) = &self.address else { return Ok(()) };
        let socket = UnixDatagram::unbound()?;
        // Whoever does not read must not hold up a host.
        socket.set_nonblocking(true)?;
        let address = match address.as_bytes().strip_prefix(b"@") {
            Some(name) => abstract_address(name)?,
            None => SocketAddr::from_pathname(PathBuf::from(address))?,
        };
        socket.send_to_addr(note.as_bytes(), &address).map(drop)
    }
}

#[cfg(target_os = "linux")]
fn abstract_address(name: &[u8]) -> io::Result<SocketAddr> {
    <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name)
}

#[cfg(not(target_os = "linux"))]
fn abstract_address(_: &[u8]) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}
