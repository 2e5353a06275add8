//! What a model is told of a command that has ended.

use crate::executor::{End, Finished, Output};
use crate::tools::withheld::Withheld;
use crate::tools::{Ended, ToolResult};

/// What it printed, and then how it ended where that is not plain success.
pub(super) fn finished(finished: &Finished, withheld: &Withheld) -> ToolResult {
    let mut parts = Vec::new();
    parts.extend(stream(&finished.stdout, None, withheld));
    parts.extend(stream(&finished.stderr, Some("standard error"), withheld));
    parts.extend(end(finished.end));
    if parts.is_empty() {
        parts.push("[no output]".to_owned());
    }
    let told = ToolResult::told(parts.join("\n"));
    ToolResult { ended: Some(ended(finished.end)), ..told }
}

/// The end of a stream, and where the rest is; nothing of an empty one.
fn stream(output: &Output, title: Option<&str>, withheld: &Withheld) -> Option<String> {
    if output.total == 0 {
        return None;
    }
    let mut lines = Vec::new();
    lines.extend(title.map(|title| format!("[{title}]")));
    let cut = output.total.saturating_sub(output.tail.len() as u64);
    let (text, unsure) = if cut > 0 { withheld.redact_end(&output.tail) } else { (withheld.redact(&output.tail), 0) };
    let left_out = cut + unsure as u64;
    if left_out > 0 {
        let whole = output.spill.as_ref().map(|spill| {
            let what = if spill.complete { "all of it is" } else { "its beginning is" };
            format!("; {what} in {}", spill.path.display())
        });
        lines.push(format!("[{left_out} bytes before this are left out{}]", whole.unwrap_or_default()));
    }
    lines.push(without_last_line_end(&text).to_owned());
    Some(lines.join("\n"))
}

pub(super) fn without_last_line_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// How it ended, unless all is well.
fn end(end: End) -> Option<String> {
    (!end.is_success()).then(|| format!("[{end}]"))
}

pub(super) fn ended(end: End) -> Ended {
    let none = Ended { exit_code: None, signal: None, timed_out: false, cancelled: false };
    match end {
        End::Exited(code) => Ended { exit_code: Some(code), ..none },
        End::Signalled(signal) => Ended { signal: Some(signal), ..none },
        End::TimedOut { signal, .. } => Ended { signal: Some(signal), timed_out: true, ..none },
        End::Cancelled { signal } => Ended { signal: Some(signal), cancelled: true, ..none },
    }
}
