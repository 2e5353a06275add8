//! The socket between a host and its keeper: whole messages, and descriptors beside them.
//!
//! It is of the kind that keeps messages apart, so a message is there or not, and one that is sent is never mixed
//! with another's, whoever sends at the same time.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType, recvmsg, sendmsg, shutdown, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixDatagram;

use crate::text::shown_within;

/// The most bytes of a message; all have numbers and a sentence at most.
const MAX_MESSAGE_BYTES: usize = 4096;

/// The most descriptors beside a message: a command and its three streams.
const MAX_DESCRIPTORS: usize = 4;

/// One end of the socket.
#[derive(Debug)]
pub(super) struct Channel {
    /// A socket that keeps messages apart, and unlike one for datagrams is connected and has an end.
    socket: UnixDatagram,
}

impl Channel {
    /// A channel and its other end, neither of which a child inherits by accident.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self::new(ours)?, theirs))
    }

    /// One end. It needs a runtime.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = std::os::unix::net::UnixDatagram::from(socket);
        socket.set_nonblocking(true)?;
        Ok(Self { socket: UnixDatagram::from_std(socket)? })
    }

    /// Sends a message, and descriptors beside it.
    pub(super) async fn send(&self, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = serde_json::to_vec(message)?;
        let send = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
            let mut beside = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
                return Err(io::Error::other("too many descriptors"));
            }
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            retry(|| sendmsg(&self.socket, &[IoSlice::new(&bytes)], &mut beside, flags))
        };
        self.socket.async_io(Interest::WRITABLE, send).await.map(drop)
    }

    /// Receives a message and the descriptors beside it; nothing when the other end is closed. When this future is
    /// dropped, nothing is lost.
    pub(super) async fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let received = self.socket.async_io(Interest::READABLE, || receive_now(self.socket.as_fd())).await;
        let (bytes, descriptors) = match received {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::CONNRESET) => return Ok(None),
            received => received?,
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        let message = serde_json::from_slice(&bytes)
            .map_err(|error| io::Error::other(format!("no message: {}", shown_within(&error.to_string(), 128))))?;
        Ok(Some((message, descriptors)))
    }

    /// Tells the other end that nothing more comes.
    pub(super) fn finish(&self) {
        // It may be closed already.
        let _ = shutdown(self.socket.as_fd(), Shutdown::Write);
    }
}

fn receive_now(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MAX_MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = retry(|| recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut beside, flags))?;
    let mut descriptors = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    if received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(io::Error::other("a message is too long, or has descriptors that cannot be taken"));
    }
    bytes.truncate(received.bytes);
    Ok((bytes, descriptors))
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            outcome => return outcome.map_err(io::Error::from),
        }
    }
}
