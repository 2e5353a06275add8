//! A `.env` file, in the dialect of the Rust crate dotenvy, written so that other readers differ as
//! little as they can.
//!
//! There is no standard. Node's dotenv, python-dotenv and Docker Compose read the same from
//!
//! - a bare value, for what has nothing but `A-Z a-z 0-9 _ - . / : @ % + , = ~`;
//! - a value in single quotes, for what has no `'` and does not end in a backslash; line breaks are as
//!   they are. python-dotenv expands `${NAME}` even there (unless told `interpolate=False`) and takes
//!   `\\` for one backslash;
//! - a value in double quotes, for the rest, as long as it has no `"`, `$` or backslash. These are
//!   escaped with a backslash, which dotenvy and Docker Compose undo, python-dotenv for all but `$`, and
//!   Node's dotenv for none.
//!
//! A carriage return is kept by dotenvy; Node's dotenv and python-dotenv read it as a line feed.

use dsh_env::contract::Key;

pub(super) fn assignment((key, value): (&Key, &str)) -> String {
    if value.bytes().all(is_bare) {
        format!("{key}={value}")
    } else if !value.contains('\'') && !value.ends_with('\\') {
        format!("{key}='{value}'")
    } else {
        format!("{key}=\"{}\"", escaped(value))
    }
}

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./:@%+,=~".contains(&byte)
}

fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, '\\' | '"' | '$') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
