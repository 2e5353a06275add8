//! What a contributor is to the registry, native or sandboxed.

use std::time::{Duration, Instant};

use super::cancellation::Cancellation;
use crate::contract::{Binding, Declaration, Execution, Facts};
use crate::error::{Code, Error, Result};
use crate::text::shown_within;

/// Owns a fixed set of variables and says, for each execution, what they are now.
///
/// The registry trusts nothing that comes back: an answer that was not declared, or that no environment
/// could hold, fails the contributor and not the host.
pub trait Contributor: Send + Sync {
    /// The contributor's name and every key it may return. Asked once, when it is registered.
    fn declare(&self) -> Declaration;

    /// The values for one execution: any subset of the declared keys, each at most once.
    ///
    /// # Errors
    /// A [`Failure`] fails this contributor's part of the overlay.
    fn resolve(&self, execution: &Execution, deadline: &Deadline) -> Result<Vec<Binding>, Failure>;

    /// As [`resolve`](Self::resolve), for one that is granted some of the host's facts.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    fn resolve_with(&self, execution: &Execution, facts: &Facts, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
        let _ = facts;
        self.resolve(execution, deadline)
    }

    /// The SHA-256 of the build that answers, as 64 lower-case hexadecimal digits; nothing for one that came with the
    /// host's own program.
    fn digest(&self) -> Option<&str> {
        None
    }

    /// Whether [`resolve`](Self::resolve) may wait for anything but the processor: a lock, a file, a
    /// network, another process.
    ///
    /// Such a contributor is asked on a thread of its own, so that the deadline and a cancellation hold
    /// even while it waits. One that computes and returns is asked where it is, which is cheaper.
    fn may_wait(&self) -> bool {
        true
    }
}

/// What a longer time than the clock can tell amounts to: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Until when an answer is of use.
#[derive(Clone, Debug)]
pub struct Deadline {
    at: Instant,
    cancellation: Cancellation,
}

impl Deadline {
    pub(crate) fn new(at: Instant, cancellation: Cancellation) -> Self {
        Self { at, cancellation }
    }

    /// So much time from now, and nobody gives up earlier. For asking a contributor without a registry.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        let now = Instant::now();
        Self::new(now.checked_add(time).unwrap_or(now + LONGEST), Cancellation::new())
    }

    /// The moment after which nobody waits any more.
    #[must_use]
    pub fn at(&self) -> Instant {
        self.at
    }

    /// How long there is until then.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// The caller's way of giving up early.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Goes on unless the time is up or the caller gave up.
    ///
    /// # Errors
    /// `overlay-timeout` or `cancelled`.
    pub fn check(&self) -> Result<(), Failure> {
        if self.cancellation.is_cancelled() {
            return Err(Failure::new(Code::Cancelled, "the caller cancelled the collection"));
        }
        if Instant::now() >= self.at {
            return Err(Failure::new(
                Code::OverlayTimeout,
                "the time for the whole overlay was up: look for the slowest contributor, or allow more time",
            ));
        }
        Ok(())
    }
}

/// The most bytes of the host's own part of a message.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Why a contributor has no answer.
///
/// `Debug` leaves the contributor's own words out: whether they are to be withheld is not known here.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    code: Code,
    message: String,
    guest_text: Option<String>,
}

impl Failure {
    /// The contributor itself says that it failed, in its own words (`guest-error`).
    ///
    /// The words are escaped, cut to 1 KiB, and withheld where the contributor handles sensitive values.
    pub fn guest(text: impl Into<String>) -> Self {
        Self { code: Code::GuestError, message: "it could not resolve".to_owned(), guest_text: Some(text.into()) }
    }

    /// The host stopped or refused it. `message` is the host's own words.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), guest_text: None }
    }

    /// Adds the contributor's own words to the host's.
    #[must_use]
    pub fn with_guest_text(self, text: impl Into<String>) -> Self {
        Self { guest_text: Some(text.into()), ..self }
    }

    /// What went wrong.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// What happened and what to do, in the host's own words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The contributor's own words, as it wrote them.
    #[cfg(feature = "wasm")]
    pub(crate) fn guest_text(&self) -> Option<&str> {
        self.guest_text.as_deref()
    }

    /// The failure as an error of the load stage, without the contributor's own words.
    #[cfg(feature = "wasm")]
    pub(crate) fn into_load_error(self) -> Error {
        Error::load(self.code, self.message)
    }

    /// The failure as an error of the resolve stage, with the contributor's words put through `show`.
    pub(crate) fn into_error(self, show: impl FnOnce(&str) -> String) -> Error {
        // Also the host's part, since a native contributor words it itself.
        let message = shown_within(&self.message, MAX_MESSAGE_BYTES);
        let message = match &self.guest_text {
            Some(text) => format!("{message}: {}", show(text)),
            None => message,
        };
        Error::resolve(self.code, message)
    }
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Failure").field("code", &self.code).field("message", &self.message).finish_non_exhaustive()
    }
}
