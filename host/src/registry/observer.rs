//! Watching collections: for records, metrics and traces, and for trying a build beside another.

use std::time::{Duration, SystemTime};

use super::overlay::{Overlay, Report};
use crate::contract::{Execution, Facts};
use crate::error::Error;

/// Is told of every collection after it ended, on the thread that made it: it must not wait for anything.
pub trait Observer: Send + Sync {
    /// One collection ended.
    fn collected(&self, collection: &Collected<'_>);
}

/// A collection that ended.
#[derive(Clone, Copy, Debug)]
pub struct Collected<'c> {
    /// What it was about.
    pub execution: &'c Execution,
    /// The facts that its contributors could be granted.
    pub facts: &'c Facts,
    /// When it began.
    pub began: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// What came of it.
    pub outcome: Result<&'c Overlay, &'c Error>,
    /// How the contributors took part that were asked, in the order in which they were: not all of them where one
    /// failed the collection.
    pub reports: &'c [Report],
}
