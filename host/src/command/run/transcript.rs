//! The events of a session as they happen: lines of the log for programs, something to read for people.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use anstyle::{AnsiColor, Style};
use dsh_env::sessions::Event;
use dsh_env::text::shown_within;
use serde_json::Value;

use crate::command::json;
use crate::command::output::{BAD, NAME, Output, styled};

/// For what is beside the matter.
const QUIET: Style = AnsiColor::BrightBlack.on_default();

/// The most bytes of a line of output that people are shown; the rest is in the log.
const MAX_LINE_BYTES: usize = 400;

/// The most lines of one result that people are shown, from its end.
const MAX_LINES: usize = 20;

/// Writes every event to standard output.
#[derive(Clone)]
pub(crate) struct Transcript {
    json: bool,
    /// Why nothing more can be written.
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Transcript {
    pub(crate) fn new(output: &Output) -> Self {
        Self { json: output.is_json(), failure: Arc::default() }
    }

    /// Writes one event. What fails is told by [`check`](Self::check).
    pub(crate) fn show(&self, event: &Event) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            *failure = self.write(event).err();
        }
    }

    /// Whether everything could be written.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn write(&self, event: &Event) -> io::Result<()> {
        if self.json {
            let mut stdout = io::stdout().lock();
            stdout.write_all(json::line(event)?.as_bytes())?;
            return stdout.flush();
        }
        let mut stdout = anstream::stdout().lock();
        for line in lines(event) {
            writeln!(stdout, "{line}")?;
        }
        stdout.flush()
    }
}

/// What people are shown of an event; of some kinds nothing.
fn lines(event: &Event) -> Vec<String> {
    let text = |name: &str| event.fields.get(name).and_then(Value::as_str).unwrap_or_default();
    match event.kind.as_str() {
        "user/message" => prefixed(&styled(NAME, "user"), text("text")),
        "assistant/message" if !text("text").is_empty() => prefixed(&styled(NAME, "model"), text("text")),
        "job/completed" => prefixed(&styled(QUIET, "job"), text("text")),
        "hook/report" => messages(event).flat_map(|text| prefixed(&styled(NAME, "hook"), text)).collect(),
        "tool/call" => vec![call(text("name"), event.fields.get("arguments"))],
        "tool/result" => {
            let failed = event.fields.get("isError").and_then(Value::as_bool).unwrap_or_default();
            result(text("output"), if failed { BAD } else { QUIET })
        }
        _ => Vec::new(),
    }
}

/// What hooks say to people.
fn messages(event: &Event) -> impl Iterator<Item = &str> {
    event.fields.get("messages").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn prefixed(prefix: &str, text: &str) -> Vec<String> {
    text.lines().map(|line| format!("{prefix} {}", shown_within(line, MAX_LINE_BYTES))).collect()
}

/// A call as people write it.
fn call(name: &str, arguments: Option<&Value>) -> String {
    let text = |name: &str| arguments.and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
    let what = match text("command") {
        Some(command) => command.to_owned(),
        None => arguments.map(Value::to_string).unwrap_or_default(),
    };
    let what = shown_within(&what, MAX_LINE_BYTES);
    let name = styled(NAME, &shown_within(name, MAX_LINE_BYTES));
    match text("description") {
        Some(why) => format!("{name} {what}  {}", styled(QUIET, &format!("# {}", shown_within(why, MAX_LINE_BYTES)))),
        None => format!("{name} {what}"),
    }
}

fn result(output: &str, style: Style) -> Vec<String> {
    let count = output.lines().count();
    let left_out = count.saturating_sub(MAX_LINES);
    let hint = (left_out > 0).then(|| format!("  … {left_out} lines before these"));
    let lines = output.lines().skip(left_out).map(|line| format!("  {}", shown_within(line, MAX_LINE_BYTES)));
    hint.into_iter().chain(lines).map(|line| styled(style, &line)).collect()
}
