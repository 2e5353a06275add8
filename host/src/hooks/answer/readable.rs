//! Text of a hook for people and models: trimmed, bounded, and unable to steer a terminal.

use crate::text::shown_lines;

/// `text` without white space around it, with what could steer a terminal escaped but for line ends and tabs,
/// cut to `limit` bytes.
pub(super) fn readable(text: &str, limit: usize) -> String {
    shown_lines(&text.trim().replace("\r\n", "\n"), limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::steers;
    use proptest::prelude::*;

    #[test]
    fn lines_stay_and_what_steers_a_terminal_does_not() {
        assert_eq!(readable("\n a\tb\r\nc \u{1b}[2J\u{202e}\r \n", 100), "a\tb\nc \\u{1b}[2J\\u{202e}");
        assert_eq!(readable(" \n\t", 100), "");
        assert_eq!(readable("abcdefgh", 8), "abcdefgh");
        assert_eq!(readable("abcdefghi", 8), "abcde…");
    }

    proptest! {
        #[test]
        fn it_is_never_longer_than_its_limit(text in any::<String>(), limit in 3usize..100) {
            let readable = readable(&text, limit);
            prop_assert!(readable.len() <= limit);
            prop_assert!(!readable.chars().any(|c| steers(c) && c != '\n' && c != '\t'));
        }
    }
}
