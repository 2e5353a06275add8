//! The one setting of Git's that matters here: which work tree a Git directory is of.
//!
//! A strict reader of Git's configuration format. What includes or the environment would add is not looked at,
//! and what is not understood is an error rather than a guess.

use super::directory::{Directory, shown_path};

/// Where Git keeps it: in the second file where each work tree has its own settings, which go before.
const FILES: [&str; 2] = ["config.worktree", "config"];

/// The value of `core.worktree`, if the directory's own configuration has one.
///
/// # Errors
/// That a file cannot be read or is not in Git's format, in words.
pub(super) fn work_tree(git: &Directory) -> Result<Option<Vec<u8>>, String> {
    for name in FILES {
        let Some(bytes) = git.read(name)? else { continue };
        let found = core_worktree(&bytes)
            .ok_or_else(|| format!("{} is not in Git's format", shown_path(&git.path().join(name))))?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The last `worktree` of the sections `[core]`, if there is one; nothing at all if the text is not in Git's
/// format.
fn core_worktree(text: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut reader = Reader { rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) };
    let (mut in_core, mut found) = (false, None);
    loop {
        reader.skip(|byte| byte.is_ascii_whitespace());
        match reader.peek() {
            None => return Some(found),
            Some(b'#' | b';') => reader.skip(|byte| byte != b'\n'),
            Some(b'[') => in_core = reader.section()?.eq_ignore_ascii_case(b"core"),
            Some(byte) if byte.is_ascii_alphabetic() => {
                let name = reader.name();
                let value = reader.value()?;
                if in_core && name.eq_ignore_ascii_case(b"worktree") {
                    // Git takes a name alone for "true", which is no directory.
                    found = Some(value?);
                }
            }
            Some(_) => return None,
        }
    }
}

struct Reader<'t> {
    rest: &'t [u8],
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> &'t [u8] {
        let end = self.rest.iter().position(|byte| !wanted(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        self.take(wanted);
    }

    /// `[name]` or `[name "more"]`, of which the second is another section than the first.
    fn section(&mut self) -> Option<&'t [u8]> {
        self.next()?;
        let name = self.take(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
        match self.next()? {
            b']' => Some(name),
            b' ' | b'\t' => {
                self.skip(|byte| matches!(byte, b' ' | b'\t'));
                if self.next()? != b'"' {
                    return None;
                }
                loop {
                    match self.next()? {
                        b'"' => break,
                        b'\n' => return None,
                        b'\\' => _ = self.next()?,
                        _ => {}
                    }
                }
                (self.next()? == b']').then_some(b"")
            }
            _ => None,
        }
    }

    fn name(&mut self) -> &'t [u8] {
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    }

    /// What follows a name: none, or `=` and a value to the end of its line.
    fn value(&mut self) -> Option<Option<Vec<u8>>> {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        match self.peek() {
            None | Some(b'\n' | b'#' | b';') => return Some(None),
            Some(b'=') => _ = self.next(),
            Some(_) => return None,
        }
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        let (mut value, mut quoted, mut trimmed) = (Vec::new(), false, 0);
        loop {
            match self.next() {
                None | Some(b'\n') if quoted => return None,
                None | Some(b'\n') => break,
                Some(b'#' | b';') if !quoted => {
                    self.skip(|byte| byte != b'\n');
                }
                Some(b'"') => quoted = !quoted,
                Some(b'\\') => match self.escaped()? {
                    // The line goes on.
                    None => {}
                    Some(byte) => {
                        value.push(byte);
                        trimmed = value.len();
                    }
                },
                Some(0) => return None,
                Some(byte) => {
                    value.push(byte);
                    if quoted || !byte.is_ascii_whitespace() {
                        trimmed = value.len();
                    }
                }
            }
        }
        // White space at the end of the line.
        value.truncate(trimmed);
        Some(Some(value))
    }

    /// What follows a backslash; none for the end of a line.
    fn escaped(&mut self) -> Option<Option<u8>> {
        match self.next()? {
            b'\n' => Some(None),
            b'\r' if self.peek() == Some(b'\n') => {
                self.next();
                Some(None)
            }
            b'n' => Some(Some(b'\n')),
            b't' => Some(Some(b'\t')),
            b'b' => Some(Some(8)),
            byte @ (b'"' | b'\\') => Some(Some(byte)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::core_worktree;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<Option<String>> {
        core_worktree(text.as_bytes()).map(|found| found.map(|value| String::from_utf8(value).unwrap()))
    }

    fn is(value: &str) -> Option<Option<String>> {
        Some(Some(value.to_owned()))
    }

    #[test]
    fn the_last_value_in_the_section_counts() {
        assert_eq!(read("[core]\n\tbare = false\n\tworktree = ../../../sub\n"), is("../../../sub"));
        assert_eq!(read("[core]\nworktree = a\n[CORE]\nWorkTree=b\n[remote \"o\"]\nworktree = c\n"), is("b"));
        assert_eq!(read("[core] worktree = /x"), is("/x"));
        assert_eq!(read("# [core]\n; worktree = a\n[core]\n# worktree = b\n"), Some(None));
        assert_eq!(read(""), Some(None));
    }

    #[test]
    fn other_sections_do_not_count() {
        for text in
            ["worktree = a\n", "[core \"x\"]\nworktree = a\n", "[cores]\nworktree = a\n", "[core.x]\nworktree = a"]
        {
            assert_eq!(read(text), Some(None), "{text}");
        }
    }

    #[test]
    fn values_are_unquoted_as_git_does() {
        for (text, value) in [
            (r#" = "a b" "#, "a b"),
            ("=a  b  # c", "a  b"),
            ("=a;b", "a"),
            (r#"="a;b"  "#, "a;b"),
            (r#"="a " "#, "a "),
            (r"=a\\b\tc", "a\\b\tc"),
            ("=a\\\n b", "a b"),
            ("=", ""),
        ] {
            assert_eq!(read(&format!("[core]\nworktree{text}\nx = y\n")), is(value), "{text:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_no_value() {
        for text in [
            "[core",
            "[core]\nworktree = \"a\n",
            "[core]\nworktree = a\\x\n",
            "[core]\nworktree\n",
            "[core]\n=a\n",
            "[core x]\n",
            "{}",
            "[core]\nworktree = a\0\n",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn git_reads_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        for value in ["plain", "a b", " a ", "a;b", "a#b", "a\"b", "a\\b", "tab\there", "ü"] {
            let git = |arguments: &[&str]| {
                std::process::Command::new("git")
                    .arg("config")
                    .arg("--file")
                    .arg(&file)
                    .args(arguments)
                    .output()
                    .unwrap()
            };
            assert!(git(&["core.worktree", value]).status.success());
            assert_eq!(core_worktree(&std::fs::read(&file).unwrap()), Some(Some(value.as_bytes().to_vec())));
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<Vec<u8>>(), more in "[\\[\\]core=\"\\\\ \n\twrk]{0,40}") {
            let _ = (core_worktree(&text), core_worktree(more.as_bytes()));
        }
    }
}
