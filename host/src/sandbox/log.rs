//! What a contributor printed lately, for the people who operate it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::contract::{ContributorName, Declaration};
use crate::text::shown;

/// The most bytes that the lines of one contributor take that are kept.
const MAX_BYTES: usize = 64 * 1024;

/// The most lines of one call that are looked at: what is more is told by its number.
const MAX_LINES: usize = 1_000;

/// The lines that a contributor printed lately, one a line, control characters escaped, each at most 1 KiB.
/// Cheap to clone; every clone is the same log.
///
/// The words of a contributor that declares a sensitive key are withheld, since it may print a value.
#[derive(Clone, Debug)]
pub struct ContributorLog {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    withheld: AtomicBool,
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<String>,
    bytes: usize,
}

impl ContributorLog {
    pub(super) fn of(declaration: &Declaration) -> Self {
        let sensitive = declaration.variables.iter().any(|variable| variable.sensitive);
        let inner =
            Inner { name: shown(&declaration.name), withheld: AtomicBool::new(sensitive), lines: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// Its words may be shown.
    pub(super) fn show(&self) {
        self.inner.withheld.store(false, Ordering::Relaxed);
    }

    /// Adds what one call printed. What is oldest goes.
    pub(super) fn append(&self, printed: &str) {
        if printed.is_empty() {
            return;
        }
        if self.inner.withheld.load(Ordering::Relaxed) {
            let name = ContributorName::new(&self.inner.name);
            return self.push(name.map_or_else(|_| "[withheld]".to_owned(), |name| name.withheld()));
        }
        let mut lines = printed.lines();
        for line in lines.by_ref().take(MAX_LINES) {
            self.push(shown(line));
        }
        let more = lines.count();
        if more > 0 {
            self.push(format!("… and {more} more lines"));
        }
    }

    /// Adds what the host has to say of a call.
    pub(super) fn note(&self, words: &str) {
        self.push(shown(words));
    }

    fn push(&self, line: String) {
        tracing::info!(contributor = %self.inner.name, "{line}");
        let mut lines = self.inner.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.bytes += cost(&line);
        lines.lines.push_back(line);
        while lines.bytes > MAX_BYTES {
            let Some(oldest) = lines.lines.pop_front() else { break };
            lines.bytes -= cost(&oldest);
        }
    }

    /// The lines, oldest first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.inner.lines.lock().unwrap_or_else(PoisonError::into_inner).lines.iter().cloned().collect()
    }
}

/// Bytes that a line takes, an empty one too.
fn cost(line: &str) -> usize {
    line.len() + size_of::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(sensitive: bool) -> ContributorLog {
        let declaration = Declaration::new("printer");
        let declaration = if sensitive {
            declaration.sensitive_variable("DSH_TOKEN", "A token.")
        } else {
            declaration.variable("DSH_PLACE", "A place.")
        };
        ContributorLog::of(&declaration)
    }

    #[test]
    fn each_line_is_one_line_without_control_characters() {
        let log = log(false);
        log.append("one\r\ntwo\u{1b}[31m\n\nthree");
        assert_eq!(log.lines(), ["one", "two\\u{1b}[31m", "", "three"]);
    }

    #[test]
    fn the_words_of_a_contributor_with_sensitive_values_are_withheld_until_they_may_be_shown() {
        let log = log(true);
        log.append("the token is hunter2");
        assert_eq!(log.lines(), ["[withheld: printer handles sensitive values]"]);
        log.show();
        log.append("hello");
        assert_eq!(log.lines().last().unwrap(), "hello");
    }

    #[test]
    fn a_log_stays_small_however_much_is_printed() {
        let log = log(false);
        for number in 0..10_000 {
            log.append(&format!("line {number} of many, which is a little longer than that\n"));
        }
        let lines = log.lines();
        assert!(lines.last().unwrap().starts_with("line 9999 "));
        for _ in 0..100 {
            log.append(&"\n".repeat(65_536));
        }
        let lines = log.lines();
        assert!(lines.len() <= MAX_BYTES / size_of::<String>());
        assert!(lines.iter().map(String::len).sum::<usize>() <= MAX_BYTES);
        assert_eq!(lines.last().unwrap(), "… and 64536 more lines");
    }
}
