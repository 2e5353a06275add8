//! What the user says.

use std::io::{IsTerminal as _, Read as _};

use anyhow::Result;

use crate::command::failure;

/// The most bytes of a prompt from standard input.
const MAX_PROMPT_BYTES: u64 = 1024 * 1024;

/// What a script's turns begin with, where nothing else is said. A script does not listen.
const OF_SCRIPT: &str = "Follow the script.";

/// The prompts, one for each turn.
pub(crate) enum Prompts {
    /// These.
    Given(std::vec::IntoIter<String>),
    /// One, from standard input.
    Asked,
}

impl Prompts {
    /// As many as a script has turns, at least one.
    pub(crate) fn of_script(mut given: Vec<String>, turns: usize) -> Self {
        let turns = turns.max(given.len()).max(1);
        given.resize(turns, OF_SCRIPT.to_owned());
        Self::Given(given.into_iter())
    }

    /// Those that were given, else what standard input has.
    pub(crate) fn of_user(given: Vec<String>) -> Self {
        if given.is_empty() { Self::Asked } else { Self::Given(given.into_iter()) }
    }
}

impl Iterator for Prompts {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Given(prompts) => prompts.next().map(Ok),
            Self::Asked => {
                *self = Self::Given(Vec::new().into_iter());
                Some(from_standard_input())
            }
        }
    }
}

fn from_standard_input() -> Result<String> {
    let mut stdin = std::io::stdin().lock();
    if stdin.is_terminal() {
        return Err(failure::usage("nothing is asked: give --prompt, or the prompt on standard input"));
    }
    let mut prompt = String::new();
    let read = stdin.by_ref().take(MAX_PROMPT_BYTES).read_to_string(&mut prompt);
    read.map_err(|error| failure::usage(format!("the prompt on standard input cannot be used: {error}")))?;
    if dsh_env::text::is_blank(&prompt) {
        return Err(failure::usage("the prompt on standard input is blank: say something, or give --prompt"));
    }
    Ok(prompt.trim_end().to_owned())
}
