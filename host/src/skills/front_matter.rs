//! What a skill says about itself at the top of its text.
//!
//! ```text
//! ---
//! name: release
//! description: How a release is made. Use it when somebody asks for one.
//! ---
//! ```
//!
//! Understood is as much of YAML as skills use: between two lines of `---`, lines of `key: value` with the key
//! at the margin. A value is plain, in `'…'`, or in `"…"` with the escapes of JSON; indented lines after it
//! go on with it, a space between; after `>` or `|` the value is the indented lines, with `|` line by line.
//! A `#` after a space begins a comment, but not within quotes or a block. Keys other than `name` and
//! `description` are skipped with whatever is indented below them. Without a first line of `---` there is no
//! front matter, and that is no fault.

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
}

const FENCE: &str = "---";

impl FrontMatter {
    /// Reads the top of a skill's text.
    ///
    /// # Errors
    /// What is wrong with it and what to do, for people.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut front = Self::default();
        let mut lines = text.lines().enumerate().peekable();
        if lines.next().is_none_or(|(_, line)| line.trim_end() != FENCE) {
            return Ok(front);
        }
        while let Some((index, line)) = lines.next() {
            if line.trim_end() == FENCE {
                return Ok(front);
            }
            let number = index + 1;
            let is_empty = line.trim().is_empty() || line.trim_start().starts_with('#');
            // What is indented belongs to a key that was skipped, what begins with a dash to its list.
            if is_empty || is_indented(line) || line.starts_with("- ") {
                continue;
            }
            let Some((key, value)) = line.split_once(':').filter(|(_, value)| is_separate(value)) else {
                return Err(format!("line {number} of its front matter is no \"key: value\": correct it"));
            };
            let wanted = match key.trim() {
                "name" => &mut front.name,
                "description" => &mut front.description,
                _ => continue,
            };
            let mut below = Vec::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| is_indented(line) || line.trim().is_empty()) {
                below.push(line.trim());
            }
            if wanted.is_some() {
                return Err(format!("line {number} of its front matter has a key for the second time: remove it"));
            }
            let value = value_of(value.trim(), &below)
                .ok_or_else(|| format!("line {number} of its front matter has a quote without its end: correct it"))?;
            *wanted = Some(value).filter(|value| !value.is_empty());
        }
        Err(format!("its front matter has no end: put a line of {FENCE} after it"))
    }
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Whether what is after a colon makes it one between a key and a value, and not one within a word.
fn is_separate(value: &str) -> bool {
    value.is_empty() || is_indented(value)
}

/// The value of a key, from what is behind it and the lines below; nothing if a quote has no end.
fn value_of(first: &str, below: &[&str]) -> Option<String> {
    match without_comment(first) {
        "|" | "|-" | "|+" => return Some(below.join("\n").trim().to_owned()),
        ">" | ">-" | ">+" => return Some(folded(below.iter().copied())),
        _ => {}
    }
    let is_quoted = first.starts_with(['\'', '"']);
    let strip = |line| if is_quoted { line } else { without_comment(line) };
    let whole = folded(std::iter::once(first).chain(below.iter().copied()).map(strip));
    if let Some(quoted) = whole.strip_prefix('\'') {
        return single_quoted(quoted);
    }
    if whole.starts_with('"') {
        // Only the first value counts: a comment may be behind it.
        return serde_json::Deserializer::from_str(&whole).into_iter().next()?.ok();
    }
    Some(whole)
}

/// The text in front of the quote that ends it: two quotes are one that does not.
fn single_quoted(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut characters = text.chars().peekable();
    loop {
        match characters.next()? {
            '\'' if characters.next_if_eq(&'\'').is_some() => value.push('\''),
            '\'' => return Some(value),
            character => value.push(character),
        }
    }
}

fn folded<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn without_comment(line: &str) -> &str {
    if line.starts_with('#') {
        return "";
    }
    line.find(" #").and_then(|at| line.get(..at)).unwrap_or(line).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<(Option<String>, Option<String>), String> {
        FrontMatter::read(text).map(|front| (front.name, front.description))
    }

    fn description(front: &str) -> Option<String> {
        read(&format!("---\n{front}\n---\nText.\n")).unwrap().1
    }

    #[test]
    fn name_and_description_are_lines_between_two_fences() {
        let front = read("---\nname: release\ndescription: How to: make one\n---\nname: no\n").unwrap();
        assert_eq!(front, (Some("release".into()), Some("How to: make one".into())));
        let with_windows_line_ends = read("\u{feff}---\r\nname: release\r\n---  \r\n").unwrap();
        assert_eq!(with_windows_line_ends, (Some("release".into()), None));
    }

    #[test]
    fn a_text_without_a_fence_has_no_front_matter() {
        for text in ["", "# Title", "\n---\nname: no\n---\n", "name: no", "----\nname: no\n---\n"] {
            assert_eq!(read(text).unwrap(), (None, None), "{text:?}");
        }
    }

    #[test]
    fn a_value_may_be_quoted_folded_or_kept_line_by_line() {
        for (front, expected) in [
            ("description: plain text # a comment", "plain text"),
            ("description: C# is a # language", "C# is a"),
            ("description: plain\n  that goes on\n  and on", "plain that goes on and on"),
            ("description: 'it''s # quoted' # not this", "it's # quoted"),
            ("description: \"a \\\"b\\\" \\u00e4\\nc\" # not this", "a \"b\" ä\nc"),
            ("description: >-\n  folded\n  text # kept\n\n  on", "folded text # kept on"),
            ("description: |\n  line\n  by line\n", "line\nby line"),
            ("description:\n  below", "below"),
            ("license: MIT\nmetadata:\n  description: no\ntags:\n- a\n- b\n# note\n\ndescription: yes", "yes"),
        ] {
            assert_eq!(description(front).as_deref(), Some(expected), "{front:?}");
        }
        assert_eq!(description("description:"), None);
        assert_eq!(description("description: ''"), None);
        assert_eq!(description("description: # nothing"), None);
    }

    #[test]
    fn what_is_not_understood_is_a_fault_with_its_line() {
        for (text, words) in [
            ("---\nname: x\n", "no end"),
            ("---\nname: x\nwhat\n---\n", "line 3"),
            ("---\nhttp://x\n---\n", "line 2"),
            ("---\nname: 'x\n---\n", "line 2"),
            ("---\nname: \"x\n---\n", "line 2"),
            ("---\nname: x\nname: y\n---\n", "second time"),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.contains(words), "{text:?}: {fault}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_a_fault(text in "(---\n)?([a-z:|>'\"# \t-]{0,12}\n){0,8}(---\n)?") {
            if let Ok(front) = FrontMatter::read(&text) {
                prop_assert!(front.name.is_none_or(|name| !name.is_empty()));
            }
        }
    }
}
