//! What of the host's own environment a child may have.

use std::ffi::{OsStr, OsString};

use crate::contract::is_managed_name;

/// What a name has in it that is taken for a credential's.
const CREDENTIAL_WORDS: [&[u8]; 4] = [b"KEY", b"PASSWORD", b"SECRET", b"TOKEN"];

/// Whether a variable of this name looks like a credential: `KEY`, `PASSWORD`, `SECRET` or `TOKEN`
/// anywhere in it, in any case.
///
/// It errs on the side of removing: `KEYBOARD` is taken for one too. A request that needs such a
/// variable sets it itself.
#[must_use]
pub fn is_credential_name(name: &[u8]) -> bool {
    CREDENTIAL_WORDS.iter().any(|word| name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word)))
}

/// Whether step 1 lets an inherited variable through.
pub(super) fn passes(name: &OsStr, scrub_credentials: bool) -> bool {
    let name = name.as_encoded_bytes();
    let scrubbed = scrub_credentials && is_credential_name(name);
    !scrubbed && !is_managed_name(name)
}

/// Whether an environment can hold the pair such that a child reads the same pair from it.
pub(super) fn fits(name: &OsStr, value: &OsStr) -> bool {
    // A name may begin with `=`, as it does for the hidden variables of Windows and in what some
    // programs leave behind: glibc and the standard library read it like that.
    let Some((_, rest)) = name.as_encoded_bytes().split_first() else { return false };
    !rest.contains(&b'=') && !has_nul(name) && !has_nul(value)
}

pub(super) fn has_nul(text: &OsStr) -> bool {
    text.as_encoded_bytes().contains(&0)
}

/// Splits an entry of a raw environment, such as one of `/proc/self/environ`, into name and value.
///
/// Nothing for an entry without `=` and for one without a name: no program can look those up. A `=` in
/// the first place belongs to the name.
#[cfg(unix)]
#[must_use]
pub fn split_entry(entry: &[u8]) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStringExt;

    let name_length = entry.iter().skip(1).position(|&byte| byte == b'=')? + 1;
    let (name, rest) = entry.split_at_checked(name_length)?;
    let (_, value) = rest.split_first()?;
    Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    #[test]
    fn credentials_are_known_by_a_word_anywhere_in_the_name_in_any_case() {
        for name in ["API_KEY", "key", "KEYBOARD", "MyPassword2", "client_secret_id", "GH_Token", "xTOKENx"] {
            assert!(is_credential_name(name.as_bytes()), "{name}");
        }
        assert!(is_credential_name(b"\xffkey\xfe"));
        for name in ["", "KE", "PASS", "PASSWD", "SSH_AUTH_SOCK", "K_E_Y", "PATH"] {
            assert!(!is_credential_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn an_entry_is_split_at_its_first_equals_sign_after_the_first_byte() {
        let split = |entry: &[u8]| split_entry(entry).map(|(name, value)| (name.into_vec(), value.into_vec()));
        fn pair(name: &[u8], value: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
            Some((name.to_vec(), value.to_vec()))
        }

        assert_eq!(split(b"A=b"), pair(b"A", b"b"));
        assert_eq!(split(b"A="), pair(b"A", b""));
        assert_eq!(split(b"A=b=c"), pair(b"A", b"b=c"));
        assert_eq!(split(b"\xff=\xfe"), pair(b"\xff", b"\xfe"));
        assert_eq!(split(b"=C:=d"), pair(b"=C:", b"d"));
        assert_eq!(split(b"BASH_FUNC_f%%=() { :; }"), pair(b"BASH_FUNC_f%%", b"() { :; }"));
        for ignored in [&b""[..], b"A", b"=", b"=b"] {
            assert_eq!(split(ignored), None, "{ignored:?}");
        }
    }

    #[test]
    fn an_entry_that_is_split_fits_an_environment_again() {
        for entry in [&b"A=b"[..], b"=C:=d", b"\xff=\xfe", b"A==", b"==v"] {
            let (name, value) = split_entry(entry).unwrap();
            assert!(fits(&name, &value), "{entry:?}");
        }
        for (name, value) in [(&b""[..], &b"x"[..]), (b"A=B", b"x"), (b"A\0", b"x"), (b"A", b"x\0")] {
            assert!(!fits(OsStr::from_bytes(name), OsStr::from_bytes(value)), "{name:?}");
        }
    }
}
