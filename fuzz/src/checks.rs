//! What holds of every error and every overlay, whoever led to it. The rules are written down anew, so that a
//! mistake in the library is not repeated here.

use std::ffi::OsStr;

use dsh_env::Error;
use dsh_env::contract::{Execution, SessionHeader, SessionId};
use dsh_env::home::Home;
use dsh_env::registry::{Overlay, Registry};

/// The most bytes of an error as text: 4 KiB of the host's own words, 1 KiB of a guest's, and what both are
/// wrapped in.
const MAX_ERROR_BYTES: usize = 6 * 1024;

/// The most bytes of a key in an error, which may be no valid one.
const MAX_SHOWN_KEY_BYTES: usize = 256;

/// The most bytes of an overlay: keys, values, and two for each variable.
const MAX_OVERLAY_BYTES: usize = 128 * 1024;

/// A registry whose home is always the same.
pub fn registry() -> Registry {
    Registry::new(&Home::resolve(Some(OsStr::new("/srv/home"))).unwrap())
}

/// A call that has a bit of everything.
pub fn execution() -> Execution {
    let header = SessionHeader::new(SessionId::new("s1").unwrap()).with_cwd("/srv");
    let mut execution = Execution::new("bash").owned_by(header).in_workdir("/srv/app");
    execution.extensions = vec![("branch".to_owned(), "main".to_owned())];
    execution
}

/// An error says something, is bounded, and steers no terminal.
pub fn error(error: &Error) {
    let text = error.to_string();
    assert!(!error.message().trim().is_empty(), "{error:?}");
    assert!(text.len() <= MAX_ERROR_BYTES, "{} bytes: {text}", text.len());
    for text in [text.as_str(), error.key().unwrap_or_default()] {
        assert!(!text.chars().any(steers), "{text:?}");
    }
    assert!(error.key().is_none_or(|key| key.len() <= MAX_SHOWN_KEY_BYTES), "{error:?}");
}

/// An overlay is sorted, bounded, and has nothing that an environment cannot hold.
pub fn overlay(overlay: &Overlay) {
    let keys: Vec<&str> = overlay.iter().map(|entry| entry.key.as_str()).collect();
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "not sorted, or twice: {keys:?}");
    assert!(keys.iter().all(|key| is_key(key)), "{keys:?}");
    let mut bytes = 0;
    for entry in overlay {
        assert!(!entry.value.expose().contains('\0'), "{} has a NUL", entry.key);
        bytes += entry.key.as_str().len() + entry.value.expose().len() + 2;
        let of_host = is_reserved(entry.key.as_str());
        assert_eq!(of_host, entry.contributor.is_none(), "{} is {}'s", entry.key, entry.owner());
    }
    assert!(bytes <= MAX_OVERLAY_BYTES, "{bytes} bytes");
    let said = overlay.get("DSH_DEGRADED").map(|entry| entry.value.expose().to_owned());
    let degraded: Vec<&str> = overlay.degraded().iter().map(|key| key.as_str()).collect();
    assert_eq!(said.unwrap_or_default(), degraded.join(" "));
}

/// Whether it is a managed key: `DSH_[A-Z][A-Z0-9_]*`, at most 128 bytes.
pub fn is_key(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("DSH_") else { return false };
    text.len() <= 128
        && rest.starts_with(|first: char| first.is_ascii_uppercase())
        && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a key is the host's own.
pub fn is_reserved(key: &str) -> bool {
    ["DSH_HOME", "DSH_SHELL", "DSH_SESSION_ID", "DSH_DEGRADED", "DSH_CALL_ID"].contains(&key)
        || key.starts_with("DSH_HOST_")
}

/// Whether it is a contributor's name: `[a-z0-9][a-z0-9._-]*`, at most 63 bytes, not `host`.
pub fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= 63
        && text != "host"
        && text.starts_with(plain)
        && text.chars().all(|c| plain(c) || matches!(c, '.' | '_' | '-'))
}

/// What could steer a terminal or reorder a line.
pub fn steers(character: char) -> bool {
    character.is_control()
        || matches!(u32::from(character), 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff)
}
