//! The server that runs for a home, as other commands use it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use dsh_env::client::Client;
use dsh_env::contract::Execution;
use dsh_env::environment::Managed;
use dsh_env::protocol::{MAX_DEADLINE, admin_socket, collect_socket};
use dsh_env::server::Role;
use dsh_env::text::shown;
use dsh_env::{Code, Error, Host};

use super::arguments::{HostFlags, PlaceFlags, ServerFlags, UseServer};
use super::{composition, failure};

/// How long a server may take for everything but what it is asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// Connects to the server that the flags choose; nothing where the caller does the work itself.
pub(crate) fn connect(place: &PlaceFlags, flags: &ServerFlags, role: Role) -> Result<Option<Client>> {
    if flags.server == UseServer::Never {
        return Ok(None);
    }
    let socket = match &flags.socket {
        Some(socket) => socket.clone(),
        None => default_socket(place, role)?,
    };
    let client = Client::connect(&socket, PATIENCE)?;
    if client.is_none() && (flags.socket.is_some() || flags.server == UseServer::Always) {
        let message = format!(
            "no server answers on {}: start dsh-env serve, or leave the flag out",
            shown(&socket.display().to_string())
        );
        return Err(Error::host(Code::ServerUnavailable, message).into());
    }
    Ok(client)
}

/// Connects to the operator's socket of the server, for what a server alone knows.
pub(crate) fn required(place: &PlaceFlags, flags: &ServerFlags) -> Result<Client> {
    connect(place, flags, Role::Admin)?.ok_or_else(|| {
        let message = "only a server knows that, and none is asked: start dsh-env serve, or leave --server never out";
        Error::host(Code::ServerUnavailable, message).into()
    })
}

/// The variables of an execution by the server that runs; nothing where the caller is to collect them itself, as
/// where it names components that no server has.
pub(crate) fn collect(host: &HostFlags, flags: &ServerFlags, execution: &Execution) -> Result<Option<Managed>> {
    if !host.contributors.is_empty() {
        if flags.socket.is_some() || flags.server == UseServer::Always {
            return Err(failure::usage(
                "a server knows no component that --contributor names: leave one of the two out",
            ));
        }
        return Ok(None);
    }
    let Some(mut client) = connect(&host.place, flags, Role::Collect)? else { return Ok(None) };
    let result = client.collect(execution, MAX_DEADLINE)?;
    let pairs = result.env.0.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    Ok(Some(Managed::new(pairs, result.sensitive.iter().map(String::as_str))?))
}

/// The variables of an execution: from the server that runs, else from a host of this process, which is gone with
/// its worker processes when this returns.
pub(crate) fn managed(host: &HostFlags, flags: &ServerFlags, execution: &Execution) -> Result<Managed> {
    match collect(host, flags, execution)? {
        Some(managed) => Ok(managed),
        None => Ok(Managed::from(&composition::host(host)?.registry().collect(execution)?)),
    }
}

fn default_socket(place: &PlaceFlags, role: Role) -> Result<PathBuf> {
    let state = Host::state_folder(&composition::place(place))?;
    Ok(match role {
        Role::Collect => collect_socket(&state),
        Role::Admin => admin_socket(&state),
    })
}
