//! Making one overlay.
//!
//! A collection loads the snapshot once and asks its contributors one after the other, in byte order of
//! their names, on the caller's thread; those that may wait are asked on another. One failure fails the
//! collection, unless the operator's terms say otherwise for every key it affects.

mod policies;

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::answer;
use super::health::Leave;
use super::observer::Collected;
use super::overlay::{Overlay, OverlayEntry, Report, Value};
use super::snapshot::{Entry, Snapshot};
use super::waiting::{self, Place};
use super::{Registry, Shared};
use crate::contract::{Binding, Cancellation, Claims, Deadline, DeclaredVariable, Execution, Facts, Failure, Key};
use crate::error::{Code, Error, Result, Stage};

/// The most bytes of an overlay: keys, values, and two for each variable, as in an environment. Linux
/// takes 128 KiB for a single variable and by default 2 MiB for all of them and the arguments.
pub(crate) const MAX_OVERLAY_BYTES: usize = 128 * 1024;

/// How long a collection may take: its own contributors' limits, several times over.
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// How long a collection may take, and how to give up on it.
#[derive(Clone, Debug)]
pub struct CollectOptions {
    time: Duration,
    cancellation: Cancellation,
}

impl Default for CollectOptions {
    fn default() -> Self {
        Self { time: DEFAULT_TIME, cancellation: Cancellation::new() }
    }
}

impl CollectOptions {
    /// Five seconds, and nobody gives up.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the collection with `overlay-timeout` after this time, at most five seconds.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { time: time.min(DEFAULT_TIME), ..self }
    }

    /// Ends the collection with `cancelled` when the caller says so.
    #[must_use]
    pub fn cancelled_by(self, cancellation: &Cancellation) -> Self {
        Self { cancellation: cancellation.clone(), ..self }
    }

    fn deadline(&self) -> Deadline {
        Deadline::new(Instant::now() + self.time, self.cancellation.clone())
    }
}

impl Registry {
    /// Asks every contributor about one execution and returns what they and the host say of it.
    ///
    /// Blocks the calling thread, for five seconds at most; needs no runtime and disturbs none.
    ///
    /// # Errors
    /// The first failure that no policy of the operator covers.
    pub fn collect(&self, execution: &Execution) -> Result<Overlay> {
        self.collect_with(execution, &CollectOptions::default())
    }

    /// As [`collect`](Self::collect), with a deadline or a way to cancel.
    ///
    /// # Errors
    /// As [`collect`](Self::collect); `overlay-timeout` or `cancelled` when it ended early.
    pub fn collect_with(&self, execution: &Execution, options: &CollectOptions) -> Result<Overlay> {
        Collection::make(&self.shared, execution, options.deadline())
    }

    /// As [`collect_with`](Self::collect_with), without blocking: works on any runtime, a current-thread
    /// one included. Dropping the future cancels the collection.
    ///
    /// # Errors
    /// As [`collect_with`](Self::collect_with); `overloaded` when 240 asynchronous collections are under way.
    pub fn collect_async(
        &self,
        execution: Execution,
        options: CollectOptions,
    ) -> impl Future<Output = Result<Overlay>> + Send + use<> {
        let registry = self.clone();
        async move {
            let place = Place::take(&registry.shared.async_collections).ok_or_else(waiting::overloaded)?;
            // A child, so that dropping this future does not end what else the caller's cancellation covers.
            let dropped = CancelOnDrop(options.cancellation.child());
            let deadline = options.cancelled_by(&dropped.0).deadline();
            blocking::unblock(move || {
                let _place = place;
                Collection::make(&registry.shared, &execution, deadline)
            })
            .await
        }
    }
}

struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// One collection under way.
struct Collection<'a> {
    shared: &'a Shared,
    snapshot: Arc<Snapshot>,
    outside: Arc<Facts>,
    execution: &'a Execution,
    /// The execution for threads that may outlive this call; made when the first contributor needs it.
    lasting: Option<Arc<Execution>>,
    deadline: Deadline,
    entries: Vec<OverlayEntry>,
    degraded: Vec<Key>,
    reports: Vec<Report>,
    bytes: usize,
    began: Instant,
}

impl<'a> Collection<'a> {
    /// Makes an overlay and tells whoever watches.
    fn make(shared: &'a Shared, execution: &'a Execution, deadline: Deadline) -> Result<Overlay> {
        let observers = shared.observers.load_full();
        let began = (!observers.is_empty()).then(SystemTime::now);
        let mut collection = Self {
            shared,
            execution,
            lasting: None,
            deadline,
            entries: Vec::new(),
            degraded: Vec::new(),
            reports: Vec::new(),
            bytes: 0,
            began: Instant::now(),
            snapshot: shared.snapshot.load_full(),
            outside: shared.outside(),
        };
        let outcome = collection.run();
        let Some(began) = began else { return outcome };
        let reports = match &outcome {
            Ok(overlay) => overlay.reports(),
            Err(_) => &collection.reports,
        };
        let took = collection.began.elapsed();
        let facts = &*collection.outside;
        let collected = Collected { execution, facts, began, took, outcome: outcome.as_ref(), reports };
        for observer in observers.iter() {
            observer.collected(&collected);
        }
        outcome
    }

