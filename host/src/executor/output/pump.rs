//! Reading a pipe: until its end, or until nothing more is to be expected of it.

use std::sync::Arc;

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::spill::SpillFolder;
use super::stream::{Recorder, Stream};
use crate::executor::limits::{OUTPUT_GRACE, QUIET};

/// As much as a pipe holds.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads a pipe to its end. Once `exited` says that the command is gone, or that nobody knows any more, what the
/// pipe holds at that moment is read, which is all that the command itself wrote; then whatever comes until it is
/// quiet, for a while.
pub(in crate::executor) async fn pump(
    mut pipe: Receiver,
    stream: Arc<Stream>,
    folder: Arc<SpillFolder>,
    mut exited: oneshot::Receiver<()>,
) {
    let mut recorder = Recorder::new(stream, folder);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = tokio::select! {
            read = pipe.read(&mut buffer) => read,
            _ = &mut exited => break,
        };
        match read {
            Ok(0) | Err(_) => return,
            Ok(read) => buffer = recorder.record(buffer, read).await,
        }
    }
    let mut left = rustix::io::ioctl_fionread(&pipe).unwrap_or(0);
    let deadline = Instant::now() + OUTPUT_GRACE;
    loop {
        let read = if left > 0 {
            pipe.read(&mut buffer).await
        } else {
            // Asked for, because what can be read at once is never too late for a timeout.
            if Instant::now() >= deadline {
                return;
            }
            let next = timeout(QUIET, pipe.read(&mut buffer));
            match timeout_at(deadline, next).await {
                Ok(Ok(read)) => read,
                _ => return,
            }
        };
        match read {
            Ok(0) | Err(_) => return,
            Ok(read) => {
                left = left.saturating_sub(read as u64);
                buffer = recorder.record(buffer, read).await;
            }
        }
    }
}
