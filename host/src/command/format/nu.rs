//! For Nushell.
//!
//! Nushell evaluates no text that a command printed: save it to a file, then `source` that. Without
//! removals, `dsh-env env --format json | from json | load-env` does the same in one line.
//!
//! Nushell's environment has no cases. If it inherited `dsh_x` and the overlay has `DSH_X`, its own
//! commands see the overlay's value under either name, and children get both variables.

use dsh_env::contract::Key;

pub(super) fn removal(name: &str) -> String {
    format!("hide-env --ignore-errors {name}")
}

/// Not `$env.KEY = …`, which would keep the spelling of an inherited variable that differs in case.
pub(super) fn assignment((key, value): (&Key, &str)) -> String {
    format!("load-env {{{key}: {}}}", quoted(value))
}

fn quoted(value: &str) -> String {
    let mut quoted = String::from("\"");
    for character in value.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if character.is_control() => quoted.extend(character.escape_unicode()),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
