//! Text that came from somebody else, made safe to show.
//!
//! Whatever a contributor, a file or the environment said may end up on a terminal, in a log or in a
//! JSON object. [`shown`] is the only way there: it escapes what could steer a terminal or reorder a
//! line, and bounds the length.

/// The most bytes of foreign text that one message carries.
pub const MAX_SHOWN_BYTES: usize = 1024;

/// `text` with every character that could steer a terminal escaped, cut to [`MAX_SHOWN_BYTES`].
///
/// Escaped are control characters (C0, DEL, C1), line and paragraph separators, and the invisible
/// format characters that reorder or hide text. A cut is marked with `…`, which counts.
#[must_use]
pub fn shown(text: &str) -> String {
    shown_within(text, MAX_SHOWN_BYTES)
}

/// Like [`shown`], cut to `limit` bytes.
#[must_use]
pub fn shown_within(text: &str, limit: usize) -> String {
    escaped(text, limit, steers)
}

/// Like [`shown_within`], for text that has lines: line ends and tabs stay as they are.
#[must_use]
pub fn shown_lines(text: &str, limit: usize) -> String {
    escaped(text, limit, |character| steers(character) && !matches!(character, '\n' | '\t'))
}

fn escaped(text: &str, limit: usize, steers: impl Fn(char) -> bool) -> String {
    const CUT: char = '…';
    let room = limit.saturating_sub(CUT.len_utf8());
    let mut out = String::new();
    let mut cut_at = 0;
    for character in text.chars() {
        if steers(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
        if out.len() <= room {
            cut_at = out.len();
        } else if out.len() > limit {
            out.truncate(cut_at);
            out.push(CUT);
            return out;
        }
    }
    out
}

/// Whether a terminal, or the eye of a reader, could be led astray by `character`.
#[must_use]
pub fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Soft hyphen, Arabic letter mark, zero-width and direction marks, line and paragraph
            // separators, embeddings and overrides, word joiner to isolates, the byte order mark,
            // the tag characters, fillers that are letters and cannot be seen, and selectors of variants beyond
            // the ordinary ones.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}'
        )
}

/// Whether `text` has nothing but white space, by the definition of ECMAScript's `trim`, which the
/// rules for homes and descriptions come from.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        assert_eq!(shown("ü漢🦀 'q' \\ $(id)"), "ü漢🦀 'q' \\ $(id)");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(shown("a\u{1b}[31m\r\n\u{202e}b\u{9b}"), "a\\u{1b}[31m\\u{d}\\u{a}\\u{202e}b\\u{9b}");
    }

    #[test]
    fn blank_means_what_the_original_means_by_it() {
        for blank in ["", " ", "\t\n\r\u{b}\u{c}", "\u{a0}\u{2003}\u{3000}\u{feff}"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in ["x", " x ", "\u{85}", "\u{200b}"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_shown_longer_than_the_limit_or_with_a_control_character(text in any::<String>(), limit in 3usize..200) {
            let shown = shown_within(&text, limit);
            prop_assert!(shown.len() <= limit);
            prop_assert!(!shown.chars().any(char::is_control));
        }

        #[test]
        fn text_that_fits_is_not_cut(text in "[a-z漢]{0,40}") {
            prop_assert_eq!(shown_within(&text, text.len().max(3)), text);
        }
    }
}
