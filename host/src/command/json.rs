//! JSON that is safe to look at.
//!
//! JSON itself only escapes the first 32 control characters. A value may as well steer a terminal with
//! DEL, C1 or a direction mark, so those are written as escapes too; a reader gets the same text back.

use dsh_env::text::steers;
use serde::Serialize;

/// One value on a line of its own.
///
/// # Errors
/// When the value cannot be written as JSON.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let plain = serde_json::to_string(value)?;
    let mut line = String::with_capacity(plain.len() + 1);
    for character in plain.chars() {
        // Outside of strings JSON is ASCII without control characters, so this can only be within one.
        if steers(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                line.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_reads_back_as_what_was_written_and_steers_no_terminal(text in any::<String>()) {
            let line = line(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
            prop_assert!(!line.trim_end_matches('\n').chars().any(steers));
        }
    }

    #[test]
    fn what_json_leaves_raw_is_escaped() {
        assert_eq!(line(&"\u{7f}\u{9b}\u{202e}\u{e0001}é").unwrap(), "\"\\u007f\\u009b\\u202e\\udb40\\udc01é\"\n");
    }
}
