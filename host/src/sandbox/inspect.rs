//! What a file is, without compiling or running any of it.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::contract::INTERFACE_OF_ANY_VERSION;
use super::guarded::guarded;
use super::survey::{Survey, malformed};
use super::{componentize, features, offered};
use crate::error::Result;
use crate::text::shown_within;

/// What a component file says about itself, none of it believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// `component`, or `core module` where the host made a component of one.
    pub kind: &'static str,
    /// Bytes of the file.
    pub size: usize,
    /// SHA-256 of the file, as 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// The version of the contract that it exports, if it does.
    pub contract: Option<String>,
    /// The names of what it exports.
    pub exports: Vec<String>,
    /// What it imports, and what that would allow it.
    pub imports: Vec<Import>,
    /// The proposals of WebAssembly that it needs beyond the baseline.
    pub features: Vec<&'static str>,
}

/// Something that a component imports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Import {
    /// The name of the interface or function.
    pub name: String,
    /// What it allows on this host.
    pub allows: &'static str,
    /// The grant that opens it, if there is one.
    pub grant: Option<&'static str>,
    /// What it is about, in a word or two; none where nobody need think of it.
    #[serde(skip)]
    pub about: Option<&'static str>,
}

impl Import {
    /// What an import of this name allows on this host.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        match offered::offer(&name) {
            Some(offered::Offer { allows, grant, about }) => Self { name, allows, grant, about },
            None => Self { allows: refusal(&name), name, grant: None, about: Some("what is refused") },
        }
    }
}

/// Why the host does not take a component that imports this.
fn refusal(import: &str) -> &'static str {
    if import.starts_with("wasi:") {
        "refused: this host offers parts of WASI 0.2, and this is none of them"
    } else if import.starts_with("wasi_") {
        "refused: this host offers WASI 0.2: make a component of the module, with an adapter"
    } else {
        "refused: this host does not offer it"
    }
}

/// The most names that are listed of what a component imports, and of what it exports.
const MAX_NAMES: usize = 256;

/// The most bytes of one of them.
const MAX_NAME_BYTES: usize = 512;

/// Inspects the bytes of a component, or of a core module that has the contract embedded.
///
/// # Errors
/// `not-a-component`, `malformed`, `forbidden-import`, `compile-limit` when it takes longer than 20 s.
pub fn inspect(bytes: impl Into<Arc<[u8]>>) -> Result<Inspection> {
    let bytes = bytes.into();
    guarded(move || inspect_here(&bytes))
}

fn inspect_here(bytes: &[u8]) -> Result<Inspection> {
    let component = componentize::component(bytes)?;
    let survey = Survey::of(&component)?;
    let version = survey
        .exports
        .iter()
        .find_map(|export| export.name.strip_prefix(INTERFACE_OF_ANY_VERSION)?.strip_prefix('@'))
        .map(|version| shown_within(version, MAX_NAME_BYTES));
    let exports: Vec<_> = survey.exports.into_iter().map(|export| export.name).collect();
    Ok(Inspection {
        kind: if matches!(component, Cow::Borrowed(_)) { "component" } else { "core module" },
        size: bytes.len(),
        sha256: hex::encode(Sha256::digest(bytes)),
        contract: version,
        features: features::needed(&component).map_err(malformed)?,
        imports: described(&survey.imports),
        exports: bounded(&exports),
    })
}

/// The names of what a component imports, in order; at most 256, and then how many more there are.
///
/// # Errors
/// As [`inspect`].
pub fn imports(bytes: impl Into<Arc<[u8]>>) -> Result<Vec<String>> {
    let bytes = bytes.into();
    guarded(move || Ok(bounded(&Survey::of(&componentize::component(&bytes)?)?.imports)))
}

/// Imports as they may be listed.
fn described(names: &[String]) -> Vec<Import> {
    let mut imports: Vec<_> = bounded(names).into_iter().map(Import::named).collect();
    if let (true, Some(surplus)) = (names.len() > MAX_NAMES, imports.last_mut()) {
        (surplus.allows, surplus.about) = ("too many to be listed", None);
    }
    imports
}

/// Names as they may be listed, however many a stranger wrote and however long.
fn bounded(names: &[String]) -> Vec<String> {
    let mut listed: Vec<_> = names.iter().take(MAX_NAMES).map(|name| shown_within(name, MAX_NAME_BYTES)).collect();
    if names.len() > MAX_NAMES {
        listed.push(format!("… and {} more", names.len() - MAX_NAMES));
    }
    listed
}
