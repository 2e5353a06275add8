//! Values that no result shows.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::registry::Overlay;

/// The sensitive values of one overlay. A command gets them; what it prints of them goes no further, neither
/// to the model nor into a recording. Values that a command changes before it prints them are beyond this.
#[derive(Debug, Default)]
pub(super) struct Withheld {
    /// Longest first, so that a value that is part of another does not leave the rest of it.
    values: Vec<(String, String)>,
}

impl Withheld {
    pub(super) fn of(overlay: &Overlay) -> Self {
        let sensitive = overlay.iter().filter(|entry| entry.value.is_sensitive());
        Self::new(sensitive.map(|entry| (entry.value.expose().to_owned(), format!("[withheld: {}]", entry.key))))
    }

    /// Values, each with what is shown instead.
    fn new(values: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut values: Vec<_> = values.into_iter().filter(|(value, _)| !value.is_empty()).collect();
        values.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        Self { values }
    }

    /// Bytes as text without the values.
    pub(super) fn redact(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.values.iter().fold(text, |text, (value, instead)| {
            if text.contains(value.as_str()) { text.replace(value.as_str(), instead) } else { text }
        })
    }

    /// The end of a longer text without the values. What may be the end of a value whose beginning is not
    /// there goes too.
    pub(super) fn redact_end(&self, bytes: &[u8]) -> (String, usize) {
        let mut unsure = self.unsure().min(bytes.len());
        // A value that is there as a whole is withheld as one.
        while let Some(value) = self.through(bytes, unsure) {
            unsure = value.start;
        }
        (self.redact(bytes.get(unsure..).unwrap_or_default()), unsure)
    }

    /// How many bytes at a cut may belong to a value that goes through it.
    fn unsure(&self) -> usize {
        self.values.first().map_or(0, |(longest, _)| longest.len() - 1)
    }

    /// How many bytes of what is there so far can be shown, whatever follows.
    fn sure(&self, bytes: &[u8]) -> usize {
        let whole_characters = match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        let mut cut = whole_characters.min(bytes.len().saturating_sub(self.unsure()));
        // A value that goes through the cut is there as a whole: all of it is shown, which is to say withheld.
        while let Some(value) = self.through(bytes, cut) {
            cut = value.end;
        }
        cut
    }

    /// A value that goes through a cut.
    fn through(&self, bytes: &[u8], cut: usize) -> Option<Range<usize>> {
        self.values.iter().find_map(|(value, _)| goes_through(bytes, value.as_bytes(), cut))
    }
}

/// Where `value` is if it begins before the cut and ends behind it.
fn goes_through(bytes: &[u8], value: &[u8], cut: usize) -> Option<Range<usize>> {
    let from = cut.saturating_sub(value.len() - 1);
    let near = bytes.get(from..(cut + value.len() - 1).min(bytes.len()))?;
    let found = near.windows(value.len()).enumerate().find(|(at, window)| {
        let begin = from + at;
        *window == value && begin < cut && begin + value.len() > cut
    });
    found.map(|(at, _)| from + at..from + at + value.len())
}

/// The values of a job, and what was read of its output and cannot be shown yet.
#[derive(Debug, Default)]
pub(super) struct OfJob {
    withheld: Withheld,
    held: Mutex<[Vec<u8>; 2]>,
}

impl OfJob {
    pub(super) fn new(withheld: Withheld) -> Self {
        Self { withheld, held: Mutex::default() }
    }

    pub(super) fn held(&self) -> MutexGuard<'_, [Vec<u8>; 2]> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be shown of what is held and what has come after it; all, if it is the last.
    pub(super) fn redact_piece(&self, held: &mut Vec<u8>, piece: &[u8], last: bool) -> String {
        held.extend_from_slice(piece);
        let sure = if last { held.len() } else { self.withheld.sure(held) };
        let rest = held.split_off(sure);
        let shown = std::mem::replace(held, rest);
        self.withheld.redact(&shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn withheld(values: &[&str]) -> Withheld {
        Withheld::new(values.iter().map(|value| ((*value).to_owned(), "*".to_owned())))
    }

    #[test]
    fn a_value_that_is_part_of_another_leaves_nothing_of_it() {
        assert_eq!(withheld(&["abc", "abcdef", ""]).redact(b"abcdef abc abd"), "* * abd");
    }

    #[test]
    fn the_end_of_a_value_that_was_cut_off_is_not_shown() {
        assert_eq!(withheld(&["secret"]).redact_end(b"cret and secret"), ("and *".to_owned(), 5));
        assert_eq!(withheld(&[]).redact_end(b"cret"), ("cret".to_owned(), 0));
        assert_eq!(withheld(&["secret"]).redact_end(b"t"), (String::new(), 1));
    }

    proptest! {
        #[test]
        fn in_pieces_of_any_size_the_same_is_shown_as_at_once(text in "[abü ]{0,40}", value in "[abü]{1,4}", sizes in prop::collection::vec(0_usize..7, 1..20)) {
            let job = OfJob::new(withheld(&[&value]));
            let mut held = Vec::new();
            let mut rest = text.as_bytes();
            let mut shown = String::new();
            for size in sizes {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                shown += &job.redact_piece(&mut held, piece, false);
                prop_assert!(!shown.contains(&value));
                rest = after;
            }
            shown += &job.redact_piece(&mut held, rest, true);
            prop_assert!(!shown.contains(&value));
            prop_assert_eq!(shown.contains('*'), text.contains(&value));
        }
    }
}
