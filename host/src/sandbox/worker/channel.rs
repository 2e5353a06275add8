//! The socket between a host and a worker: frames of bounded size, and descriptors beside them.
//!
//! A frame is its length, four bytes with the least significant first, and so many bytes of JSON. A
//! descriptor goes with the first byte of its frame.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::text::shown;

/// The most bytes of a frame. The largest is an answer of 64 MiB, the ceiling of `output`; what it needs beyond
/// that in JSON is taken from a guest that returns control characters by the tens of megabytes.
const MAX_FRAME_BYTES: usize = 128 * 1024 * 1024;

/// The most descriptors beside a frame: three directories of a workspace.
const MAX_DESCRIPTORS: usize = 4;

/// How long the host waits before it looks again whether anybody still waits for it.
const PATIENCE: Duration = Duration::from_millis(10);

/// One end of the socket.
#[derive(Debug)]
pub(super) struct Channel {
    socket: OwnedFd,
}

/// Why nothing came.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The other end is closed.
    #[error("the other end is gone")]
    Gone,
    /// Nothing came in time.
    #[error("nothing came in time")]
    Late,
    /// What came makes no sense.
    #[error("what came is no frame of this protocol: {}", shown(.0))]
    Garbled(String),
    #[error(transparent)]
    System(#[from] Errno),
}

/// Until when to wait.
pub(super) enum Until<'a> {
    /// For ever: a worker waits for its host.
    Ever,
    /// So long, and as long as `wanted` says so.
    At(Instant, &'a dyn Fn() -> bool),
}

impl Channel {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket }
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends a frame and descriptors.
    pub(super) fn send(
        &self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
        until: &Until<'_>,
    ) -> Result<(), Fault> {
        let mut frame = vec![0; 4];
        serde_json::to_writer(&mut frame, message).map_err(|error| Fault::Garbled(error.to_string()))?;
        let length = u32::try_from(frame.len() - 4).map_err(|_| Fault::Garbled("a frame is too long".to_owned()))?;
        if let Some(head) = frame.first_chunk_mut() {
            *head = length.to_le_bytes();
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Fault::Garbled("too many descriptors".to_owned()));
        }
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            let sent =
                sendmsg(&self.socket, &[IoSlice::new(rest)], &mut beside, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            match sent {
                Ok(sent) => {
                    rest = rest.get(sent..).unwrap_or_default();
                    beside.clear();
                }
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT, until)?,
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(Fault::Gone),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Receives a frame from a worker; descriptors beside it are closed by the kernel.
    pub(super) fn receive<T: DeserializeOwned>(&self, until: &Until<'_>) -> Result<T, Fault> {
        self.receive_frame(None, until)
    }

    /// Receives a frame from the host, and the descriptors beside it.
    pub(super) fn receive_all<T: DeserializeOwned>(&self, until: &Until<'_>) -> Result<(T, Vec<OwnedFd>), Fault> {
        let mut descriptors = Vec::new();
        let message = self.receive_frame(Some(&mut descriptors), until)?;
        Ok((message, descriptors))
    }

    fn receive_frame<T: DeserializeOwned>(
        &self,
        mut descriptors: Option<&mut Vec<OwnedFd>>,
        until: &Until<'_>,
    ) -> Result<T, Fault> {
        let mut head = [0; 4];
        self.fill(&mut head, descriptors.as_deref_mut(), until)?;
        let length = u32::from_le_bytes(head) as usize;
        if length > MAX_FRAME_BYTES {
            return Err(Fault::Garbled(format!("a frame of {length} bytes")));
        }
        let mut body = vec![0; length];
        self.fill(&mut body, descriptors, until)?;
        serde_json::from_slice(&body).map_err(|error| Fault::Garbled(error.to_string()))
    }

    fn fill(
        &self,
        mut buffer: &mut [u8],
        mut descriptors: Option<&mut Vec<OwnedFd>>,
        until: &Until<'_>,
    ) -> Result<(), Fault> {
        while !buffer.is_empty() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
            let mut beside = match descriptors {
                Some(_) => RecvAncillaryBuffer::new(&mut space),
                None => RecvAncillaryBuffer::default(),
            };
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            match recvmsg(&self.socket, &mut [IoSliceMut::new(buffer)], &mut beside, flags) {
                Ok(received) if received.bytes == 0 => return Err(Fault::Gone),
                Ok(received) => {
                    for message in beside.drain() {
                        if let (RecvAncillaryMessage::ScmRights(received), Some(descriptors)) =
                            (message, descriptors.as_deref_mut())
                        {
                            descriptors.extend(received);
                        }
                    }
                    if descriptors.as_ref().is_some_and(|all| all.len() > MAX_DESCRIPTORS) {
                        return Err(Fault::Garbled("too many descriptors".to_owned()));
                    }
                    buffer = buffer.get_mut(received.bytes..).unwrap_or_default();
                }
                Err(Errno::AGAIN) => self.wait(PollFlags::IN, until)?,
                Err(Errno::INTR) => {}
                Err(Errno::CONNRESET) => return Err(Fault::Gone),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits until the socket can be read or written.
    fn wait(&self, what: PollFlags, until: &Until<'_>) -> Result<(), Fault> {
        loop {
            let patience = match until {
                Until::Ever => None,
                Until::At(at, wanted) => {
                    let left = at.saturating_duration_since(Instant::now());
                    if left.is_zero() || !wanted() {
                        return Err(Fault::Late);
                    }
                    Some(left.min(PATIENCE))
                }
            };
            let timeout = patience.and_then(|patience| Timespec::try_from(patience).ok());
            match poll(&mut [PollFd::new(&self.socket, what)], timeout.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
