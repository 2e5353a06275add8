//! How a command ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;

use super::output::Output;

/// The result of a command that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error.
    pub stderr: Output,
    /// How long it took, its last output included.
    pub took: Duration,
}

/// How a command ended. Its words for people, by `Display`, begin in lower case and have no full stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code from 0 to 255.
    Exited(i32),
    /// By a signal of this number that the executor did not send; see [`signal_name`].
    Signalled(i32),
    /// By the executor, because its time was over.
    TimedOut {
        /// The time that it had.
        limit: Duration,
        /// The signal that ended it: SIGTERM if it went within the grace, also if it chose an exit code, else
        /// SIGKILL.
        signal: i32,
    },
    /// By the executor, because its caller gave up or killed it.
    Cancelled {
        /// As with a command that timed out.
        signal: i32,
    },
}

impl End {
    /// Whether it ended by itself and successfully.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signalled(signal) => write!(f, "killed by {}", signal_name(*signal)),
            Self::TimedOut { limit, signal } => {
                write!(f, "timed out after {} s, ended by {}", limit.as_secs_f64(), signal_name(*signal))
            }
            Self::Cancelled { signal } => write!(f, "cancelled, ended by {}", signal_name(*signal)),
        }
    }
}

/// The name of a signal, such as `SIGKILL` for 9, and `signal 34` for one without a name.
#[must_use]
pub fn signal_name(signal: i32) -> String {
    const NAMES: [(Signal, &str); 29] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::CHILD, "SIGCHLD"),
        (Signal::CONT, "SIGCONT"),
        (Signal::STOP, "SIGSTOP"),
        (Signal::TSTP, "SIGTSTP"),
        (Signal::TTIN, "SIGTTIN"),
        (Signal::TTOU, "SIGTTOU"),
        (Signal::URG, "SIGURG"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::VTALARM, "SIGVTALRM"),
        (Signal::PROF, "SIGPROF"),
        (Signal::WINCH, "SIGWINCH"),
        (Signal::IO, "SIGIO"),
        (Signal::SYS, "SIGSYS"),
    ];
    let name = NAMES.iter().find(|(known, _)| known.as_raw() == signal).map(|(_, name)| (*name).to_owned());
    name.unwrap_or_else(|| format!("signal {signal}"))
}

/// The end of a process, as whoever started it tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) status: ExitStatus,
    /// The signal that ended it, if it was asked to end before it did by itself.
    pub(super) ended_by: Option<i32>,
}

impl Exit {
    /// The end of a process that was not asked to end.
    pub(super) fn by_itself(self) -> End {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => End::Signalled(signal.unwrap_or_default()),
        }
    }
}
