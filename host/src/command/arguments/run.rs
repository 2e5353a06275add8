//! The flags of `run`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::{BackendFlag, CompressionFlag, HostFlags};

/// Runs the reference agent loop: a model, the shell tools, the hooks, a session.
///
/// The model is a script, which needs neither a key nor a network, or an OpenAI-compatible endpoint. Every
/// shell that it starts gets an overlay of its own, and what happens is in the session's log: with --json
/// every event is printed as the line that it is in the log.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("answers").required(true).args(["script", "model"]),
    after_long_help = "Examples:
  dsh-env run --script answers.json
  dsh-env run --script answers.json --session-id s1 --session-cwd \"$PWD\" --compression none --json
  OPENAI_API_KEY=… dsh-env run --model https://api.example.com/v1 --model-name some-model --prompt 'Where is your log?'
  echo 'What is in this folder?' | dsh-env run --model http://localhost:8080/v1

A script is a JSON array of the model's answers; an answer without tool calls ends a turn:
  [{\"tool_calls\": [{\"name\": \"bash\", \"arguments\": {\"command\": \"env | grep ^DSH_\", \"description\": \"look around\"}}]},
   {\"text\": \"done\"}]

Exit status: 0 done, 1 the model, the session or the overlay failed, 2 the command line or the
configuration is wrong; 130 and 143 when it was interrupted or terminated."
)]
pub(crate) struct RunArguments {
    /// The model's answers, from a file or, with -, from standard input.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) script: Option<PathBuf>,

    /// The base of an OpenAI-compatible endpoint, such as http://localhost:8080/v1.
    #[arg(long, value_name = "URL")]
    pub(crate) model: Option<String>,

    /// The name by which the endpoint knows the model.
    #[arg(long, value_name = "NAME", default_value = "default", requires = "model")]
    pub(crate) model_name: String,

    /// The variable that the endpoint's key is in. Commands do not see it.
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", requires = "model")]
    pub(crate) key_env: String,

    /// What the user says; with --model read from standard input unless given. May be given more than once:
    /// one turn each.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prompt: Vec<String>,

    /// The session to go on with, or to begin under this id. Default: a new one.
    #[arg(long, value_name = "ID", allow_hyphen_values = true, help_heading = "Session")]
    pub(crate) session_id: Option<String>,

    /// The directory that the session is for, verbatim as in its header. Default: none.
    #[arg(long, value_name = "DIR", allow_hyphen_values = true, help_heading = "Session")]
    pub(crate) session_cwd: Option<String>,

    /// The folder of all sessions. Default: the configured one, else sessions in the home.
    #[arg(long, value_name = "DIR", help_heading = "Session")]
    pub(crate) sessions_root: Option<String>,

    /// What keeps the sessions. Default: the configured backend, else jsonl.
    #[arg(long, value_enum, help_heading = "Session")]
    pub(crate) backend: Option<BackendFlag>,

    /// How logs are compressed. Default: the configured way, else zstd.
    #[arg(long, value_enum, help_heading = "Session")]
    pub(crate) compression: Option<CompressionFlag>,

    /// Where commands run that do not say where. Default: the session's directory where it exists, else the
    /// current one.
    #[arg(long, value_name = "DIR", help_heading = "Session")]
    pub(crate) workdir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) host: HostFlags,
}
