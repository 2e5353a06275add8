//! The events of a session as they happen: lines of the log for programs, something to read for people.

use std::io::{self, Write as _};
use std::sync::mpsc;

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use dsh_env::sessions::Event;
use dsh_env::text::shown_within;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::command::json;
use crate::command::output::{BAD, NAME, Output, styled};

/// For what is beside the matter.
const QUIET: Style = AnsiColor::BrightBlack.on_default();

/// The most bytes of a line of output that people are shown; the rest is in the log.
const MAX_LINE_BYTES: usize = 400;

/// The most lines of one result that people are shown, from its end.
const MAX_LINES: usize = 20;

/// Writes every event to standard output, on a thread of its own: whoever reads it may be slow, and signals are
/// to be heeded meanwhile.
#[derive(Clone)]
pub(crate) struct Transcript {
    json: bool,
    writer: mpsc::Sender<Written>,
}

enum Written {
    Text(String),
    /// To be told how it went so far.
    Check(oneshot::Sender<io::Result<()>>),
}

impl Transcript {
    pub(crate) fn new(output: &Output) -> Result<Self> {
        let json = output.is_json();
        let (writer, texts) = mpsc::channel();
        // Not joined: it ends with the process, also while somebody does not read.
        std::thread::Builder::new().name("transcript".to_owned()).spawn(move || write(json, &texts))?;
        Ok(Self { json, writer })
    }

    /// Writes one event soon. What fails is told by [`check`](Self::check).
    pub(crate) fn show(&self, event: &Event) {
        let text = if self.json {
            // An event is made of what JSON has.
            json::line(event).unwrap_or_default()
        } else {
            lines(event).into_iter().map(|line| line + "\n").collect()
        };
        // A writer that is gone has nobody to write to.
        let _ = self.writer.send(Written::Text(text));
    }

    /// Waits until everything so far is written.
    pub(crate) async fn check(&self) -> io::Result<()> {
        let (told, how) = oneshot::channel();
        let _ = self.writer.send(Written::Check(told));
        how.await.unwrap_or(Ok(()))
    }
}

fn write(json: bool, texts: &mpsc::Receiver<Written>) {
    let mut failure = None;
    for written in texts {
        match written {
            Written::Text(text) if failure.is_none() => failure = write_text(json, &text).err(),
            Written::Text(_) => {}
            Written::Check(told) => _ = told.send(failure.take().map_or(Ok(()), Err)),
        }
    }
}

fn write_text(json: bool, text: &str) -> io::Result<()> {
    if json {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        return stdout.flush();
    }
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
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
