//! One worker process, as its host holds it.

use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::channel::{Channel, Fault, Until};
use super::program::WorkerProgram;
use super::protocol::{Confinement, Reply, Request};
use crate::contract::Deadline;
use crate::sandbox::compile;
use crate::text::shown_within;

/// How long a worker may take to start, on a machine that is very busy.
const START_TIME: Duration = Duration::from_secs(10);

/// How long to wait for a process that was killed. One whose file system does not answer may take longer, and
/// is waited for later.
const DEATH_TIME: Duration = Duration::from_millis(500);

/// The most bytes of a dead worker's last words that a message repeats.
const MAX_LAST_WORDS_BYTES: usize = 512;

/// A running worker. Dropping it kills the process and waits for its end.
#[derive(Debug)]
pub(super) struct Process {
    channel: Channel,
    child: Option<Child>,
    confinement: Confinement,
}

/// Why no worker was started.
pub(super) enum Refused {
    /// In words for people.
    Because(String),
    /// Nobody waits for it any more.
    Unwanted,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self::Because(why)
    }
}

/// How a worker ended that nobody killed.
pub(super) struct Death {
    status: Option<ExitStatus>,
    last_words: String,
}

impl Process {
    /// Starts a worker and tells it what it is for.
    ///
    /// # Errors
    /// Why there is none, in words for people.
    pub(super) fn start(
        program: &WorkerProgram,
        engine: &str,
        begin: &Request,
        directories: &[BorrowedFd<'_>],
        deadline: Option<&Deadline>,
    ) -> Result<Self, Refused> {
        bury();
        if !program.program.is_absolute() {
            let why = format!("{} is no absolute path: name the worker program by one", program.program.display());
            return Err(why.into());
        }
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|error| format!("no socket could be made ({error})"))?;
        let child = Command::new(&program.program)
            .args(&program.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // What is typed at the host's terminal is for the host.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("{} could not be started ({error})", program.program.display()))?;
        let mut process = Self { channel: Channel::new(ours), child: Some(child), confinement: Confinement::default() };
        let wanted = || deadline.is_none_or(|deadline| deadline.check().is_ok());
        let until = Until::At(Instant::now() + START_TIME, &wanted);
        let ready =
            process.channel.send(begin, directories, &until).and_then(|()| process.channel.receive::<Reply>(&until));
        match ready {
            Ok(Reply::Ready { version, engine: theirs, confinement }) => {
                if version != env!("CARGO_PKG_VERSION") || theirs != engine {
                    let why = format!(
                        "{} is of another build than this host ({} and {}): name the dsh-env command of the very same build",
                        program.program.display(),
                        shown_within(&version, 64),
                        env!("CARGO_PKG_VERSION")
                    );
                    return Err(why.into());
                }
                process.confinement = confinement;
                Ok(process)
            }
            Ok(_) => Err(format!("{} is no worker", program.program.display()).into()),
            Err(Fault::Late) if !wanted() => Err(Refused::Unwanted),
            Err(fault) => {
                let why = process.explain(&fault);
                Err(format!("{} did not start as a worker: {why}", program.program.display()).into())
            }
        }
    }

    pub(super) fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Asks and waits for the answer. After a fault the worker is of no more use.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(super) fn ask(
        &self,
        request: &Request,
        descriptors: &[BorrowedFd<'_>],
        until: &Until<'_>,
    ) -> Result<Reply, Fault> {
        self.channel.send(request, descriptors, until)?;
        self.channel.receive(until)
    }

    /// Whether it still runs, as far as can be told at once.
    pub(super) fn is_alive(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// How it ended, once the channel says that it did.
    pub(super) fn death(mut self) -> Death {
        let Some(mut child) = self.child.take() else { return Death { status: None, last_words: String::new() } };
        let stderr = child.stderr.take();
        let status = end(child);
        let mut last_words = Vec::new();
        if let Some(stderr) = stderr {
            // Its other end is closed with the process, unless that does not end or has passed it on.
            let _ = rustix::io::ioctl_fionbio(&stderr, true);
            let _ = stderr.take(4 * MAX_LAST_WORDS_BYTES as u64).read_to_end(&mut last_words);
        }
        let last_words = shown_within(String::from_utf8_lossy(&last_words).trim(), MAX_LAST_WORDS_BYTES);
        Death { status, last_words }
    }

    fn explain(self, fault: &Fault) -> String {
        match fault {
            Fault::Gone => {
                let death = self.death();
                format!("{death}: {}", death.last_words())
            }
            fault => fault.to_string(),
        }
    }
}

impl Death {
    /// Whether it ended because it asked for more memory than it may have.
    pub(super) fn is_out_of_memory(&self) -> bool {
        compile::is_out_of_memory(&self.last_words)
    }

    /// Whether it was killed, which the kernel does when the machine has no more memory, and people do.
    pub(super) fn was_killed(&self) -> bool {
        self.status.and_then(|status| status.signal()) == Some(rustix::process::Signal::KILL.as_raw())
    }

    /// What it said before it ended, escaped and cut. Parts of a guest's may be in it.
    pub(super) fn last_words(&self) -> &str {
        &self.last_words
    }
}

impl std::fmt::Display for Death {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            Some(status) => write!(f, "it ended by itself ({status})"),
            None => f.write_str("it ended by itself"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            end(child);
        }
    }
}

/// Processes that were killed and have not ended yet.
static DYING: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Kills a process and waits for its end, but not for ever.
fn end(mut child: Child) -> Option<ExitStatus> {
    let until = Instant::now() + DEATH_TIME;
    match child.try_wait() {
        Ok(Some(status)) => return Some(status),
        Ok(None) => {}
        // Somebody else waited for it: its number may be another's by now.
        Err(_) => return None,
    }
    let killed = child.kill();
    let mut pause = Duration::from_micros(100);
    while killed.is_ok() && Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => thread::sleep(pause),
            // Whoever embeds the host ignores its children: the kernel has buried it.
            Err(_) => return None,
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
    DYING.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    None
}

/// Waits for those that have ended meanwhile.
fn bury() {
    DYING.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

/// Bytes in a file that exists in memory alone, is not changed any more, and is gone with its last descriptor.
///
/// # Errors
/// Whatever the system says.
pub(super) fn sealed(bytes: &[u8]) -> std::io::Result<OwnedFd> {
    use std::io::{Seek as _, Write as _};
    let mut file = std::fs::File::from(in_memory()?);
    file.write_all(bytes)?;
    // Both sides have one place in it.
    file.rewind()?;
    seal(file.as_fd())?;
    Ok(file.into())
}

/// An empty file that exists in memory alone.
pub(super) fn in_memory() -> std::io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("dsh-env", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?)
}

/// Lets nobody change a file in memory any more, whoever else holds it.
pub(super) fn seal(file: BorrowedFd<'_>) -> std::io::Result<()> {
    use rustix::fs::{SealFlags, fcntl_add_seals};
    Ok(fcntl_add_seals(file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?)
}
