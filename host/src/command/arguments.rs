//! Every command and flag, once: help, manual page and completions are made from here.

mod operating;
mod run;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::format::Format;
pub(crate) use operating::*;
pub(crate) use run::RunArguments;

mod sessions;

pub(crate) use sessions::*;

/// Decides what a shell command may know about its surroundings.
///
/// For every single execution dsh-env rebuilds the trusted DSH_* variables from contributors, most of
/// them sandboxed WebAssembly components, removes every DSH_* that was inherited, and merges what it
/// rebuilt last.
#[derive(Debug, Parser)]
#[command(
    name = "dsh-env",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = "Examples:
  dsh-env exec --session-id s1 -- bash -c 'echo $DSH_SESSION_ID'
  dsh-env env --contributor region.wasm
  dsh-env why DSH_TICKET
  dsh-env check my-contributor.wasm

Exit status: 0 done, 1 a contributor or the overlay failed, 2 the command line or the
configuration is wrong. exec: 125 for every failure of its own, 126 and 127 as shells do, else
the command's."
)]
pub(crate) struct Arguments {
    /// Prints JSON for programs instead of text for people.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Exec(ExecArguments),
    Env(EnvArguments),
    List(ListArguments),
    Why(WhyArguments),
    Home(HomeArguments),
    Check(CheckArguments),
    Inspect(InspectArguments),
    Add(AddArguments),
    Remove(RemoveArguments),
    Status(StatusArguments),
    Approve(ApproveArguments),
    Forget(ForgetArguments),
    Rollback(RollbackArguments),
    Reload(ReloadArguments),
    Logs(LogsArguments),
    Serve(ServeArguments),
    Top(TopArguments),
    Session(SessionArguments),
    Run(RunArguments),
    Bench(BenchArguments),
    Torture(TortureArguments),
    Cache(CacheArguments),
    Completions(CompletionsArguments),
    /// Prints the manual page.
    #[command(
        after_long_help = "Examples:\n  dsh-env man | man -l -\n  dsh-env man > /usr/local/share/man/man1/dsh-env.1"
    )]
    Man,
}

/// Where the host lives.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Host")]
pub(crate) struct PlaceFlags {
    /// The home: configuration, installed contributors, sessions. Default: $DSH_HOME, else ~/.dsh.
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<OsString>,

    /// Where compiled code is kept. Default: state in the home.
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
}

/// Where the host lives and what it loads.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Host")]
pub(crate) struct HostFlags {
    #[command(flatten)]
    pub(crate) place: PlaceFlags,

    /// A component beside the installed ones; may be given more than once.
    #[arg(long = "contributor", value_name = "FILE")]
    pub(crate) contributors: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) grants: GrantFlags,
}

/// What components that are named on the command line see.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Host")]
pub(crate) struct GrantFlags {
    /// What the components named here see beyond the execution, which is nothing otherwise: clock, random,
    /// workspace=workdir|session|repository, within=DIR, env=NAME,…, extensions=NAME,…|*, config.NAME=VALUE,
    /// or all of that as a table of the configuration. May be given more than once. Installed contributors
    /// get what dsh-env.toml grants them.
    #[arg(long = "grant", value_name = "GRANT")]
    pub(crate) grants: Vec<String>,
}

/// Which execution it is about.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct ExecutionFlags {
    /// The session whose agent owns the call. Without it no agent does.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) session_id: Option<String>,

    /// The directory that the session was started for, verbatim as in its header.
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub(crate) session_cwd: Option<String>,

    /// The command's working directory. Default: the current one.
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,

    /// The execution record of the contract as JSON (snake_case, tuples as pairs), from a file or, with
    /// -, from standard input. The other flags override it.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) execution: Option<PathBuf>,
}

/// Replaces itself with a command in the managed environment.
///
/// Inherited DSH_* are removed, in any case, and the overlay is merged last. Everything else arrives as
/// it is: terminal settings and credentials too, unless --scrub is given.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env exec -- bash -c 'echo $DSH_HOME'
  dsh-env exec --session-id s1 --session-cwd \"$PWD\" --contributor region.wasm -- sh -c env
  dsh-env exec --strict-shell --scrub -- zsh -c 'print -r -- $DSH_SESSION_ID'
  dsh-env exec --contributor git.wasm --grant workspace=repository --grant clock -- make

Exit status: the command's own; 125 when the overlay could not be made or the environment is
too large, 126 when the command cannot be run, 127 when it is not found.")]
pub(crate) struct ExecArguments {
    /// Removes variables that look like credentials (KEY, PASSWORD, SECRET, TOKEN in the name) and sets
    /// NO_COLOR, PAGER, GIT_PAGER and TERM for a command without a terminal.
    #[arg(long)]
    pub(crate) scrub: bool,

    /// Keeps start-up files and their variables from displacing the overlay: drops BASH_ENV, ENV,
    /// ZDOTDIR, SHELLOPTS, BASHOPTS and PS4, starts bash, zsh, fish and pwsh without their files, and
    /// reads standard input from /dev/null.
    #[arg(long)]
    pub(crate) strict_shell: bool,

    #[command(flatten)]
    pub(crate) host: HostFlags,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    #[command(flatten)]
    pub(crate) execution: ExecutionFlags,

