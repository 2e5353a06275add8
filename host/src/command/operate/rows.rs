//! Statuses for people.

use dsh_env::text::shown;
use serde_json::Value;

use crate::command::output::{BAD, GOOD, NAME, styled, table};

/// How many digits of a digest are shown: enough to be given to `approve` and `rollback`.
const DIGITS: usize = 12;

/// A table of all, and under it what is to be said of each.
pub(super) fn sentences(statuses: &[Value]) -> String {
    if statuses.is_empty() {
        return "no contributor is installed: dsh-env add FILE installs one".to_owned();
    }
    let rows = statuses.iter().map(|status| {
        let previous = status.get("previous").and_then(Value::as_array).into_iter().flatten();
        let previous: Vec<_> = previous.filter_map(Value::as_str).map(short).collect();
        vec![
            text(status, "name").to_owned(),
            text(status, "state").to_owned(),
            short(text(status, "digest")),
            short(text(status, "candidate")),
            previous.join(" "),
        ]
    });
    let mut lines = vec![table(&["NAME", "STATE", "LIVE", "WAITING", "PREVIOUS"], rows)];
    for status in statuses {
        let said = remarks(status);
        if !said.is_empty() {
            lines.push(format!("\n{}\n  {}", styled(NAME, &shown(text(status, "name"))), said.join("\n  ")));
        }
    }
    lines.join("\n")
}

/// One of them in a line, and what is to be said of it.
pub(super) fn sentence(status: &Value) -> String {
    let state = text(status, "state");
    let style = if state == "live" { GOOD } else { BAD };
    let mut lines = vec![format!("{} is {}", styled(NAME, &shown(text(status, "name"))), styled(style, &shown(state)))];
    let digest = text(status, "digest");
    if !digest.is_empty() {
        lines.push(format!("live: {}", shown(digest)));
    }
    lines.extend(remarks(status));
    lines.join("\n  ")
}

fn remarks(status: &Value) -> Vec<String> {
    let error = status.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
    let notes = status.get("notes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    error.into_iter().chain(notes).map(shown).collect()
}

fn text<'s>(status: &'s Value, name: &str) -> &'s str {
    status.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn short(digest: &str) -> String {
    digest.chars().take(DIGITS).collect()
}
