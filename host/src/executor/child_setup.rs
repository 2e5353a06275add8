//! What a child does between fork and exec.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

#[cfg(target_os = "linux")]
use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal};

/// Who starts a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// A host. Its processes are not told to die with it: the kernel sends that signal when the *thread* ends that
    /// started them, and threads of a host come and go.
    Host,
    /// One whose thread that starts processes lives as long as they do, such as a keeper's only one: they die with it.
    #[cfg(target_os = "linux")]
    Lasting(Pid),
}

/// The first descriptor that is not a standard stream.
const FIRST_OTHER: RawFd = 3;

/// Lets a command's process set itself up before it becomes the program.
pub(crate) fn add(command: &mut Command, parent: Parent) {
    #[expect(unsafe_code, reason = "only in the child itself can it be said with what it dies and what it inherits")]
    // SAFETY: between fork and exec in a process that may have had threads, nothing may be done that needs what
    // another thread held at that moment: no allocation, no lock. `set_up` makes system calls by way of rustix,
    // keeps what it reads in an array on its stack, and makes errors from plain numbers, which allocate nothing.
    unsafe {
        command.pre_exec(move || set_up(parent).map_err(|errno| io::Error::from_raw_os_error(errno.raw_os_error())));
    }
}

fn set_up(parent: Parent) -> Result<(), Errno> {
    close_others_on_exec()?;
    match parent {
        Parent::Host => Ok(()),
        #[cfg(target_os = "linux")]
        Parent::Lasting(parent) => {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // It may have died just before the signal was asked for.
            if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH) }
        }
    }
}

/// Marks, in a process of one thread, every descriptor but the standard streams to be closed when the program
/// begins. The standard library does so with its own; a host may have others, of libraries in other languages or
/// from who started it.
#[cfg(target_os = "linux")]
pub(super) fn close_others_on_exec() -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = match openat(CWD, c"/proc/self/fd", flags, Mode::empty()) {
        // Without /proc nothing can be listed, and what was opened to be inherited is.
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    let mut space = [MaybeUninit::uninit(); 2048];
    let mut entries = RawDir::new(&folder, &mut space);
    while let Some(entry) = entries.next() {
        let Some(number) = number_in(entry?.file_name().to_bytes()) else { continue };
        if number < FIRST_OTHER {
            continue;
        }
        #[expect(unsafe_code, reason = "the descriptors of this process are known by number alone")]
        // SAFETY: this process has one thread, which is here: after its fork, or because a keeper has started no
        // other yet. So the descriptor that was just listed is still open.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let known = fcntl_getfd(descriptor)?;
        if !known.contains(FdFlags::CLOEXEC) {
            fcntl_setfd(descriptor, known | FdFlags::CLOEXEC)?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn close_others_on_exec() -> Result<(), Errno> {
    Ok(())
}

/// A decimal number without sign; nothing for `.` and `..`.
fn number_in(name: &[u8]) -> Option<RawFd> {
    if name.is_empty() {
        return None;
    }
    name.iter().try_fold(0, |number: RawFd, byte| {
        let digit = byte.is_ascii_digit().then(|| RawFd::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
