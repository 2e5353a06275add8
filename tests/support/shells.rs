//! Which shells there are to test with.

/// Whether a shell is installed. Where `TEST_EVERY_SHELL` is set, as in CI, one that is missing is a
/// failure; elsewhere what it would have shown is left out.
pub(crate) fn is_installed(shell: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(shell).is_file());
    assert!(found || std::env::var_os("TEST_EVERY_SHELL").is_none(), "{shell} is not installed");
    if !found {
        eprintln!("{shell} is not installed: what it would have shown is left out");
    }
    found
}
