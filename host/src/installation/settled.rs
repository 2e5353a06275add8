//! Whether somebody still writes a file.
//!
//! Whether a file is complete, nobody can see in it: half of a component may well be a component. But the kernel
//! knows who has it open for writing, and tells by a lease: it gives one for reading only where nobody has.

use std::fs::File;

/// Whether a file is open for writing anywhere on this machine; nothing where that cannot be told (a network file
/// system, another system, somebody else's file).
#[must_use]
pub fn has_writer(file: &File) -> Option<bool> {
    #[cfg(target_os = "linux")]
    return lease::has_writer(file);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

#[cfg(target_os = "linux")]
mod lease {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsRawFd as _, RawFd};

    /// As in the kernel's `asm-generic/fcntl.h`, where the C library of this crate does not have it.
    const F_SETSIG: libc::c_int = 10;

    pub(super) fn has_writer(file: &File) -> Option<bool> {
        let descriptor = file.as_raw_fd();
        // Whoever opens the file for writing while there is a lease makes the kernel send its holder a signal, by
        // default one that ends the process. This one is ignored unless somebody asks for it.
        fcntl(descriptor, F_SETSIG, libc::SIGURG).ok()?;
        match fcntl(descriptor, libc::F_SETLEASE, libc::F_RDLCK) {
            Ok(()) => {
                // At once, since that writer waits meanwhile. Closing the descriptor gives it up too.
                let _ = fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK);
                Some(false)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(true),
            Err(_) => None,
        }
    }

    #[expect(unsafe_code, reason = "no safe interface has these two commands")]
    fn fcntl(descriptor: RawFd, command: libc::c_int, argument: libc::c_int) -> io::Result<()> {
        // SAFETY: both commands take an integer, touch no memory of this process, and the descriptor is open for as
        // long as its file is borrowed.
        let answer = unsafe { libc::fcntl(descriptor, command, argument) };
        if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
