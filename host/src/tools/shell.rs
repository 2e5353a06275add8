//! What a model is told of the shells.

use serde_json::json;

use super::{MAX_TIMEOUT, ToolDescription};
use crate::contract::PREFIX;
use crate::environment::Shell;
use crate::executor::DEFAULT_LIMIT;

/// How a model lists the managed variables.
fn listing(shell: Shell) -> String {
    match shell {
        Shell::Bash => format!("env | grep '^{PREFIX}'"),
        Shell::Pwsh => format!("Get-ChildItem Env:{PREFIX}*"),
    }
}

fn title(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => "bash",
        Shell::Pwsh => "PowerShell (pwsh)",
    }
}

pub(super) fn describe(shell: Shell) -> ToolDescription {
    let (title, listing) = (title(shell), listing(shell));
    let (default, most) = (DEFAULT_LIMIT.as_millis(), MAX_TIMEOUT.as_millis());
    let description = format!(
        "Runs a command in a new {title}, without start-up files, a terminal or standard input, and returns what it printed and how it ended. Files last; variables, functions and the working directory do not outlive the call. Of long output the end is returned, and the file that has all of it is named. With run_in_background the command goes on after the call: the result names a job for job_output and job_kill, and you are told when it ends.\n\nFacts about the harness that runs the command, and about the session that the command belongs to, are in managed environment variables, ${PREFIX}*. Where you need such a fact, look there (`{listing}`) rather than search for files or guess. They are made anew for every call. One that is absent does not apply or is not known. A path says where something is kept, not that it is there already or up to date. None of them is a credential."
    );
    let parameters = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": format!("The command, as text for {title}.")},
            "description": {"type": "string", "description": "What the command is for, in five to ten words, for people who follow along."},
            "timeoutMs": {"type": "integer", "minimum": 1, "maximum": most, "description": format!("After how many milliseconds the command is ended; {default} unless given. Of no effect in the background.")},
            "workdir": {"type": "string", "description": "The directory to run in: absolute, or relative to that of the session, which is the default."},
            "run_in_background": {"type": "boolean", "description": "Whether not to wait for the command; it then has no time limit."}
        },
        "required": ["command", "description"],
        "additionalProperties": false
    });
    ToolDescription { name: shell.name().to_owned(), description, parameters }
}
