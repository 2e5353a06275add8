//! The managed variables that are already there.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use dsh_env::contract::is_managed_name;

/// The names of an environment that are managed, in any case, and that a shell can name; sorted, each
/// once.
///
/// A shell can name identifiers only, `[A-Za-z_][A-Za-z0-9_]*`, and does not pass others on as
/// variables of its own. Being nothing but identifiers, the names need no quotes anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InheritedManaged(BTreeSet<String>);

impl InheritedManaged {
    /// Those among the names of an environment, such as the first halves of [`std::env::vars_os`].
    #[must_use]
    pub(crate) fn among(names: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let managed = |name: &str| is_managed_name(name.as_bytes()) && is_identifier(name);
        Self(
            names
                .into_iter()
                .filter_map(|name| name.as_ref().to_str().filter(|name| managed(name)).map(Into::into))
                .collect(),
        )
    }

    /// The names, sorted in byte order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
