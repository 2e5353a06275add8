//! The commands about sessions.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Begins, looks at and goes on with sessions.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env session new --cwd \"$PWD\"
  dsh-env session list
  dsh-env session show 0198c0de-7000-7000-8000-000000000000
  dsh-env session locate --id s1 --cwd \"$PWD\"")]
pub(crate) struct SessionArguments {
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    New(NewArguments),
    Resume(ResumeArguments),
    Fork(ForkArguments),
    List(ListSessionsArguments),
    Show(ShowArguments),
    Locate(LocateArguments),
}

/// Where sessions are kept.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sessions")]
pub(crate) struct StoreFlags {
    /// The folder of all sessions. Default: the configured one, else sessions in the home.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<String>,

    /// What keeps the sessions. Default: the configured backend, else jsonl.
    #[arg(long, value_enum)]
    pub(crate) backend: Option<BackendFlag>,

    /// How new logs are compressed. Default: the configured way, else zstd.
    #[arg(long, value_enum)]
    pub(crate) compression: Option<CompressionFlag>,

    /// The home. Default: $DSH_HOME, else ~/.dsh.
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<OsString>,
}

/// Which session is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct WhichSession {
    /// The session's id.
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    pub(crate) id: String,

    /// The directory that the session was started for, verbatim. Only needed where sessions of several
    /// directories have the same id.
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub(crate) cwd: Option<String>,

    /// The session that was started for no directory.
    #[arg(long, conflicts_with = "cwd")]
    pub(crate) no_cwd: bool,

    #[command(flatten)]
    pub(crate) store: StoreFlags,
}

/// Prints a fresh id, and where the log of its session would be. Nothing is written.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env session new
  dsh-env session new --cwd \"$PWD\" --agent-preset default
  dsh-env session new --json | jq -r .id")]
pub(crate) struct NewArguments {
    /// The directory that the session is started for, verbatim. Default: none.
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub(crate) cwd: Option<String>,

    /// The name of the preset that the session's agent is made from, for the header that --json prints.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) agent_preset: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreFlags,
}

/// Checks that a session can go on, and removes the torn end that a killed writer left.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env session resume s1
  dsh-env session resume s1 --cwd /srv/app --json

Exit status: 1 when the session is not there, in use, damaged, or of another version.")]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) session: WhichSession,
}

/// Makes a new session that begins with everything another one has so far.
///
/// The other one may be open elsewhere; it stays as it is.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env session fork s1
  dsh-env session fork s1 --json | jq -r .location.path")]
pub(crate) struct ForkArguments {
    #[command(flatten)]
    pub(crate) session: WhichSession,
}

/// Lists sessions, the newest first.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env session list
  dsh-env session list --json | jq -r '.[].id'
  dsh-env session list --root /var/sessions --backend sqlite")]
pub(crate) struct ListSessionsArguments {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
}

/// Prints a session: its header and a line for each event. Nothing is changed.
///
/// For people, control characters are escaped and long events cut. With --json it is the log itself: the
/// header, then one event a line, whatever it is kept in.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env session show s1
  dsh-env session show s1 --json | jq -c 'select(.type == \"tool/call\")'
  dsh-env session show s1 --json > s1.jsonl")]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) session: WhichSession,
}

/// Prints where a session's log is, or null where it has no file of its own. Nothing on disk is touched.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env session locate --id s1
  dsh-env session locate --id s1 --cwd /srv/app --root /var/sessions --compression none
  dsh-env session locate --execution record.json")]
pub(crate) struct LocateArguments {
    /// The session's id. Default: that of the execution's session.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) id: Option<String>,

    /// The directory that the session was started for, verbatim.
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub(crate) cwd: Option<String>,

    /// An execution record whose session is meant, from a file or, with -, from standard input.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) execution: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreFlags,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum BackendFlag {
    /// A file for each session.
    Jsonl,
    /// One database for all.
    Sqlite,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CompressionFlag {
    /// Plain text.
    None,
    /// Zstandard.
    Zstd,
}
