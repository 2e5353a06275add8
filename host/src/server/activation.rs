//! Sockets that somebody else made and handed over when they started this process, as systemd does.

use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::sockopt::{socket_acceptconn, socket_domain, socket_type};
use rustix::net::{AddressFamily, SocketType};

use super::role::Role;
use crate::error::{Code, Error, Result};
use crate::text::shown_within;

/// The first descriptor that is handed over.
const FIRST: RawFd = 3;

/// The most bytes of a name in an error.
const MAX_NAME_BYTES: usize = 64;

/// Sockets that listen already. Those that are not here, a server makes itself.
#[derive(Debug, Default)]
pub struct Listeners {
    /// For whoever starts commands.
    pub collect: Option<OwnedFd>,
    /// For the operator.
    pub admin: Option<OwnedFd>,
}

/// What the environment says of sockets that were handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activation {
    /// `LISTEN_PID`: the process that they are for.
    pub pid: Option<String>,
    /// `LISTEN_FDS`: how many there are.
    pub fds: Option<String>,
    /// `LISTEN_FDNAMES`: what each is called, with `:` between them.
    pub names: Option<String>,
}

impl Activation {
    /// What this process's environment says.
    #[must_use]
    pub fn from_environment() -> Self {
        let text = |name| std::env::var(name).ok();
        Self { pid: text("LISTEN_PID"), fds: text("LISTEN_FDS"), names: text("LISTEN_FDNAMES") }
    }

    /// Which descriptors are for which role, in a process of this id: none where the environment is meant for
    /// another. Names are `collect` and `admin`; without names the first is `collect`, the second `admin`.
    ///
    /// # Errors
    /// `invalid-configuration` for what this server does not have.
    pub fn assigned(&self, process: u32) -> Result<Vec<(Role, RawFd)>> {
        if self.pid.as_deref().and_then(|pid| pid.parse().ok()) != Some(process) {
            return Ok(Vec::new());
        }
        let Some(count) = &self.fds else { return Ok(Vec::new()) };
        let count: usize = count.parse().map_err(|_| wrong("LISTEN_FDS is not a number"))?;
        if count > Role::ALL.len() {
            return Err(wrong(format!("{count} sockets were handed over, and this server has {}", Role::ALL.len())));
        }
        let roles = match self.names.as_deref() {
            None | Some("") => Role::ALL.into_iter().take(count).collect(),
            Some(names) => named(names, count)?,
        };
        Ok(roles.into_iter().zip(FIRST..).collect())
    }

    /// Takes the sockets that are for this process. They can be taken once: asked again, there are none.
    ///
    /// # Errors
    /// As [`assigned`](Self::assigned), and for what is not a Unix stream socket that listens.
    pub fn take(&self) -> Result<Listeners> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let assigned = self.assigned(std::process::id())?;
        let mut listeners = Listeners::default();
        if assigned.is_empty() || TAKEN.swap(true, Ordering::AcqRel) {
            return Ok(listeners);
        }
        for (role, number) in assigned {
            #[expect(unsafe_code, reason = "what is handed over is known by its number alone")]
            // SAFETY: whoever started this process put the descriptor there for it, by its process id, so that
            // nothing in it can have opened one of that number; and it is taken once in the life of the process. A
            // number that is not open at all is found below, before anything is done with it.
            let socket = unsafe { OwnedFd::from_raw_fd(number) };
            fcntl_setfd(&socket, FdFlags::CLOEXEC).map_err(|error| wrong(format!("descriptor {number}: {error}")))?;
            listeners.put(role, socket);
        }
        Ok(listeners)
    }
}

impl Listeners {
    fn put(&mut self, role: Role, socket: OwnedFd) {
        match role {
            Role::Collect => self.collect = Some(socket),
            Role::Admin => self.admin = Some(socket),
        }
    }

    /// Takes the socket of a role.
    pub(super) fn of(&mut self, role: Role) -> Result<Option<std::os::unix::net::UnixListener>> {
        let socket = match role {
            Role::Collect => self.collect.take(),
            Role::Admin => self.admin.take(),
        };
        let Some(socket) = socket else { return Ok(None) };
        let is_right = socket_domain(socket.as_fd()) == Ok(AddressFamily::UNIX)
            && socket_type(socket.as_fd()) == Ok(SocketType::STREAM)
            && socket_acceptconn(socket.as_fd()) == Ok(true);
        if !is_right {
            let role = role.as_str();
            return Err(wrong(format!("what was handed over as {role} is not a Unix stream socket that listens")));
        }
        let listener = std::os::unix::net::UnixListener::from(socket);
        listener.set_nonblocking(true).map_err(|error| wrong(format!("a socket cannot be used ({error})")))?;
        Ok(Some(listener))
    }
}

fn named(names: &str, count: usize) -> Result<Vec<Role>> {
    let mut roles = Vec::new();
    for name in names.split(':') {
        let role = Role::ALL.into_iter().find(|role| role.as_str() == name).ok_or_else(|| {
            let name = shown_within(name, MAX_NAME_BYTES);
            wrong(format!("a socket was handed over as \"{name}\": name it collect or admin (FileDescriptorName=)"))
        })?;
        if roles.contains(&role) {
            return Err(wrong(format!(
                "two sockets were handed over as {}: name one of them otherwise",
                role.as_str()
            )));
        }
        roles.push(role);
    }
    if roles.len() != count {
        return Err(wrong(format!("{count} sockets were handed over with {} names", roles.len())));
    }
    Ok(roles)
}

fn wrong(why: impl Into<String>) -> Error {
    let why = why.into();
    Error::host(Code::InvalidConfiguration, format!("{why}: look at the units of the sockets"))
}
