//! One run of a command: started, bounded in time and output, and gone with all that it started.

use std::env;
use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::fault::Fault;
use crate::contract::is_managed_name;
use crate::executor::child_setup::{self, Parent};
use crate::facts::FactSettings;
use crate::text::{is_blank, shown_within};

/// How often a process is looked at that has closed its output and has not ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The most bytes of a complaint that are kept; the rest is read and dropped, so that nobody waits to write it.
const MAX_COMPLAINT_BYTES: usize = 512;

/// A command that runs, and the group that it leads. Dropped, all of it is killed, and the command is waited for.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    group: Pid,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    printed: Vec<u8>,
    complained: Vec<u8>,
    /// Whether it was waited for: until then its number is nobody else's.
    is_buried: bool,
}

impl Running {
    /// Starts it in `home`.
    pub(super) fn start(settings: &FactSettings, home: &Path) -> Result<Self, Fault> {
        let (program, arguments) = settings.command.split_first().ok_or(Fault::NoProgram)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(home)
            .env_clear()
            .envs(environment(env::vars_os()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        child_setup::add(&mut command, parent());
        let mut child = command.spawn().map_err(|error| match home.is_dir() {
            true => Fault::NotStarted(error),
            false => Fault::NoHome(home.to_owned()),
        })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let group = Pid::from_child(&child);
        Ok(Self { child, group, stdout, stderr, printed: Vec::new(), complained: Vec::new(), is_buried: false })
    }

    /// What it printed, without one newline at its end, when it has ended and nobody can print any more; nothing
    /// where somebody said meanwhile that it is enough. Its whole group is killed by then.
    pub(super) fn output(&mut self, settings: &FactSettings, stopped: &PipeReader) -> Result<Option<String>, Fault> {
        let ended = self.watch(settings, stopped);
        self.kill();
        if !ended? {
            return Ok(None);
        }
        let status = self.bury().map_err(Fault::Lost)?;
        if !status.success() {
            return Err(Fault::Ended(status));
        }
        let mut text = String::from_utf8(std::mem::take(&mut self.printed)).map_err(|_| Fault::NotText)?;
        if text.ends_with('\n') {
            text.pop();
        }
        if text.contains('\0') { Err(Fault::Nul) } else { Ok(Some(text)) }
    }

    /// The first line of what it complained of.
    pub(super) fn complaint(&self) -> Option<String> {
        let words = String::from_utf8_lossy(&self.complained);
        let line = words.lines().find(|line| !is_blank(line))?;
        Some(shown_within(line.trim(), MAX_COMPLAINT_BYTES))
    }

    /// Reads until it has ended and its output too, which is true; false where it is enough before.
    fn watch(&mut self, settings: &FactSettings, stopped: &PipeReader) -> Result<bool, Fault> {
        let deadline = Instant::now() + settings.timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            self.wait(stopped, left).map_err(Fault::Lost)?;
            if is_stopped(stopped, Instant::now()) {
                return Ok(false);
            }
            self.read()?;
            if self.printed.len() > settings.size {
                return Err(Fault::TooLarge);
            }
            let has_exited = self.has_exited()?;
            if has_exited && self.stdout.is_none() {
                // What it said before it exited is there by now.
                self.read()?;
                return Ok(true);
            }
            if left.is_zero() {
                return Err(if has_exited { Fault::LeftOpen } else { Fault::TimedOut });
            }
        }
    }

    /// Waits until something can be read, or somebody says that it is enough, or it is time to look again.
    fn wait(&self, stopped: &PipeReader, left: Duration) -> io::Result<()> {
        let stdout = self.stdout.as_ref().map(AsFd::as_fd);
        let stderr = self.stderr.as_ref().map(AsFd::as_fd);
        let time = if stdout.is_some() { left } else { left.min(LOOK_AGAIN) };
        is_any_ready([stdout, stderr, Some(stopped.as_fd())], time).map(drop)
    }

    /// Reads what there is, or some of it.
    fn read(&mut self) -> Result<(), Fault> {
        read_some(&mut self.stdout, &mut self.printed).map_err(Fault::Lost)?;
        read_some(&mut self.stderr, &mut self.complained).map_err(Fault::Lost)?;
        self.complained.truncate(MAX_COMPLAINT_BYTES);
        Ok(())
    }

    /// Whether the command itself has exited. It is not waited for by that, so its number stays its own.
    fn has_exited(&mut self) -> Result<bool, Fault> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.group), options) {
            Ok(status) => Ok(status.is_some()),
            Err(errno) => {
                self.is_buried = errno == Errno::CHILD;
                Err(Fault::Lost(errno.into()))
            }
        }
    }

    /// Kills what is left of the group.
    fn kill(&self) {
        if !self.is_buried {
            // Nobody may be left, or nobody whom this user may signal.
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }

    /// Waits for the command: from then on its number may be somebody else's.
    fn bury(&mut self) -> io::Result<ExitStatus> {
        self.is_buried = true;
        self.child.wait()
    }
}

/// The host's own environment but for what is managed, which would be true of another command at best.
pub(super) fn environment(
    inherited: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    inherited.filter(|(name, _)| !is_managed_name(name.as_encoded_bytes()))
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        if let Err(error) = self.bury() {
            tracing::debug!(%error, "a command that finds out a fact could not be waited for");
        }
    }
}

/// Whether somebody said that it is enough, or says so until then.
pub(super) fn is_stopped(stopped: &PipeReader, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match is_any_ready([Some(stopped.as_fd())], left) {
            Ok(true) => return true,
            Ok(false) if until <= Instant::now() => return false,
            Ok(false) => {}
            // Nobody could say so any more, and nobody is to run for ever.
            Err(_) => return true,
        }
    }
}

/// Waits until one of the descriptors can be read or has ended, for so long at most. A signal ends the wait too.
fn is_any_ready<const N: usize>(descriptors: [Option<BorrowedFd<'_>>; N], time: Duration) -> io::Result<bool> {
    let mut descriptors: Vec<_> = descriptors
        .into_iter()
        .flatten()
        .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
        .collect();
    let time = Timespec::try_from(time).ok();
    match poll(&mut descriptors, time.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Reads some of what there is without waiting; a pipe that has ended is closed.
fn read_some(pipe: &mut Option<impl io::Read + AsFd>, to: &mut Vec<u8>) -> io::Result<()> {
    let Some(open) = pipe else { return Ok(()) };
    if !is_any_ready([Some(open.as_fd())], Duration::ZERO)? {
        return Ok(());
    }
    let mut space = [0; 4096];
    match open.read(&mut space) {
        Ok(0) => *pipe = None,
        Ok(count) => to.extend(space.iter().take(count)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The thread that starts a command waits for it, so that the command may die with the thread, and with the host.
#[cfg(target_os = "linux")]
fn parent() -> Parent {
    Parent::Lasting(rustix::process::getpid())
}

#[cfg(not(target_os = "linux"))]
fn parent() -> Parent {
    Parent::Host
}
