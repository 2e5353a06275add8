//! For fish, from version 3.0 on.
//!
//! Meant for `dsh-env env --format fish | source`. `eval (dsh-env env --format fish)` works too, for
//! which every statement is one line that ends in `;`.
//!
//! Every Unicode character comes back, those included that fish uses for itself (U+F600 to U+F6FF and
//! U+FDD0 to U+FDEF): it keeps their bytes apart when it reads them. A *universal* variable of a
//! removed name is not erased, since that would erase it for every session of the user.

use dsh_env::contract::Key;

/// Global, where fish puts what it inherits. Erasing what is not there prints nothing, but fails, and
/// the assignments after it would leave the status of the whole as it is.
pub(super) fn removal(name: &str) -> String {
    format!("set -eg {name}; or true;")
}

/// `--unpath` because fish takes a variable whose name ends in `PATH` for a list and would split its
/// value at every colon.
pub(super) fn assignment((key, value): (&Key, &str)) -> String {
    format!("set -gx --unpath {key} {};", quoted(value))
}

/// In single quotes a backslash escapes itself and the quote. A line break goes between two quoted
/// parts, as `'…'\n'…'`, so that the statement is one line.
fn quoted(value: &str) -> String {
    let escaped = value.replace('\\', r"\\").replace('\'', r"\'");
    format!("'{}'", escaped.replace('\n', r"'\n'"))
}
