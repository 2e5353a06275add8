//! `KEY=VALUE`, each closed by a NUL byte: what `env -0` prints, `xargs -0` reads, and
//! `/proc/self/environ` holds.

use dsh_env::contract::Key;

pub(super) fn render<'a>(variables: impl Iterator<Item = (&'a Key, &'a str)>) -> String {
    variables.map(|(key, value)| format!("{key}={value}\0")).collect()
}
