//! Asking contributors that may wait, so that nobody waits for them longer than agreed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::snapshot::Entry;
use crate::contract::{Binding, Deadline, Execution, Facts, Failure};
use crate::error::{Code, Error, Result};

/// The most calls of one contributor that wait at once, and the most asynchronous collections. Far more than
/// a harness has shells under way, and few enough threads that one which never returns harms no other.
pub(super) const MAX_WAITING: usize = 240;

/// Asks a contributor on a thread of its own. When the deadline passes or the caller gives up, the answer is
/// that; the thread is left behind until the contributor returns.
pub(super) fn ask(
    entry: &Arc<Entry>,
    execution: Arc<Execution>,
    facts: Arc<Facts>,
    deadline: &Deadline,
) -> Result<Vec<Binding>, Failure> {
    let overloaded = |why: String| Failure::new(Code::Overloaded, format!("{why}: try again later"));
    let place = Place::take(&entry.waiting)
        .ok_or_else(|| overloaded(format!("{MAX_WAITING} calls of this contributor are waiting")))?;
    let answer = Arc::new(Mutex::new(None));
    let (asked, to, until) = (Arc::clone(entry), Arc::clone(&answer), deadline.clone());
    // Not one of a pool's, whose size and other users nobody here knows.
    let thread = thread::Builder::new().name("dsh-env-waiting".to_owned()).spawn(move || {
        let said = super::collect::ask_here(&asked, &execution, &facts, &until);
        // Free before anybody is told, so that a caller who asks again at once finds the place, and that
        // nothing here keeps a contributor which is released afterwards.
        drop((place, asked, execution, facts));
        *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
        until.cancellation().wake();
    });
    thread.map_err(|error| overloaded(format!("no thread could be started ({error})")))?;
    let said = deadline
        .cancellation()
        .wait_for(deadline.at(), || answer.lock().unwrap_or_else(PoisonError::into_inner).take());
    match said {
        Some(said) => said,
        None => deadline.check().and(Err(Failure::new(Code::OverlayTimeout, "the time for the whole overlay was up"))),
    }
}

/// A place among a bounded number.
pub(super) struct Place(Arc<AtomicUsize>);

impl Place {
    pub(super) fn take(count: &Arc<AtomicUsize>) -> Option<Self> {
        let taken = count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| (n < MAX_WAITING).then_some(n + 1));
        taken.ok().map(|_| Self(Arc::clone(count)))
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
