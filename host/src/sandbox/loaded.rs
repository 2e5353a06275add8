//! A component that was read, checked and compiled, and not yet asked anything.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, Precompiled};

use super::callable::{missing_export, wrong_type};
use super::compile::{self, Compiled};
use super::contract::{INTERFACE, INTERFACE_OF_ANY_VERSION};
use super::contributor::SandboxedContributor;
use super::engine::{Inner, Sandbox};
use super::guarded::guarded;
use super::runner::Runner;
use super::survey::Survey;
use super::{MAX_COMPONENT_BYTES, offered};
use crate::contract::{CONTRACT_VERSION, Declaration};
use crate::error::{Code, Error, Result};
use crate::text::shown_within;

/// The most bytes of a name from a component in a message.
const MAX_NAME_BYTES: usize = 256;

/// A component that this host can run.
pub struct LoadedComponent {
    runner: Arc<Runner>,
    imports: Vec<String>,
    digest: String,
    from_cache: bool,
}

impl Sandbox {
    /// Reads, checks and compiles a component, or a core module that has the contract embedded; takes
    /// compiled code from the cache where there is one. Nothing of the component runs.
    ///
    /// # Errors
    /// `too-large`, `not-a-component`, `malformed`, `missing-export`, `wrong-type`,
    /// `unsupported-version`, `forbidden-import`, `compile-limit`, or a limit that its smallest instance
    /// would exceed.
    pub fn load(&self, bytes: impl Into<Arc<[u8]>>) -> Result<LoadedComponent> {
        let bytes = bytes.into();
        if bytes.len() > MAX_COMPONENT_BYTES {
            return Err(too_large(bytes.len()));
        }
        let digest = hex::encode(Sha256::digest(&bytes));
        self.load_known(&digest, || Ok(bytes))
    }

    /// As [`load`](Self::load), for a component whose digest is known: its bytes are asked for only where it was not
    /// compiled before. Whoever calls vouches for the digest.
    ///
    /// # Errors
    /// As [`load`](Self::load), and that of `bytes`.
    pub fn load_known<B: Into<Arc<[u8]>>>(
        &self,
        digest: &str,
        bytes: impl FnOnce() -> Result<B>,
    ) -> Result<LoadedComponent> {
        let (inner, digest) = (&self.inner, digest.to_owned());
        let cached = inner.cache.as_ref().and_then(|cache| cache.get(&digest));
        let cached =
            cached.filter(|compiled| Engine::detect_precompiled(&compiled.code) == Some(Precompiled::Component));
        // An entry that the engine does not take is a miss like any other.
        let ready = cached.and_then(|compiled| Some((Runner::new(inner, &digest, &compiled).ok()?, compiled.imports)));
        if let Some((runner, imports)) = ready {
            return Ok(LoadedComponent { runner: Arc::new(runner), imports, digest, from_cache: true });
        }
        let bytes = bytes()?.into();
        if bytes.len() > MAX_COMPONENT_BYTES {
            return Err(too_large(bytes.len()));
        }
        let compiled = inner.compile(bytes)?;
        let runner = Arc::new(Runner::new(inner, &digest, &compiled)?);
        if let Some(cache) = &inner.cache {
            cache.put(&compiled, &digest);
        }
        Ok(LoadedComponent { runner, imports: compiled.imports, digest, from_cache: false })
    }
}

impl Inner {
    /// Compiles in a worker where there are some, else on a thread of its own.
    fn compile(&self, bytes: Arc<[u8]>) -> Result<Compiled> {
        #[cfg(target_os = "linux")]
        if let Some(pool) = self.isolation.pool() {
            return super::worker::compile(pool, &bytes);
        }
        let engine = self.engine.clone();
        guarded(move || compile::compile(&engine, &bytes))
    }
}

fn too_large(bytes: usize) -> Error {
    let message = format!("it has {bytes} bytes; at most {MAX_COMPONENT_BYTES} are read: make the component smaller");
    Error::load(Code::TooLarge, message)
}

impl LoadedComponent {
    /// Asks the component, in a fresh instance and without any grant, what it declares.
    ///
    /// # Errors
    /// What stopped it, or `wrong-type` where its functions have other types than the contract's.
    pub fn contributor(&self) -> Result<SandboxedContributor> {
        SandboxedContributor::new(Arc::clone(&self.runner), self.digest.clone(), self.imports.clone().into())
    }

    /// As [`contributor`](Self::contributor), with what it said when it was asked before: a build declares once.
    #[must_use]
    pub fn contributor_declaring(&self, declaration: Declaration) -> SandboxedContributor {
        let (runner, digest) = (Arc::clone(&self.runner), self.digest.clone());
        SandboxedContributor::declaring(runner, digest, self.imports.clone().into(), declaration)
    }

    /// The SHA-256 of the file, as 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether its compiled code came from the cache.
    #[must_use]
    pub fn from_cache(&self) -> bool {
        self.from_cache
    }

    /// The names of what it imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.imports
    }
}

impl std::fmt::Debug for LoadedComponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedComponent").field("digest", &self.digest).finish_non_exhaustive()
    }
}

/// Whether a component is for this host at all, by the names of what it exports and imports.
pub(super) fn check_world(survey: &Survey) -> Result<()> {
    match survey.exports.iter().find(|export| export.name == INTERFACE) {
        Some(export) if export.is_interface => {}
        Some(_) => return Err(wrong_type(INTERFACE, "an interface")),
        None => return Err(no_interface(survey)),
    }
    let refused: Vec<_> = survey.imports.iter().filter(|import| offered::offer(import).is_none()).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = refused.iter().take(8).map(|name| shown_within(name, MAX_NAME_BYTES / 2)).collect();
    let more =
        if refused.len() > names.len() { format!(" and {} more", refused.len() - names.len()) } else { String::new() };
    Err(Error::load(
        Code::ForbiddenImport,
        format!(
            "it imports {}{more}, which this host does not offer: build it to import nothing but WASI 0.2 and wasi:config/store",
            names.join(", ")
        ),
    ))
}

/// Why the contract's interface is not there: another version is, or nothing like it.
fn no_interface(survey: &Survey) -> Error {
    match survey.exports.iter().find(|export| is_other_version(&export.name)) {
        Some(export) => Error::load(
            Code::UnsupportedVersion,
            format!(
                "it exports {}; this host has version {CONTRACT_VERSION} of the contract: build it for that one",
                shown_within(&export.name, MAX_NAME_BYTES)
            ),
        ),
        None => missing_export(INTERFACE),
    }
}

fn is_other_version(name: &str) -> bool {
    name.strip_prefix(INTERFACE_OF_ANY_VERSION).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
}
