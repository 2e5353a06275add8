//! Who does what the operator asks for.

use anyhow::Result;
use dsh_env::client::Client;
use dsh_env::operations::ContributorStatus;
use dsh_env::protocol::{ApproveParameters, LogResult, Method, NameParameters, RollbackParameters};
use dsh_env::sandbox::Isolation;
use dsh_env::server::Role;
use dsh_env::text::shown_within;
use dsh_env::{Code, Error, Host};
use serde::Serialize;
use serde_json::Value;

use crate::command::arguments::OperatorFlags;
use crate::command::server::{connect, required};
use crate::command::{composition, failure};

/// The least digits of a digest that are taken for all of it.
const LEAST_DIGITS: usize = 8;

/// A server, or the home as this process sees it.
pub(super) enum Operator {
    Server(Client),
    Here(Host),
}

/// The home as this process sees it: for what changes files.
pub(super) fn host(flags: &OperatorFlags) -> Result<Host> {
    Ok(Host::open(&composition::place(&flags.place).isolation(Isolation::of_this_program()))?)
}

/// Lets a server that runs take over what was changed in the home, before anybody relies on it; its status is then
/// the one that counts.
pub(super) fn nudge(flags: &OperatorFlags, status: &ContributorStatus) -> Result<Value> {
    let Some(mut client) = connect(&flags.place, &flags.server, Role::Admin)? else {
        return Ok(serde_json::to_value(status)?);
    };
    match client.call(Method::Reload, Some(&NameParameters { name: status.name.clone() })) {
        // One that was removed may be gone there already.
        Err(error) if error.code() == Code::ContributorNotFound => Ok(serde_json::to_value(status)?),
        answer => Ok(answer?),
    }
}

/// What a contributor wrote lately.
pub(super) fn log(flags: &OperatorFlags, name: &str) -> Result<String> {
    Ok(serde_json::from_value::<LogResult>(call(&mut required(&flags.place, &flags.server)?, Method::Log, name)?)?.text)
}

impl Operator {
    pub(super) fn of(flags: &OperatorFlags) -> Result<Self> {
        Ok(match connect(&flags.place, &flags.server, Role::Admin)? {
            Some(client) => Self::Server(client),
            None => Self::Here(host(flags)?),
        })
    }

    pub(super) fn statuses(&mut self) -> Result<Vec<Value>> {
        let statuses = match self {
            Self::Server(client) => client.call(Method::Status, None::<&()>)?,
            Self::Here(host) => serde_json::to_value(host.statuses())?,
        };
        match statuses {
            Value::Array(statuses) => Ok(statuses),
            _ => Err(Error::host(Code::ServerUnavailable, "the server's answer is no list: start it again").into()),
        }
    }

    pub(super) fn approve(&mut self, name: &str, digest: &str) -> Result<Value> {
        match self {
            Self::Server(client) => {
                let parameters = ApproveParameters { name: name.to_owned(), digest: digest.to_owned() };
                Ok(client.call(Method::Approve, Some(&parameters))?)
            }
            Self::Here(host) => as_value(host.approve(name, digest)),
        }
    }

    pub(super) fn rollback(&mut self, name: &str, to: Option<&str>) -> Result<Value> {
        match self {
            Self::Server(client) => {
                let parameters = RollbackParameters { name: name.to_owned(), to: to.map(str::to_owned) };
                Ok(client.call(Method::Rollback, Some(&parameters))?)
            }
            Self::Here(host) => as_value(host.roll_back(name, to)),
        }
    }

    pub(super) fn forget(&mut self, name: &str) -> Result<Value> {
        match self {
            Self::Server(client) => call(client, Method::Forget, name),
            Self::Here(host) => as_value(host.forget(name)),
        }
    }

    pub(super) fn reload(&mut self, name: &str) -> Result<Value> {
        match self {
            Self::Server(client) => call(client, Method::Reload, name),
            Self::Here(host) => as_value(host.reload(name)),
        }
    }

    /// The digest that begins so, among the builds of a contributor.
    pub(super) fn whole_digest(&mut self, name: &str, beginning: &str) -> Result<String> {
        if beginning.len() < LEAST_DIGITS {
            return Err(failure::usage(format!(
                "a digest, or at least its first {LEAST_DIGITS} digits, has to be given: dsh-env status --json shows them"
            )));
        }
        let statuses = self.statuses()?;
        let status = statuses.iter().filter(|status| status.get("name").and_then(Value::as_str) == Some(name));
        let mut digests: Vec<_> = status
            .flat_map(|status| {
                let previous = status.get("previous").and_then(Value::as_array).into_iter().flatten();
                [status.get("digest"), status.get("candidate")].into_iter().flatten().chain(previous)
            })
            .filter_map(Value::as_str)
            .filter(|digest| digest.starts_with(beginning))
            .collect();
        digests.sort_unstable();
        digests.dedup();
        match digests.as_slice() {
            [digest] => Ok((*digest).to_owned()),
            // Whoever does it says what is wrong.
            [] => Ok(beginning.to_owned()),
            _ => Err(failure::usage(format!(
                "more than one build begins with {}: give more digits",
                shown_within(beginning, 64)
            ))),
        }
    }
}

fn call(client: &mut Client, method: Method, name: &str) -> Result<Value> {
    Ok(client.call(method, Some(&NameParameters { name: name.to_owned() }))?)
}

fn as_value(status: dsh_env::Result<impl Serialize>) -> Result<Value> {
    Ok(serde_json::to_value(status?)?)
}