    fn run(&mut self) -> Result<Overlay> {
        self.execution.check()?;
        let snapshot = Arc::clone(&self.snapshot);
        if let Some(missing) = snapshot.missing().iter().find(|missing| missing.required) {
            return Err(missing.error.clone());
        }
        for fact in self.shared.facts.of(self.execution)? {
            self.push(fact)?;
        }
        for entry in snapshot.entries() {
            self.add(entry)?;
        }
        // The last one may have overrun, and nobody waits for what comes too late.
        self.deadline.check().map_err(|failure| failure.into_error(str::to_owned))?;
        // What another contributor owns is not amiss, even if a missing one would have claimed it too.
        let lost =
            snapshot.missing().iter().flat_map(|missing| &missing.keys).filter(|key| snapshot.owner(key).is_none());
        self.degraded.extend(lost.cloned());
        self.degraded.sort();
        self.degraded.dedup();
        let unknown = snapshot.missing().iter().any(|missing| missing.keys.is_empty());
        if let Some(fact) = self.shared.facts.degraded(&self.degraded, unknown) {
            self.push(fact)?;
        }
        let (entries, degraded) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.degraded));
        Ok(Overlay::new(entries, degraded, std::mem::take(&mut self.reports)))
    }

    /// Asks one contributor and adds what it says.
    fn add(&mut self, entry: &Arc<Entry>) -> Result<()> {
        let name = entry.declared.name();
        let failed = |failure: Failure| failure.into_error(|words| answer::show(entry, words)).by(name);
        self.deadline.check().map_err(failed)?;
        let started = Instant::now();
        let said = match entry.health.leave(|| self.shared.clock.now()) {
            Leave::Paused(error) => Err(error.by(name)),
            Leave::Ask(asking) => {
                let said = self.ask(entry).map_err(failed).and_then(|bindings| answer::check(entry, bindings));
                match &said {
                    Ok(_) => asking.succeeded(),
                    // What is the caller's wish or the host's own fault says nothing of the contributor.
                    Err(error) if error.stage() == Stage::Host => {}
                    Err(error) => asking.failed(error, || self.shared.clock.now()),
                }
                said
            }
        };
        let took = started.elapsed();
        let mut report = Report {
            name: name.clone(),
            declared: entry.declared.clone(),
            digest: entry.contributor.digest().map(Into::into),
            began: started.duration_since(self.began),
            took,
            policy: entry.terms.on_failure.as_str(),
            affected: Vec::new(),
            error: None,
        };
        let taken = self.take(entry, said, &mut report);
        if let Err(error) = &taken {
            report.error = Some(error.clone());
        }
        self.reports.push(report);
        taken
    }

    fn ask(&mut self, entry: &Arc<Entry>) -> Result<Vec<Binding>, Failure> {
        if !entry.contributor.may_wait() {
            return ask_here(entry, self.execution, &self.outside, &self.deadline);
        }
        let execution = self.lasting.get_or_insert_with(|| Arc::new(self.execution.clone()));
        waiting::ask(entry, Arc::clone(execution), Arc::clone(&self.outside), &self.deadline)
    }

    fn push_value(&mut self, entry: &Entry, variable: &DeclaredVariable, value: Value) -> Result<()> {
        self.push(OverlayEntry { key: variable.key.clone(), value, contributor: Some(entry.declared.name().clone()) })
    }

    fn push(&mut self, entry: OverlayEntry) -> Result<()> {
        let bytes = self.bytes + size(&entry);
        if bytes > MAX_OVERLAY_BYTES {
            let message = format!(
                "with {} the overlay has over {MAX_OVERLAY_BYTES} bytes, {}: let it return less, or remove it",
                entry.key,
                self.largest_part()
            );
            let error = Error::resolve(Code::OverlayTooLarge, message).about(&entry.key);
            return Err(match &entry.contributor {
                Some(name) => error.by(name),
                None => error,
            });
        }
        self.bytes = bytes;
        self.entries.push(entry);
        Ok(())
    }

    /// Who has the largest part of the overlay so far: that need not be whoever made it too large.
    fn largest_part(&self) -> String {
        let mut parts = BTreeMap::new();
        for entry in &self.entries {
            *parts.entry(entry.owner()).or_insert(0) += size(entry);
        }
        let largest = parts.into_iter().max_by_key(|(_, bytes)| *bytes);
        largest.map_or_else(String::new, |(owner, bytes)| format!("of which {owner} has {bytes}"))
    }
}

/// Bytes of an entry as an environment counts them, but for what separates name and value.
fn size(entry: &OverlayEntry) -> usize {
    entry.key.as_str().len() + entry.value.expose().len() + 2
}

/// Asks a contributor on this thread.
pub(super) fn ask_here(
    entry: &Entry,
    execution: &Execution,
    facts: &Facts,
    deadline: &Deadline,
) -> Result<Vec<Binding>, Failure> {
    catch_unwind(AssertUnwindSafe(|| entry.contributor.resolve_with(execution, facts, deadline)))
        .unwrap_or_else(|_| Err(Failure::new(Code::Trap, "it panicked: this is a mistake in the contributor")))
}
