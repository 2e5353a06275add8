//! Compiled code, kept between processes.
//!
//! An entry is named after the SHA-256 of the file it was compiled from and after everything that shapes
//! the code: the engine's version, target and settings, and this crate's version. It is published by
//! renaming a finished file and never changed in place, so that two processes may fill the cache at once.
//! An entry that is missing, cut short, changed, written by a stranger or open to strangers is a miss: it
//! is compiled again and replaced, and never run.
//!
//! Whoever can write to the folder as this user can put code into this process; such a one could as well
//! replace the program.

use std::hash::{Hash as _, Hasher};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::home::permissions;

/// Bytes of the digest that ends an entry.
const DIGEST_BYTES: usize = 32;

/// The most bytes of an entry. Compiled code has a few times the size of a component.
const MAX_ENTRY_BYTES: u64 = 1024 * 1024 * 1024;

/// A folder of compiled code.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// Stands for whatever shapes compiled code beside the component.
    settings: String,
}

impl Cache {
    pub(super) fn new(folder: PathBuf, engine: &Engine) -> Self {
        let mut hasher = Sha256Hasher::default();
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        std::env::consts::ARCH.hash(&mut hasher);
        std::env::consts::OS.hash(&mut hasher);
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let settings = hex::encode(hasher.0.finalize().get(..8).unwrap_or_default());
        Self { folder, settings }
    }

    /// The compiled component of a file's digest, if there is an entry that can be trusted.
    pub(super) fn get(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let code = self.read(&self.path(digest))?;
        deserialize(engine, &code)
    }

    /// Keeps a compiled component. A cache that cannot be written is no failure: the next process
    /// compiles again.
    pub(super) fn put(&self, component: &Component, digest: &str) {
        if let Err(error) = self.write(component, digest) {
            tracing::debug!(folder = %self.folder.display(), %error, "compiled code was not kept");
        }
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}-{}.cwasm", self.settings))
    }

    /// The code of an entry, if it is whole and nobody else could have written it.
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        permissions::check(&self.folder).ok()?;
        let file = open(path)?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > MAX_ENTRY_BYTES {
            return None;
        }
        #[cfg(unix)]
        permissions::check_metadata(path, &metadata).ok()?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
        file.take(MAX_ENTRY_BYTES).read_to_end(&mut bytes).ok()?;
        let digest = bytes.split_off(bytes.len().checked_sub(DIGEST_BYTES)?);
        (Sha256::digest(&bytes).as_slice() == digest).then_some(bytes)
    }

    fn write(&self, component: &Component, digest: &str) -> Result<(), Box<dyn std::error::Error>> {
        make_private(&self.folder)?;
        permissions::check(&self.folder)?;
        let code = component.serialize()?;
        // Readable by this user alone, as `tempfile` makes it.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&code)?;
        file.write_all(&Sha256::digest(&code))?;
        file.persist(self.path(digest))?;
        Ok(())
    }
}

/// Makes compiled code callable.
fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    #[expect(unsafe_code, reason = "wasmtime cannot tell whether compiled code is what it compiled")]
    // SAFETY: `code` was written by `Cache::write` of this user or root from `Component::serialize`: the
    // folder and the file can be written by nobody else, and the digest at the end shows that it is what
    // was written. It is held in memory, so that nothing can change it after the check. Wasmtime itself
    // refuses code of another version or other settings.
    let component = unsafe { Component::deserialize(engine, code) };
    component.ok()
}

/// Opens an entry without following a link and without waiting for whatever a special file waits for.
#[cfg(unix)]
fn open(path: &Path) -> Option<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::empty()).ok().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn open(path: &Path) -> Option<std::fs::File> {
    std::fs::File::open(path).ok()
}

/// Makes a folder that only this user can enter, and those above it that are missing.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Lets what is `Hash` be hashed into a SHA-256, which stays the same between processes.
#[derive(Default)]
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Not used: the whole digest is taken.
    fn finish(&self) -> u64 {
        0
    }
}
