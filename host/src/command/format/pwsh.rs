//! For PowerShell, on every system, and for Windows PowerShell.
//!
//! Meant for `dsh-env env --format pwsh | Invoke-Expression`, which runs each line by itself, so that
//! every statement is one line; a file that is dot-sourced works too (Windows PowerShell reads it as
//! UTF-8 only if it begins with a byte order mark, which this has not).
//!
//! **Empty values**: from PowerShell 7.5 on `$env:X = ''` sets an empty variable. Before that PowerShell
//! had no way to hold one: it removes the variable, and a child does not see it.

use dsh_env::contract::Key;

/// Prints nothing and succeeds where the variable is not set, and unlike `Remove-Item` never asks for
/// confirmation.
pub(super) fn removal(name: &str) -> String {
    format!("$env:{name} = $null")
}

pub(super) fn assignment((key, value): (&Key, &str)) -> String {
    format!("$env:{key} = {}", quoted(value))
}

/// In single quotes nothing has a meaning but a quote, which is doubled. Line breaks are added by their
/// code, since a pipeline would take the text apart at each of them: `'…' + [char]10 + '…'`.
fn quoted(value: &str) -> String {
    let mut quoted = String::from("'");
    for character in value.chars() {
        match character {
            '\n' | '\r' => quoted.push_str(&format!("' + [char]{} + '", u32::from(character))),
            _ if is_quote(character) => quoted.extend([character, character]),
            _ => quoted.push(character),
        }
    }
    quoted.push('\'');
    quoted
}

/// PowerShell takes the typographic single quotes for single quotes too, each for any other.
fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '\u{2018}'..='\u{201b}')
}
