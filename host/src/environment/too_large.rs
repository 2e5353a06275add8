//! What to say when the kernel takes an environment for too large.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io;

use super::ChildEnvironment;
use crate::contract::Key;
use crate::error::{Code, Error};
use crate::text;

/// The most variables that are named.
const NAMED: usize = 5;

/// The most bytes of one variable or argument on Linux, its closing NUL included: 32 pages.
const MAX_STRING: usize = 32 * 4096;

/// The error for a child that was not started because its environment and arguments were too large for
/// the kernel: it names the largest variables with their size, never their values.
///
/// Nothing if `failure` is another one than `E2BIG`.
#[must_use]
pub fn explain_too_large(failure: &io::Error, environment: &ChildEnvironment, arguments: &[OsString]) -> Option<Error> {
    (failure.kind() == io::ErrorKind::ArgumentListTooLong)
        .then(|| Error::host(Code::EnvironmentTooLarge, message(environment, arguments)))
}

fn message(environment: &ChildEnvironment, arguments: &[OsString]) -> String {
    let mut sizes: Vec<_> = environment.iter().map(|(name, value)| (size_of_variable(name, value), name)).collect();
    // By name where the size is the same, so that the message is the same each time.
    sizes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    let argument_sizes = arguments.iter().map(|argument| argument.len() + 1);

    let mut message = format!(
        "the kernel takes the environment of the command for too large: {total} bytes in {} variables, beside {} bytes of arguments",
        sizes.len(),
        argument_sizes.clone().sum::<usize>()
    );
    for (at, (size, name)) in sizes.iter().take(NAMED).enumerate() {
        let before = if at == 0 { "; the largest are " } else { ", " };
        // Writing to a string does not fail.
        let _ =
            write!(message, "{before}{} ({size} bytes)", text::shown_within(&name.to_string_lossy(), Key::MAX_BYTES));
    }
    message.push_str(". Unset them in the request's env, or hand their content over in a file");
    if let Some(longest) = argument_sizes.max().filter(|&size| size > MAX_STRING) {
        let _ = write!(message, ". One argument has {longest} bytes: hand a long script over in a file");
    }
    let _ = write!(
        message,
        ". Linux takes at most {MAX_STRING} bytes for one variable or argument, and for all together a quarter of the stack limit (`ulimit -s`)"
    );
    message
}

/// As the kernel counts: the name, `=`, the value and a NUL.
fn size_of_variable(name: &OsStr, value: &OsStr) -> usize {
    name.len() + value.len() + 2
}
