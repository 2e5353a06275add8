//! For bash, and for every shell that reads the same POSIX syntax: sh, dash, ksh, zsh.
//!
//! Holds under `set -eu`, in posix mode, and both sourced from a file and through
//! `eval "$(dsh-env env --format bash)"`. A variable that the shell made read-only cannot be removed or
//! set: the shell says so and stops.

use dsh_env::contract::Key;

/// `-v` because without it bash removes a function of that name where there is no such variable.
pub(super) fn removal(name: &str) -> String {
    format!("unset -v {name}")
}

/// In single quotes nothing has a meaning but the quote itself, in every one of these shells and with
/// all their options, zsh's `RC_QUOTES` included.
pub(super) fn assignment((key, value): (&Key, &str)) -> String {
    format!("export {key}='{}'", value.replace('\'', r"'\''"))
}
