//! Why a command did not find out its fact, in words for people.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::error::{Code, Error};
use crate::facts::{FactSettings, MAX_VALUE_BYTES};
use crate::text::{shown, shown_within};

/// The most bytes of a program's name that a message repeats.
const SHOWN_PROGRAM_BYTES: usize = 256;

/// Why there is no value.
#[derive(Debug)]
pub(super) enum Fault {
    /// There are no words to run.
    NoProgram,
    /// The folder that it is to run in is not there.
    NoHome(PathBuf),
    NotStarted(io::Error),
    NoThread(io::Error),
    /// How it ends cannot be known.
    Lost(io::Error),
    TimedOut,
    /// It ended in time, and what it started went on and held on to its output.
    LeftOpen,
    TooLarge,
    Ended(ExitStatus),
    NotText,
    Nul,
}

impl Fault {
    /// The error that the operator sees; `complaint` is how the command itself put it.
    pub(super) fn of(self, name: &str, settings: &FactSettings, complaint: Option<&str>) -> Error {
        let code = match self {
            Self::TimedOut | Self::LeftOpen => Code::Timeout,
            _ => Code::ExecutionFailed,
        };
        let (what, remedy) = self.words(settings);
        let said = complaint.map(|words| format!(", and said \"{words}\"")).unwrap_or_default();
        Error::host(code, format!("the command of [facts.{}] {what}{said}: {remedy}", shown_within(name, 64)))
    }

    fn words(self, settings: &FactSettings) -> (String, String) {
        let program = shown_within(settings.command.first().map_or("", String::as_str), SHOWN_PROGRAM_BYTES);
        let again = "see what is wrong by running it in the host's home".to_owned();
        let timeout = settings.timeout.as_millis();
        match self {
            Self::NoProgram => ("names no program".to_owned(), "name one".to_owned()),
            Self::NoHome(home) => (
                format!("cannot run in the host's home, {}, which is not there", shown(&home.display().to_string())),
                "put it back".to_owned(),
            ),
            Self::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => (
                format!("names the program \"{program}\", which is not there"),
                "install it, or name it in full".to_owned(),
            ),
            Self::NotStarted(error) => (format!("could not start \"{program}\" ({error})"), again),
            Self::NoThread(error) => (
                format!("got no thread to wait for it ({error})"),
                "see `ulimit -u` and `ulimit -n`, then change the configuration or start the host again".to_owned(),
            ),
            Self::Lost(error) => {
                (format!("cannot be waited for ({error})"), "start the host where SIGCHLD is not ignored".to_owned())
            }
            Self::TimedOut => (
                format!("took longer than {timeout} ms and was killed"),
                "make it faster, or give it a longer timeout".to_owned(),
            ),
            Self::LeftOpen => (
                format!("ended, but something that it started held on to its output for {timeout} ms"),
                "let it wait for what it starts, or send the output of that elsewhere".to_owned(),
            ),
            Self::TooLarge => (
                format!("printed more than {} bytes", settings.size),
                format!("let it print less, or allow more by size, {MAX_VALUE_BYTES} bytes at most"),
            ),
            Self::Ended(status) => (ended(status), again),
            Self::NotText => ("printed something that is not UTF-8".to_owned(), "let it print text".to_owned()),
            Self::Nul => (
                "printed a NUL character, which no environment variable can hold".to_owned(),
                "let it print text".to_owned(),
            ),
        }
    }
}

fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;

    match (status.code(), status.signal()) {
        (Some(code), _) => format!("failed with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in a way that nobody knows".to_owned(),
    }
}
