//! What a host and its keeper say to each other.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use crate::executor::command::Spec;

/// What a host asks for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Start a command. Beside it go four descriptors: the command as [`pack`] writes it, and its three streams.
    Start {
        /// What it is called from now on; never used again.
        id: u64,
        /// How many arguments it has.
        arguments: usize,
    },
    /// End a command's process group: SIGTERM, a grace, SIGKILL. One that has ended is no mistake.
    End { id: u64, grace: Duration },
    /// Say [`Pong`](Reply::Pong).
    Ping,
}

/// What a keeper tells.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It has begun. Once, first.
    Ready { version: String },
    /// A command runs, as this process.
    Started { id: u64, pid: i32 },
    /// A command was not started, with the system's number for why.
    Failed { id: u64, errno: i32 },
    /// A command has ended, with the status as the kernel has it.
    Exited { id: u64, status: i32, ended_by: Option<i32> },
    /// A command has ended, and how is not known.
    Lost { id: u64, why: String },
    /// It is there, and has done what it was asked for before [`Ping`](Request::Ping).
    Pong,
}

/// Writes a command to a file in memory, since an environment may be larger than a message: program, directory,
/// arguments, and names and values in turn, each with a NUL after it, which none of them has in it.
pub(super) fn pack(spec: &Spec) -> io::Result<OwnedFd> {
    let mut bytes = Vec::new();
    let mut push = |text: &OsStr| {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    };
    push(&spec.program);
    push(spec.workdir.as_os_str());
    spec.arguments.iter().for_each(|argument| push(argument));
    for (name, value) in &spec.environment {
        push(name);
        push(value);
    }
    let mut file = File::from(memfd_create("dsh-env-command", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    Ok(file.into())
}

/// Reads what [`pack`] wrote.
pub(super) fn unpack(file: OwnedFd, arguments: usize) -> io::Result<Spec> {
    let mut file = File::from(file);
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    // After the last NUL there is nothing.
    bytes.pop();
    let mut texts = bytes.split(|&byte| byte == 0).map(|text| OsString::from_vec(text.to_vec()));
    let missing = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let program = texts.next().ok_or_else(missing)?;
    let workdir = texts.next().ok_or_else(missing)?.into();
    let arguments = texts.by_ref().take(arguments).collect();
    let mut environment = Vec::new();
    while let Some(name) = texts.next() {
        environment.push((name, texts.next().ok_or_else(missing)?));
    }
    Ok(Spec { program, arguments, workdir, environment })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_unpacked_as_it_was_packed() {
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let spec = Spec {
            program: text(b"/bin/\xff"),
            arguments: vec![text(b""), text(b"-c"), text(b"a\nb")],
            workdir: "/".into(),
            environment: vec![(text(b"A"), text(b"")), (text(b"B"), text(b"x=\xfe")), (text(b"C"), text(b""))],
        };
        assert!(unpack(pack(&spec).unwrap(), 3).unwrap() == spec);
        let least = Spec { program: text(b""), arguments: Vec::new(), workdir: "/".into(), environment: Vec::new() };
        assert!(unpack(pack(&least).unwrap(), 0).unwrap() == least);
    }
}
