//! What the user says.

use std::io::{IsTerminal as _, Read as _};

use anyhow::Result;

use crate::command::arguments::RunArguments;
use crate::command::failure;

/// The most bytes of a prompt from standard input.
const MAX_PROMPT_BYTES: u64 = 1024 * 1024;

/// What a script's turns begin with, where nothing else is said. A script does not listen.
const OF_SCRIPT: &str = "Follow the script.";

/// The prompts, one for each turn: those that were given; for a script as many as it has turns, at least one;
/// else what standard input has, to its end.
pub(crate) fn prompts(arguments: &RunArguments, turns: Option<usize>) -> Result<Vec<String>> {
    let mut prompts = arguments.prompt.clone();
    match turns {
        Some(turns) => prompts.resize(turns.max(prompts.len()).max(1), OF_SCRIPT.to_owned()),
        None if prompts.is_empty() => prompts.push(from_standard_input()?),
        None => {}
    }
    Ok(prompts)
}

fn from_standard_input() -> Result<String> {
    let mut stdin = std::io::stdin().lock();
    if stdin.is_terminal() {
        return Err(failure::usage("nothing is asked: give --prompt, or the prompt on standard input"));
    }
    let mut prompt = Vec::new();
    let read = stdin.by_ref().take(MAX_PROMPT_BYTES + 1).read_to_end(&mut prompt);
    read.map_err(|error| failure::usage(format!("the prompt on standard input cannot be read: {error}")))?;
    if prompt.len() as u64 > MAX_PROMPT_BYTES {
        return Err(failure::usage(format!(
            "the prompt on standard input has more than {MAX_PROMPT_BYTES} bytes: say it in fewer, or name a file in it"
        )));
    }
    let prompt = String::from_utf8(prompt)
        .map_err(|_| failure::usage("the prompt on standard input is not UTF-8: give it as UTF-8"))?;
    if dsh_env::text::is_blank(&prompt) {
        return Err(failure::usage("the prompt on standard input is blank: say something, or give --prompt"));
    }
    Ok(prompt.trim_end().to_owned())
}
