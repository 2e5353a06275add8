//! Values that no result shows.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sensitive values. A command gets them; what it prints of them goes no further, neither
/// to the model nor into a recording. Values that a command changes before it prints them are beyond this.
#[derive(Debug, Default)]
pub(super) struct Withheld {
    /// Longest first, so that a value that is part of another does not leave the rest of it.
    values: Vec<(String, String)>,
}

impl Withheld {
    /// Values, each with what is shown instead.
    pub(super) fn new(values: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut values: Vec<_> = values.into_iter().filter(|(value, _)| !value.is_empty()).collect();
        values.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        Self { values }
    }

    /// Bytes as text without the values.
    pub(super) fn redact(&self, bytes: &[u8]) -> String {
        let mut text = String::new();
        let mut plain = 0;
        let mut at = 0;
        while at < bytes.len() {
            match self.at(bytes, at) {
                Some((value, instead)) => {
                    text.push_str(&String::from_utf8_lossy(bytes.get(plain..at).unwrap_or_default()));
                    text.push_str(instead);
                    at += value.len();
                    plain = at;
                }
                None => at += 1,
            }
        }
        text.push_str(&String::from_utf8_lossy(bytes.get(plain..).unwrap_or_default()));
        text
    }

    /// The end of a longer text without the values, and how many of its first bytes are not in it, since they
    /// may be the end of a value whose beginning is not there.
    pub(super) fn redact_end(&self, bytes: &[u8]) -> (String, usize) {
        let unsure = self.start_after_cut(bytes);
        (self.redact(bytes.get(unsure..).unwrap_or_default()), unsure)
    }

    /// How many of the first bytes may be the end of a value that was cut off, or go with it.
    fn start_after_cut(&self, bytes: &[u8]) -> usize {
        let mut start = self.unsure().min(bytes.len());
        while let Some(end) = self.end_of_value_through(bytes, start) {
            start = end;
        }
        start
    }

    /// Where a value ends that begins before a place and ends behind it.
    fn end_of_value_through(&self, bytes: &[u8], place: usize) -> Option<usize> {
        (place.saturating_sub(self.unsure())..place).find_map(|begin| {
            let rest = bytes.get(begin..)?;
            let ends = self.values.iter().filter(|(value, _)| rest.starts_with(value.as_bytes()));
            ends.map(|(value, _)| begin + value.len()).find(|end| *end > place)
        })
    }

    /// How many bytes at a cut may belong to a value that goes through it.
    fn unsure(&self) -> usize {
        self.values.first().map_or(0, |(longest, _)| longest.len() - 1)
    }

    /// How many bytes of what is there so far can be shown, whatever follows: up to where a value may begin that
    /// is not there as a whole, in whole characters.
    fn sure(&self, bytes: &[u8]) -> usize {
        let whole_characters = match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        let mut limit = whole_characters.min(bytes.len().saturating_sub(self.unsure()));
        while bytes.get(limit).is_some_and(|byte| (0x80..0xc0).contains(byte)) && limit > 0 {
            limit -= 1;
        }
        let mut at = 0;
        while at < limit {
            at += self.at(bytes, at).map_or(1, |(value, _)| value.len());
        }
        at
    }

    /// The longest value that begins at a place.
    fn at(&self, bytes: &[u8], place: usize) -> Option<(&str, &str)> {
        let rest = bytes.get(place..)?;
        let found = self.values.iter().find(|(value, _)| rest.starts_with(value.as_bytes()));
        found.map(|(value, instead)| (value.as_str(), instead.as_str()))
    }
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

    /// What can be shown of a piece before which some was lost, and how many bytes more than those are not shown:
    /// what was held, since its rest is lost, and what may be the end of a value.
    pub(super) fn redact_after_gap(&self, held: &mut Vec<u8>, piece: &[u8], last: bool) -> (String, usize) {
        let lost = std::mem::take(held).len();
        let unsure = self.withheld.start_after_cut(piece);
        (self.redact_piece(held, piece.get(unsure..).unwrap_or_default(), last), lost + unsure)
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

    #[test]
    fn after_a_gap_neither_what_was_held_nor_the_end_of_a_value_is_shown() {
        let job = OfJob::new(withheld(&["secret"]));
        let mut held = Vec::new();
        assert_eq!(job.redact_piece(&mut held, b"before sec", false), "befor");
        assert_eq!(job.redact_after_gap(&mut held, b"cret after", true), ("after".to_owned(), 10));
        assert!(held.is_empty());
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
                rest = after;
            }
            shown += &job.redact_piece(&mut held, rest, true);
            prop_assert_eq!(&shown, &text.replace(&value, "*"));
        }
    }
}
