//! Asking contributors that may wait, so that nobody waits for them longer than agreed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::snapshot::Entry;
use crate::contract::{Binding, Deadline, Execution, Failure};
use crate::error::{Code, Error, Result};

/// The most calls that wait at once, and the most asynchronous collections. The thread pool behind both
/// has 500 threads: the sum is below, so that a collection can never wait for a thread that another
/// collection's wait keeps busy.
pub(super) const MAX_WAITING: usize = 240;

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Asks a contributor on another thread. When the deadline passes or the caller gives up, the answer is
/// that; the thread is left behind until the contributor returns.
pub(super) fn ask(entry: &Arc<Entry>, execution: Arc<Execution>, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
    let place = Place::take(&CALLS).ok_or_else(|| {
        Failure::new(
            Code::Overloaded,
            format!("{MAX_WAITING} calls of contributors that wait are under way: try again later"),
        )
    })?;
    let answer = Arc::new(Mutex::new(None));
    let (asked, to, until) = (Arc::clone(entry), Arc::clone(&answer), deadline.clone());
    blocking::unblock(move || {
        let said = super::collect::ask_here(&asked, &execution, &until);
        // Free before anybody is told, so that a caller who asks again at once finds the place, and that
        // nothing here keeps a contributor which is released afterwards.
        drop((place, asked, execution));
        *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
        until.cancellation().wake();
    })
    .detach();
    let said = deadline
        .cancellation()
        .wait_for(deadline.at(), || answer.lock().unwrap_or_else(PoisonError::into_inner).take());
    match said {
        Some(said) => said,
        None => deadline.check().and(Err(Failure::new(Code::OverlayTimeout, "the time for the whole overlay was up"))),
    }
}

/// A place among a bounded number.
pub(super) struct Place(&'static AtomicUsize);

impl Place {
    pub(super) fn take(count: &'static AtomicUsize) -> Option<Self> {
        let taken = count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| (n < MAX_WAITING).then_some(n + 1));
        taken.ok().map(|_| Self(count))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The error of a collection that found no place.
pub(super) fn overloaded() -> Error {
    Error::host(Code::Overloaded, format!("{MAX_WAITING} collections are under way: try again later"))
}
