//! Compiled code, kept between processes.
//!
//! An entry is named after the SHA-256 of the file it was compiled from and after everything that shapes
//! the code: the engine's version, target and settings, and this crate's version. It is published by
//! renaming a finished file and never changed in place, so that two processes may fill the cache at once.
//! An entry that is missing, cut short, changed, written by a stranger or open to strangers is a miss: it
//! is compiled again and replaced, and never run. All entries together have a bound: after one is
//! published, those go that were not used for longest.
//!
//! Whoever can write to the folder as this user can put code into this process; such a one could as well
//! replace the program.

mod folder;

use std::fs::{File, Metadata};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::compile::Compiled;
use crate::home::permissions;
pub use folder::{CacheFolder, CacheInfo, Cleared};

/// Bytes of compiled code that are kept unless told otherwise: some hundred interpreters, or thousands of small
/// components.
pub const DEFAULT_CACHE_BYTES: u64 = 1024 * 1024 * 1024;

/// How long the time of an entry's last use stays as it is: a use is worth a write now and then, and not in
/// every call.
const USE_RESOLUTION: Duration = Duration::from_secs(60 * 60);

/// Bytes of the digest that ends an entry.
const DIGEST_BYTES: usize = 32;

/// Bytes of the length of the list before it.
const LENGTH_BYTES: usize = 4;

/// The version of an entry's layout: code, the imports as JSON, their length, a digest of all that and of its name.
const LAYOUT: u32 = 3;

/// The most bytes of an entry. Compiled code has a few times the size of a component.
const MAX_ENTRY_BYTES: u64 = 1024 * 1024 * 1024;

/// A folder of compiled code, as one engine uses it.
#[derive(Debug)]
pub(super) struct Cache {
    folder: CacheFolder,
    /// Stands for whatever shapes compiled code beside the component.
    settings: String,
}

impl Cache {
    /// `fingerprint` stands for whatever shapes compiled code.
    pub(super) fn new(folder: CacheFolder, fingerprint: &str) -> Self {
        Self { folder, settings: format!("{fingerprint}-{LAYOUT}") }
    }

    /// The compiled component of a file's digest, if there is an entry that can be trusted.
    pub(super) fn get(&self, digest: &str) -> Option<Compiled> {
        let mut code = self.read(&self.path(digest))?;
        let length = code.split_off(code.len().checked_sub(LENGTH_BYTES)?);
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let imports = code.split_off(code.len().checked_sub(length)?);
        Some(Compiled { code, imports: serde_json::from_slice(&imports).ok()? })
    }

    /// Keeps a compiled component. A cache that cannot be written is no failure: the next process
    /// compiles again.
    pub(super) fn put(&self, compiled: &Compiled, digest: &str) {
        if let Err(error) = self.write(compiled, digest) {
            tracing::debug!(folder = %self.folder.path().display(), %error, "compiled code was not kept");
        }
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder.path().join(format!("{digest}-{}{}", self.settings, folder::EXTENSION))
    }

    /// The code of an entry, if it is whole and nobody else could have written it.
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        permissions::check(self.folder.path()).ok()?;
        let file = open(path)?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > MAX_ENTRY_BYTES {
            return None;
        }
        #[cfg(unix)]
        permissions::check_metadata(path, &metadata).ok()?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
        (&file).take(MAX_ENTRY_BYTES).read_to_end(&mut bytes).ok()?;
        let digest = bytes.split_off(bytes.len().checked_sub(DIGEST_BYTES)?);
        if digest != self.digested(path, &[&bytes]) {
            return None;
        }
        note_use(&file, &metadata);
        Some(bytes)
    }

    /// The digest that ends an entry: of its name too, so that the code of another component, or for another engine,
    /// is no entry under this one.
    fn digested(&self, path: &Path, parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
        let mut digest = Sha256::new();
        digest.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        for part in parts {
            digest.update(part);
        }
        digest.finalize().into()
    }

    fn write(&self, compiled: &Compiled, digest: &str) -> Result<(), Box<dyn std::error::Error>> {
        let path = self.folder.path();
        make_private(path)?;
        permissions::check(path)?;
        let imports = serde_json::to_vec(&compiled.imports)?;
        let length = u32::try_from(imports.len())?.to_le_bytes();
        let parts = [compiled.code.as_slice(), imports.as_slice(), length.as_slice()];
        let bytes = parts.iter().map(|part| part.len() as u64).sum::<u64>() + DIGEST_BYTES as u64;
        if bytes > self.folder.bound().min(MAX_ENTRY_BYTES) {
            return Err(format!("its {bytes} bytes are more than may be kept").into());
        }
        // Readable by this user alone, as `tempfile` makes it.
        let unfinished =
            tempfile::Builder::new().prefix(folder::UNFINISHED).suffix(folder::EXTENSION).tempfile_in(path);
        let mut file = unfinished?;
        let entry = self.path(digest);
        for part in parts {
            file.write_all(part)?;
        }
        file.write_all(&self.digested(&entry, &parts))?;
        file.persist(&entry)?;
        self.folder.sweep(&entry)?;
        Ok(())
    }
}

/// Remembers that an entry was used, as the time of its last change. Who may not write that down uses it
/// nevertheless.
fn note_use(file: &File, metadata: &Metadata) {
    // A time in the future is no use that was.
    let recent = metadata.modified().is_ok_and(|used| used.elapsed().is_ok_and(|age| age < USE_RESOLUTION));
    if !recent && let Err(error) = file.set_modified(SystemTime::now()) {
        tracing::debug!(%error, "the use of compiled code was not noted");
    }
}

/// Opens an entry without following a link and without waiting for whatever a special file waits for.
#[cfg(unix)]
fn open(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::empty()).ok().map(File::from)
}

#[cfg(not(unix))]
fn open(path: &Path) -> Option<File> {
    File::open(path).ok()
}

/// Makes a folder that only this user can enter, and those above it that are missing.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