    /// The command and its arguments.
    #[arg(required = true, last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// Runs hostile components against a host configured like yours, and says how each was contained.
///
/// The pack is part of this command: components that lie, crash, spin, flood, sleep and try to get out.
/// They run under the limits of your configuration, in processes of this command. Nothing of yours is
/// changed, and your own contributors are asked before and after.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env torture
  dsh-env torture --home ~/.dsh --json | jq '.trials[] | select(.contained | not)'

Exit status: 0 when everything was contained, 1 when anything was not.")]
pub(crate) struct TortureArguments {
    #[command(flatten)]
    pub(crate) host: HostFlags,
}

/// Prints the overlay: what a command would know.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env env
  dsh-env env --session-id s1 --format json
  eval \"$(dsh-env env --format bash)\"
  dsh-env env --format fish | source
  dsh-env env --format nul | xargs -0 -n1 echo
  dsh-env env --contributor git.wasm --grant '{ workspace = \"repository\", env = [\"CI\"] }'

The shell formats first unset every inherited managed variable, then export the overlay. Values of
sensitive variables are shown in every format but the table.")]
pub(crate) struct EnvArguments {
    /// How to print it. Default: a table on a terminal, json elsewhere.
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    #[command(flatten)]
    pub(crate) host: HostFlags,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    #[command(flatten)]
    pub(crate) execution: ExecutionFlags,
}

/// Lists every variable that a command may get, and who owns it. Nothing is resolved.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env list
  dsh-env list --json --contributor region.wasm
  dsh-env list --contributor git.wasm --grant workspace=repository")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) host: HostFlags,
}

/// Says where one variable comes from, or why it is absent.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env why DSH_TICKET
  dsh-env why DSH_SESSION_JSONL --session-id s1 --json
  dsh-env why DSH_GIT_BRANCH --contributor git.wasm --grant workspace=repository
  dsh-env why DSH_TICKET --call 0199a2f0-6d0e-7c3a-9f0e-3f6f1c2b7a10")]
pub(crate) struct WhyArguments {
    /// The variable.
    #[arg(value_name = "KEY")]
    pub(crate) key: String,

    /// What became of it in the recent execution of this call id, which a server remembers.
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    #[command(flatten)]
    pub(crate) host: HostFlags,
    #[command(flatten)]
    pub(crate) execution: ExecutionFlags,
}

/// Prints the resolved home; with --json also which rule chose it.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env home
  dsh-env home --home '~/srv/.dsh' --json")]
pub(crate) struct HomeArguments {
    /// The home to resolve. Default: $DSH_HOME, else ~/.dsh.
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<OsString>,
}

/// Loads components, asks each what it declares, and resolves a sample execution.
///
/// The sample has an agent. Nothing is installed, no configuration is read and no compiled code is kept.
/// With --json each file gets one line.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env check target/wasm32-unknown-unknown/release/my_contributor.wasm
  dsh-env check --workdir /srv/ABC-1 --json *.wasm
  dsh-env check --grant workspace=repository --grant within='~/src' git.wasm
  dsh-env check --grant env=CI,LANG --grant extensions='*' --grant config.remote=origin git.wasm

Exit status: 1 if any file failed.")]
pub(crate) struct CheckArguments {
    /// The components.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) grants: GrantFlags,
    #[command(flatten)]
    pub(crate) execution: ExecutionFlags,
}

/// Says what a component file exports and imports, without running anything.
///
/// Of each import it says what it allows, which grant opens it, and whether those given here do.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env inspect my-contributor.wasm
  dsh-env inspect --json my-contributor.wasm
  dsh-env inspect --grant clock --grant env=CI my-contributor.wasm")]
pub(crate) struct InspectArguments {
    /// The component.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) grants: GrantFlags,
}

/// Measures how long a component takes to load, declare and resolve, beside a bare `bash -c true`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env bench my-contributor.wasm
  dsh-env bench --json --calls 20000 my-contributor.wasm
  dsh-env bench --grant workspace=repository git.wasm")]
pub(crate) struct BenchArguments {
    /// The component.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// How many fresh resolves to time.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) calls: u32,

    /// How many shells to time.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) shells: u32,
    #[command(flatten)]
    pub(crate) grants: GrantFlags,
    #[command(flatten)]
    pub(crate) execution: ExecutionFlags,
}

/// Looks at the compiled code that is kept, or removes it.
///
/// Compiled code is kept in the state, up to the size in [cache] of dsh-env.toml; beyond, what was not used for
/// longest goes.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env cache info
  dsh-env cache clear")]
pub(crate) struct CacheArguments {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Says how much compiled code is kept, where, and when it was last used.
    #[command(after_long_help = "Examples:
  dsh-env cache info
  dsh-env cache info --state-dir /var/lib/dsh-env --json")]
    Info(PlaceFlags),
    /// Removes the compiled code that is kept. What is needed again is compiled again.
    #[command(after_long_help = "Examples:
  dsh-env cache clear
  dsh-env cache clear --home ~/srv/.dsh --json")]
    Clear(PlaceFlags),
}

/// Prints completions for a shell.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  dsh-env completions bash > /etc/bash_completion.d/dsh-env
  dsh-env completions fish > ~/.config/fish/completions/dsh-env.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
