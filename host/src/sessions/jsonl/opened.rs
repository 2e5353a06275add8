//! Which logs are open under another name than a new one would get.
//!
//! A log that was begun under another setting for compression goes on where it is. Whoever asks the service
//! where it is has to be told so without a look at the disk: the service remembers it while the log is open.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::Compression;

/// How logs are compressed, by folder, where it is not as configured.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenLogs(Arc<ArcSwap<HashMap<PathBuf, Compression>>>);

impl OpenLogs {
    /// How the log in `folder` is compressed, if it is open and not as configured.
    pub(super) fn get(&self, folder: &Path) -> Option<Compression> {
        self.0.load().get(folder).copied()
    }

    /// Remembers it until the answer is dropped.
    #[cfg(feature = "sessions")]
    pub(super) fn remember(&self, folder: PathBuf, compression: Compression) -> Opened {
        self.0.rcu(|logs| {
            let mut logs = HashMap::clone(logs);
            logs.insert(folder.clone(), compression);
            logs
        });
        Opened(Some((self.clone(), folder)))
    }
}

/// One log that is open; only where it is not compressed as configured is there anything to remember.
#[cfg(feature = "sessions")]
#[derive(Debug, Default)]
pub(super) struct Opened(Option<(OpenLogs, PathBuf)>);

#[cfg(feature = "sessions")]
impl Drop for Opened {
    fn drop(&mut self) {
        if let Some((OpenLogs(logs), folder)) = self.0.take() {
            logs.rcu(|logs| {
                let mut logs = HashMap::clone(logs);
                logs.remove(&folder);
                logs
            });
        }
    }
}
