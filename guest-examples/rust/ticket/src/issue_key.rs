//! What counts as an issue key, and where it is looked for.

/// The first issue key in the last component of `workdir`, an absolute path.
///
/// An issue key is a project, a dash and a number, such as `ABC-123`:
///
/// - the project has 2 to 10 characters: an upper-case letter `A` to `Z`, then such letters or digits;
/// - the number has 1 to 9 digits, the first of them not 0;
/// - neither is part of a longer word: a letter, a digit or any character beyond ASCII beside it makes it none.
///
/// Upper case is what tells a key from an ordinary word: a folder named after a branch, such as `fix-abc-123-login`,
/// has none. Only the last component counts, so a folder below the issue's own has none either. Trailing separators
/// are ignored, and a root has no component. A path that does not begin with `/` is a Windows one, where `\` separates
/// too.
pub fn issue_key(workdir: &str) -> Option<&str> {
    let name = last_component(workdir);
    name.bytes().enumerate().filter(|(_, byte)| *byte == b'-').find_map(|(dash, _)| key_around(name, dash))
}

fn last_component(path: &str) -> &str {
    let windows = !path.starts_with('/');
    let separates = |c| c == '/' || windows && c == '\\';
    let path = path.trim_end_matches(separates);
    path.rfind(separates).and_then(|last| path.get(last + 1..)).unwrap_or(path)
}

/// The key whose dash is at `dash`, if the words on either side make one.
fn key_around(name: &str, dash: usize) -> Option<&str> {
    let (before, after) = (name.get(..dash)?, name.get(dash + 1..)?);
    let start = dash - before.bytes().rev().take_while(in_word).count();
    let end = dash + 1 + after.bytes().take_while(in_word).count();
    let is_key = is_project(name.get(start..dash)?) && is_number(name.get(dash + 1..end)?);
    is_key.then(|| name.get(start..end))?
}

fn in_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

fn is_project(word: &str) -> bool {
    (2..=10).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn is_number(word: &str) -> bool {
    (1..=9).contains(&word.len()) && !word.starts_with('0') && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_named_by_a_key_gives_it() {
        assert_eq!(issue_key("/srv/ABC-123"), Some("ABC-123"));
    }

    #[test]
    fn a_key_may_stand_between_other_words() {
        assert_eq!(issue_key("/srv/fix-ABC-123-login"), Some("ABC-123"));
        assert_eq!(issue_key("/srv/my_ABC-123_login"), Some("ABC-123"));
        assert_eq!(issue_key("/srv/my ABC-123.login"), Some("ABC-123"));
    }

    #[test]
    fn lower_case_gives_nothing() {
        for name in ["fix-abc-123-login", "abc-123", "Abc-123", "ABc-123"] {
            assert_eq!(issue_key(&format!("/srv/{name}")), None, "{name}");
        }
    }

    #[test]
    fn the_first_of_several_keys_wins() {
        assert_eq!(issue_key("/srv/ABC-1-DEF-2"), Some("ABC-1"));
        assert_eq!(issue_key("/srv/X-9-DEF-2"), Some("DEF-2"));
    }

    #[test]
    fn a_project_has_2_to_10_characters_and_begins_with_a_letter() {
        for name in ["AB-1", "A2-1", "ABCDEFGHIJ-1"] {
            assert_eq!(issue_key(&format!("/srv/{name}")), Some(name));
        }
        for name in ["A-1", "ABCDEFGHIJK-1", "2B-1", "-1"] {
            assert_eq!(issue_key(&format!("/srv/{name}")), None, "{name}");
        }
    }

    #[test]
    fn a_number_has_1_to_9_digits_and_no_leading_zero() {
        for name in ["ABC-1", "ABC-10", "ABC-123456789"] {
            assert_eq!(issue_key(&format!("/srv/{name}")), Some(name));
        }
        for name in ["ABC-0", "ABC-01", "ABC-1234567890", "ABC-", "ABC", "ABC--1", "ABC-٣"] {
            assert_eq!(issue_key(&format!("/srv/{name}")), None, "{name}");
        }
    }

    #[test]
    fn what_is_part_of_a_longer_word_is_no_key() {
        for name in ["xABC-123", "éABC-123", "9ABC-123", "ABC-123x", "ABC-123é"] {
            assert_eq!(issue_key(&format!("/srv/{name}")), None, "{name}");
        }
    }

    #[test]
    fn only_the_last_component_counts() {
        assert_eq!(issue_key("/srv/ABC-123/src"), None);
        assert_eq!(issue_key("/srv/ABC-123/DEF-4"), Some("DEF-4"));
    }

    #[test]
    fn trailing_slashes_are_ignored() {
        assert_eq!(issue_key("/srv/ABC-123/"), Some("ABC-123"));
        assert_eq!(issue_key("/srv/ABC-123//"), Some("ABC-123"));
    }

    #[test]
    fn a_root_gives_nothing() {
        for root in ["/", "//", "", r"C:\"] {
            assert_eq!(issue_key(root), None, "{root}");
        }
    }

    #[test]
    fn a_backslash_separates_in_windows_paths_only() {
        assert_eq!(issue_key(r"C:\work\ABC-123\"), Some("ABC-123"));
        assert_eq!(issue_key(r"C:\ABC-123\src"), None);
        assert_eq!(issue_key(r"/srv/ABC-123\src"), Some("ABC-123"));
    }
}
