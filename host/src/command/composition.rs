//! Making a host and an execution of the flags that commands share.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use dsh_env::contract::{Execution, SessionHeader, SessionId};
use dsh_env::home::normalise;
use dsh_env::installation::{read_grants, read_text};
use dsh_env::sandbox::{Grants, Isolation};
use dsh_env::text::shown;
use dsh_env::{Code, Error, Host, HostOptions};

use serde::Deserialize as _;

use super::arguments::{BackendFlag, CompressionFlag, ExecutionFlags, GrantFlags, HostFlags, PlaceFlags};
use super::{failure, output};

/// The most bytes of an execution record or a script: far more than a valid one has.
const MAX_SOURCE_BYTES: usize = 16 * 1024 * 1024;

/// Opens the host that the flags describe, and tells people what is amiss with it.
pub(crate) fn host(flags: &HostFlags) -> Result<Host> {
    let host = Host::open(&options(flags)?)?;
    for warning in host.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    Ok(host)
}

/// The host that the flags describe.
pub(crate) fn options(flags: &HostFlags) -> Result<HostOptions> {
    let options = place(&flags.place).isolation(Isolation::of_this_program());
    if flags.contributors.is_empty() && !flags.grants.grants.is_empty() {
        return Err(failure::usage(
            "--grant is for components that --contributor names: name one, or grant installed ones in dsh-env.toml",
        ));
    }
    Ok(options.contributors(&flags.contributors).grants(grants(&flags.grants)?))
}

/// The same with the sessions where the flags say, instead of where it is configured.
pub(crate) fn sessions(
    mut options: HostOptions,
    root: Option<&str>,
    backend: Option<BackendFlag>,
    compression: Option<CompressionFlag>,
) -> HostOptions {
    if let Some(root) = root {
        options = options.sessions_root(root);
    }
    if let Some(backend) = backend {
        options = options.sessions_backend(backend.into());
    }
    if let Some(compression) = compression {
        options = options.sessions_compression(compression.into());
    }
    options
}

/// A host that lives where the flags say.
pub(crate) fn place(flags: &PlaceFlags) -> HostOptions {
    let mut options = HostOptions::new();
    if let Some(home) = &flags.home {
        options = options.home(home);
    }
    if let Some(folder) = &flags.state_dir {
        options = options.state_dir(folder);
    }
    options
}

/// What the flags grant.
pub(crate) fn grants(flags: &GrantFlags) -> Result<Grants> {
    Ok(read_grants(flags.grants.iter().map(String::as_str))?)
}

/// The execution that the flags describe. Without a record it is a call of the tool `exec` in the current
/// directory, which no agent owns unless a session is named.
pub(crate) fn execution(flags: &ExecutionFlags) -> Result<Execution> {
    from_flags(flags, Execution::new("exec"))
}

/// As [`execution`], for trying a component: a call of `bash` that an agent owns.
pub(crate) fn sample_execution(flags: &ExecutionFlags) -> Result<Execution> {
    let mut header = SessionHeader::new(SessionId::new("sample-session")?);
    header.created_at = Some(0);
    header.cwd = current_dir();
    header.delegation_depth = Some(0);
    from_flags(flags, Execution::new("bash").owned_by(header))
}

fn from_flags(flags: &ExecutionFlags, default: Execution) -> Result<Execution> {
    let mut execution = match &flags.execution {
        Some(source) => completed(read_execution(source)?, default),
        None => Execution { workdir: current_dir(), ..default },
    };
    if let Some(id) = &flags.session_id {
        let id = SessionId::new(id)?;
        let header = execution.agent.take().map(|agent| agent.session);
        execution = execution.owned_by(match header {
            Some(header) => SessionHeader { id, ..header },
            None => SessionHeader::new(id),
        });
    }
    if let Some(cwd) = &flags.session_cwd {
        let Some(agent) = &mut execution.agent else {
            return Err(failure::usage("--session-cwd needs a session: give --session-id too"));
        };
        agent.session.cwd = Some(cwd.clone());
    }
    if let Some(workdir) = &flags.workdir {
        execution.workdir = absolute(workdir)?.into_os_string().into_string().ok();
    }
    execution.check()?;
    Ok(execution)
}

/// A record with what identifies a call filled in where it was left out.
fn completed(mut record: Execution, default: Execution) -> Execution {
    if record.call_id.is_empty() {
        record.call_id = default.call_id;
    }
    if record.root_call_id.is_empty() {
        record.root_call_id.clone_from(&record.call_id);
    }
    if record.tool.is_empty() {
        record.tool = default.tool;
    }
    record
}

/// The directory in which a command is to run, if the flags name one: absolute.
pub(crate) fn workdir(flags: &ExecutionFlags, execution: &Execution) -> Result<Option<PathBuf>> {
    match (&flags.workdir, &flags.execution) {
        (Some(workdir), _) => absolute(workdir).map(Some),
        (None, Some(_)) => Ok(execution.workdir.as_ref().map(PathBuf::from)),
        (None, None) => Ok(None),
    }
}

/// Reads an execution record from a file, or from standard input for `-`.
pub(crate) fn read_execution(source: &Path) -> Result<Execution> {
    let text = read_source(source).map_err(|why| invalid(source, &why))?;
    // By way of an object, since a record would otherwise be read from an array too, by position.
    let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text);
    let record = object.and_then(|object| Execution::deserialize(serde_json::Value::Object(object)));
    record.map_err(|error| invalid(source, &error.to_string()).into())
}

/// Reads a script from a file, or from standard input for `-`.
pub(crate) fn read_script(source: &Path) -> Result<String> {
    let unusable = |why: String| {
        let message = format!("the script from {} cannot be used: {}", source_name(source), shown(&why));
        Error::host(Code::InvalidConfiguration, message)
    };
    Ok(read_source(source).map_err(unusable)?)
}

/// Reads a file, or standard input for `-`, up to a bound.
fn read_source(source: &Path) -> std::result::Result<String, String> {
    if source != Path::new("-") {
        return read_text(source, MAX_SOURCE_BYTES).map_err(|fault| fault.to_string());
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_SOURCE_BYTES as u64).read_to_string(&mut text);
    read.map(|_| text).map_err(|error| error.to_string())
}

fn source_name(source: &Path) -> String {
    if source == Path::new("-") { "standard input".to_owned() } else { shown(&source.display().to_string()) }
}

fn invalid(source: &Path, why: &str) -> Error {
    let message = format!("the execution record from {} cannot be used: {}", source_name(source), shown(why));
    Error::host(Code::InvalidExecution, message)
}

fn current_dir() -> Option<String> {
    std::env::current_dir().ok()?.into_os_string().into_string().ok()
}

/// A path made absolute and normalised lexically.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    let current = std::env::current_dir().ok();
    normalise(path, current.as_deref())
        .ok_or_else(|| failure::usage("the current directory is not known: give an absolute --workdir"))
}
