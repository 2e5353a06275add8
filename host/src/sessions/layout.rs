//! How a session's folder is called: the project it was started for, then its id.
//!
//! Both come from text that anybody may choose and end up as one component of a path each. What is left
//! has none but the characters `A-Z a-z 0-9 . _ - ~`, on every file system the same. The rules work on
//! UTF-16 units because logs that exist were named by a program that counts in them.

/// The project of sessions that were not started for a directory.
const NO_CWD: &str = "_no-cwd";

/// The project of a directory whose name has nothing to show, such as `/`.
const ROOT: &str = "root";

/// Put before and after a project's name, so that no directory is mistaken for [`NO_CWD`].
const WRAP: &str = "--";

/// The most units of a project's name: with both [`WRAP`]s 255, which file systems take.
const MAX_PROJECT_UNITS: usize = 251;

/// The folder of every session that was started for `cwd`, as the header has it.
///
/// Many directories may share a project: separators are lost, and long names are cut.
pub(super) fn project(cwd: Option<&str>) -> String {
    let Some(cwd) = cwd else { return NO_CWD.to_owned() };
    let mut name = String::new();
    let mut after_separator = false;
    for unit in cwd.encode_utf16() {
        let separator = is_separator(unit);
        if separator && after_separator {
            continue;
        }
        after_separator = separator;
        push_escaped(&mut name, if separator { u16::from(b'-') } else { unit });
        // Leading ones go, whether they were separators or not.
        if name == "-" {
            name.clear();
        }
        if name.len() >= MAX_PROJECT_UNITS {
            // Everything in the name is ASCII: units are bytes. A cut may well go through an escape.
            name.truncate(MAX_PROJECT_UNITS);
            break;
        }
    }
    let name = if name.is_empty() { ROOT } else { &name };
    format!("{WRAP}{name}{WRAP}")
}

/// The folder of the session `id` below its project; no two ids share one.
pub(super) fn session(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    // These two are directories already.
    let escape_all = matches!(id, "." | "..");
    for unit in id.encode_utf16() {
        if escape_all { push_escape(&mut name, unit) } else { push_escaped(&mut name, unit) }
    }
    name
}

fn is_separator(unit: u16) -> bool {
    [b'/', b'\\', b':'].map(u16::from).contains(&unit)
}

fn push_escaped(name: &mut String, unit: u16) {
    match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-') => name.push(char::from(byte)),
        _ => push_escape(name, unit),
    }
}

fn push_escape(name: &mut String, unit: u16) {
    name.push_str(&format!("~{unit:04X}"));
}
