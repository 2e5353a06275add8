//! A component that was read, checked and compiled, and not yet asked anything.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use super::contract::{DECLARE, INTERFACE, INTERFACE_OF_ANY_VERSION, RESOLVE};
use super::contributor::SandboxedContributor;
use super::engine::{Inner, Sandbox};
use super::guarded::guarded;
use super::survey::Survey;
use super::{MAX_COMPONENT_BYTES, compile};
use crate::contract::CONTRACT_VERSION;
use crate::error::{Code, Error, Result};
use crate::text::{shown, shown_within};

/// The most bytes of a name from a component in a message.
const MAX_NAME_BYTES: usize = 256;

/// A component that this host can run.
pub struct LoadedComponent {
    sandbox: Arc<Inner>,
    component: Component,
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
        let inner = &self.inner;
        let digest = hex::encode(Sha256::digest(&bytes));
        if let Some(component) = inner.cache.as_ref().and_then(|cache| cache.get(&inner.engine, &digest)) {
            return Ok(LoadedComponent { sandbox: Arc::clone(inner), component, digest, from_cache: true });
        }
        let engine = inner.engine.clone();
        let component = guarded(move || compile::compile(&engine, &bytes))?;
        check_functions(&component, &inner.engine)?;
        if let Some(cache) = &inner.cache {
            cache.put(&component, &digest);
        }
        Ok(LoadedComponent { sandbox: Arc::clone(inner), component, digest, from_cache: false })
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
        let pre = self.sandbox.linker.instantiate_pre(&self.component).map_err(|error| {
            Error::load(Code::ForbiddenImport, format!("it cannot be linked: {}", shown(&format!("{error:#}"))))
        })?;
        let (_, interface) = self.component.get_export(None, INTERFACE).ok_or_else(|| missing_export(INTERFACE))?;
        let function = |name| {
            let found = self.component.get_export_index(Some(&interface), name);
            found.ok_or_else(|| missing_export(name))
        };
        SandboxedContributor::new(Arc::clone(&self.sandbox), pre, [function(DECLARE)?, function(RESOLVE)?])
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
    pub fn imports(&self) -> Vec<String> {
        let types = self.component.component_type();
        types.imports(&self.sandbox.engine).map(|(name, _)| name.to_owned()).collect()
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
    match survey.imports.as_slice() {
        [] => Ok(()),
        imports => {
            let names: Vec<_> = imports.iter().take(8).map(|name| shown_within(name, MAX_NAME_BYTES / 2)).collect();
            let more = if imports.len() > names.len() {
                format!(" and {} more", imports.len() - names.len())
            } else {
                String::new()
            };
            Err(Error::load(
                Code::ForbiddenImport,
                format!(
                    "it imports {}{more}, which this host does not offer: build it for wasm32-unknown-unknown, which imports nothing",
                    names.join(", ")
                ),
            ))
        }
    }
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

/// Whether the interface is one, and has the functions. Their types are looked at once it is instantiated.
fn check_functions(component: &Component, engine: &wasmtime::Engine) -> Result<()> {
    let types = component.component_type();
    let Some(export) = types.get_export(engine, INTERFACE) else { return Err(missing_export(INTERFACE)) };
    let ComponentItem::ComponentInstance(interface) = export.ty else {
        return Err(wrong_type(INTERFACE, "an interface"));
    };
    for function in [DECLARE, RESOLVE] {
        match interface.get_export(engine, function).map(|export| export.ty) {
            None => return Err(missing_export(function)),
            Some(ComponentItem::ComponentFunc(_)) => {}
            Some(_) => return Err(wrong_type(function, "a function")),
        }
    }
    Ok(())
}

fn missing_export(name: &str) -> Error {
    Error::load(
        Code::MissingExport,
        format!(
            "it does not export {name}: build it for the world shell-env-contributor of the contract, version {CONTRACT_VERSION}"
        ),
    )
}

fn wrong_type(name: &str, expected: &str) -> Error {
    Error::load(
        Code::WrongType,
        format!("its export {name} is not {expected}: build it with the contract's own WIT file"),
    )
}
