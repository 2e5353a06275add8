//! What the files of an executor take of the disk, and which of them goes next.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files that are there, and a bound for their bytes.
#[derive(Debug)]
pub(super) struct Ledger {
    most: u64,
    total: u64,
    last_number: u64,
    /// By their numbers, which is in the order in which they were made.
    files: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    bytes: u64,
    being_written: bool,
}

impl Ledger {
    pub(super) fn new(most: u64) -> Self {
        Self { most, total: 0, last_number: 0, files: BTreeMap::new() }
    }

    /// Notes a file that is empty yet, and gives it a number.
    pub(super) fn add(&mut self, path: PathBuf) -> u64 {
        self.last_number += 1;
        self.files.insert(self.last_number, Entry { path, bytes: 0, being_written: true });
        self.last_number
    }

    /// Notes that a file gets so many bytes more, and returns the files that are to be removed for it; nothing if
    /// there is no room for them.
    pub(super) fn grow(&mut self, number: u64, bytes: u64) -> Option<Vec<PathBuf>> {
        let going = self.make_room(bytes)?;
        // One that was removed meanwhile does not count.
        if let Some(file) = self.files.get_mut(&number) {
            file.bytes += bytes;
            self.total += bytes;
        }
        Some(going)
    }

    /// Notes that nothing is written to a file any more, which has so many bytes.
    pub(super) fn finish(&mut self, number: u64, bytes: u64) {
        if let Some(file) = self.files.get_mut(&number) {
            self.total = self.total.saturating_sub(file.bytes) + bytes;
            file.bytes = bytes;
            file.being_written = false;
        }
    }

    /// Forgets a file, which is removed.
    pub(super) fn forget(&mut self, number: u64) {
        if let Some(file) = self.files.remove(&number) {
            self.total = self.total.saturating_sub(file.bytes);
        }
    }

    fn make_room(&mut self, bytes: u64) -> Option<Vec<PathBuf>> {
        let surplus = self.total.saturating_sub(self.most.checked_sub(bytes)?);
        let (mut freed, mut going) = (0, Vec::new());
        for (number, file) in self.files.iter().filter(|(_, file)| !file.being_written) {
            if freed >= surplus {
                break;
            }
            freed += file.bytes;
            going.push(*number);
        }
        if freed < surplus {
            return None;
        }
        self.total = self.total.saturating_sub(freed);
        Some(going.iter().filter_map(|number| self.files.remove(number)).map(|file| file.path).collect())
    }
}
