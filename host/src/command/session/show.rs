//! `session show`: what is in a session.

use anyhow::Result;
use dsh_env::sessions::Event;
use dsh_env::text::shown_within;
use serde::Serialize;

use super::summary::{describe, lines, path, time};
use crate::command::arguments::ShowArguments;
use crate::command::output::{NAME, Output, note, styled};

/// The most bytes of an event's kind, and of its fields where nobody knows how wide the terminal is.
const KIND: usize = 60;
const FIELDS: usize = 200;

/// The fewest bytes of an event's fields, however narrow the terminal is.
const FEWEST: usize = 20;

/// Prints the header and the events.
pub(super) fn run(arguments: &ShowArguments, output: &Output) -> Result<()> {
    let store = super::store(&arguments.session.store)?;
    let (id, project) = arguments.session.key()?;
    let loaded = store.load(&id, project)?;
    if output.is_json() {
        line_of_log(&loaded.header, output)?;
        for event in &loaded.events {
            line_of_log(event, output)?;
        }
    } else {
        let mut rows = describe(&loaded.header);
        rows.push(("location", Some(path(loaded.location.as_ref()))));
        rows.push(("events", Some(loaded.events.len().to_string())));
        output.text(&lines(&rows))?;
        for event in &loaded.events {
            output.text(&line(event)?)?;
        }
    }
    if loaded.torn > 0 {
        note(&format!("{} bytes of a torn end are not shown; session resume removes them", loaded.torn));
    }
    Ok(())
}

/// A line as it is in the log; on a terminal with what could steer it escaped, which is the same to a reader of JSON.
fn line_of_log(value: &impl Serialize, output: &Output) -> Result<()> {
    if output.is_terminal() {
        return output.json(value);
    }
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    output.bytes(&line)
}

/// One line of an event: number, time, kind, and as much of the rest as fits.
fn line(event: &Event) -> Result<String> {
    let begin = format!("{:>6}  {}  ", event.seq, time(event.at));
    let kind = shown_within(&event.kind, KIND);
    let taken = begin.chars().count() + kind.chars().count() + 2;
    let room = terminal_size::terminal_size().map_or(FIELDS, |(width, _)| usize::from(width.0).saturating_sub(taken));
    let fields = shown_within(&serde_json::to_string(&event.fields)?, room.max(FEWEST));
    Ok(format!("{begin}{}  {fields}", styled(NAME, &kind)))
}
