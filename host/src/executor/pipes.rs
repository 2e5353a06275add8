//! The pipes between a host and a command.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;

use super::command::Input;
use super::spawn::Streams;

/// The pipes of a command.
pub(super) struct Pipes {
    pub(super) ours: Ends,
    pub(super) theirs: Streams,
}

/// The host's ends of them.
pub(super) struct Ends {
    pub(super) stdin: Option<pipe::Sender>,
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

impl Pipes {
    pub(super) fn open(input: &Input) -> io::Result<Self> {
        let (stdin, feeding) = match input {
            Input::Null => (OwnedFd::from(File::open("/dev/null")?), None),
            Input::Bytes(_) => {
                let (reader, writer) = io::pipe()?;
                (OwnedFd::from(reader), Some(pipe::Sender::from_owned_fd(writer.into())?))
            }
        };
        let (stdout_reader, stdout) = io::pipe()?;
        let (stderr_reader, stderr) = io::pipe()?;
        Ok(Self {
            ours: Ends {
                stdin: feeding,
                stdout: pipe::Receiver::from_owned_fd(stdout_reader.into())?,
                stderr: pipe::Receiver::from_owned_fd(stderr_reader.into())?,
            },
            theirs: Streams { stdin, stdout: stdout.into(), stderr: stderr.into() },
        })
    }
}

/// Writes to a pipe and closes it. That nobody reads is the command's own affair.
pub(super) async fn feed(pipe: Option<pipe::Sender>, input: &[u8]) -> Infallible {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
    std::future::pending().await
}
