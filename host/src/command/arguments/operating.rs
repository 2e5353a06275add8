//! The flags of commands that install and operate contributors.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{HostFlags, PlaceFlags};

/// Whether a server that runs for the home is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum UseServer {
    /// If one runs.
    #[default]
    Auto,
    /// It has to run.
    Always,
    /// Even if one runs.
    Never,
}

/// Which server is asked, and whether.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Host")]
pub(crate) struct ServerFlags {
    /// Whether a server that runs for the home is asked: if one runs, always, or never.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) server: UseServer,

    /// The server's socket, where it is not in the state: one that systemd made. One has to answer there.
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) socket: Option<PathBuf>,
}

/// Where contributors are operated.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OperatorFlags {
    #[command(flatten)]
    pub(crate) place: PlaceFlags,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// Holds the contributors and answers whoever asks for overlays, until it is told to stop.
///
/// It listens on the sockets collect.sock and admin.sock in the folder run of the state, or on standard input
/// and output. What changes in the home takes effect without a restart. What it logs goes to standard error;
/// RUST_LOG chooses how much.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env serve
  dsh-env serve --stdio < requests.jsonl
  RUST_LOG=dsh_env=debug dsh-env serve --log json 2>> /var/log/dsh-env.jsonl

SIGTERM and SIGINT end it once what is under way is done, a second one at once; SIGHUP reads the home
again.")]
pub(crate) struct ServeArguments {
    /// Serves standard input and output instead of sockets.
    #[arg(long)]
    pub(crate) stdio: bool,

    /// How log lines are written.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) log: LogFormat,

    /// Refuses every contributor and every build that is not in the lock.
    #[arg(long)]
    pub(crate) locked: bool,

    #[command(flatten)]
    pub(crate) host: HostFlags,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// An object a line.
    Json,
}

/// Which contributor is operated, and where.
#[derive(Clone, Debug, Args)]
pub(crate) struct ContributorFlags {
    /// The contributor.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) operator: OperatorFlags,
}

/// Installs a component under the name that it declares, and approves it.
///
/// It is loaded and asked what it declares first; what fails changes nothing. A contributor of that name
/// that is there already is replaced; the build that it had can be brought back by rollback.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env add my-contributor.wasm
  dsh-env add --json target/my_contributor.wasm | jq -r .digest")]
pub(crate) struct AddArguments {
    /// The component.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) operator: OperatorFlags,
}

/// Removes a contributor's file. Its name and keys stay owned until forget.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env remove git-workspace
  dsh-env remove git-workspace && dsh-env forget git-workspace")]
pub(crate) struct RemoveArguments {
    #[command(flatten)]
    pub(crate) of: ContributorFlags,
}

/// Says what became of each contributor: which build is live, which waits or was refused, and why.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env status
  dsh-env status git-workspace
  dsh-env status --json | jq '.[] | select(.state != \"live\")'")]
pub(crate) struct StatusArguments {
    /// One contributor alone.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) operator: OperatorFlags,
}

/// Makes a build live that waits for approval, or that was live before.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env approve git-workspace 3fb1c6f0a1d2
  dsh-env approve git-workspace \"$(dsh-env status --json git-workspace | jq -r '.[0].candidate')\"")]
pub(crate) struct ApproveArguments {
    /// The contributor.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The build's digest, as status shows it, or how it begins: at least eight digits.
    #[arg(value_name = "DIGEST")]
    pub(crate) digest: String,
    #[command(flatten)]
    pub(crate) operator: OperatorFlags,
}

/// Frees a name and its keys. A file that is still there is then a new one.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env forget git-workspace")]
pub(crate) struct ForgetArguments {
    #[command(flatten)]
    pub(crate) of: ContributorFlags,
}

/// Brings back the build that was live before, or another of the last five.
///
/// The build that it takes the place of does not come back by itself.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env rollback git-workspace
  dsh-env rollback git-workspace --to 3fb1c6f0a1d2")]
pub(crate) struct RollbackArguments {
    /// The contributor.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The build's digest, or how it begins: at least eight digits. Default: the previous one.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) operator: OperatorFlags,
}

/// Reads a contributor's file again, whether or not it seems to have changed.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env reload git-workspace")]
pub(crate) struct ReloadArguments {
    #[command(flatten)]
    pub(crate) of: ContributorFlags,
}

/// Prints what a contributor wrote lately. Only a server that runs knows.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env logs git-workspace
  dsh-env logs --json git-workspace | jq -r .text")]
pub(crate) struct LogsArguments {
    #[command(flatten)]
    pub(crate) of: ContributorFlags,
}

/// Shows what the server does: how often and how fast it answers, and who is slow or fails.
///
/// On a terminal it goes on until it is interrupted; elsewhere it says once how things are.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env top
  dsh-env top --once
  dsh-env top --json | jq '.contributors[] | {name, p99: .recent.p99_us}'")]
pub(crate) struct TopArguments {
    /// Ends after the first answer on a terminal, too.
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) operator: OperatorFlags,
}
