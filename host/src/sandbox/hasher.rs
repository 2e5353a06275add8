//! SHA-256 of what is `Hash`.

use std::hash::Hasher;

use sha2::{Digest as _, Sha256};

/// Lets what is `Hash` be hashed into a SHA-256, which stays the same between processes.
#[derive(Default)]
pub(super) struct Sha256Hasher(Sha256);

impl Sha256Hasher {
    /// The first 64 bits of the digest in hexadecimal.
    pub(super) fn hex(self) -> String {
        hex::encode(self.0.finalize().get(..8).unwrap_or_default())
    }
}

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Not used: the digest is taken.
    fn finish(&self) -> u64 {
        0
    }
}
