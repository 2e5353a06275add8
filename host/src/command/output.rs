//! Writing to people and to programs.

use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use dsh_env::text::shown;
use serde::Serialize;

use super::json;

/// Columns where nobody knows how wide the terminal is.
const DEFAULT_WIDTH: u16 = 100;

/// For what is right.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For what failed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// For names that a line is about.
pub(crate) const NAME: Style = Style::new().bold();

/// Standard output: data, and nothing else.
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether programs read it.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether people read it, on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Writes one JSON object or array on a line of its own.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<()> {
        self.bytes(json::line(value)?.as_bytes())
    }

    /// Writes text for people; colours stay only on a terminal, and not where `NO_COLOR` is set.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
        Ok(())
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()?;
        Ok(())
    }
}

/// A table as wide as the terminal, whose cells were made safe to show.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| width.0));
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row.iter().map(|cell| shown(cell)));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// `text` in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Says something to people beside the data.
pub(crate) fn note(text: &str) {
    // Nobody is left to tell where standard error is closed.
    let _ = writeln!(anstream::stderr().lock(), "{} {text}", styled(NAME, "dsh-env:"));
}
