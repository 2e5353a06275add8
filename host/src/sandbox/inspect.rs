//! What a file is, without compiling or running any of it.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::contract::INTERFACE_OF_ANY_VERSION;
use super::survey::{Survey, malformed};
use super::{componentize, features};
use crate::error::Result;

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
}

/// Inspects the bytes of a component, or of a core module that has the contract embedded.
///
/// # Errors
/// `not-a-component`, `malformed`, `forbidden-import`.
pub fn inspect(bytes: &[u8]) -> Result<Inspection> {
    let component = componentize::component(bytes)?;
    let survey = Survey::of(&component)?;
    let version =
        survey.exports.iter().find_map(|export| export.name.strip_prefix(INTERFACE_OF_ANY_VERSION)?.strip_prefix('@'));
    Ok(Inspection {
        kind: if matches!(component, std::borrow::Cow::Borrowed(_)) { "component" } else { "core module" },
        size: bytes.len(),
        sha256: hex::encode(Sha256::digest(bytes)),
        contract: version.map(str::to_owned),
        features: features::needed(&component).map_err(malformed)?,
        imports: survey.imports.into_iter().map(|name| Import { allows: allowed_by(&name), name }).collect(),
        exports: survey.exports.into_iter().map(|export| export.name).collect(),
    })
}

/// The names of what a component imports, in order.
///
/// # Errors
/// As [`inspect`].
pub fn imports(bytes: &[u8]) -> Result<Vec<String>> {
    Ok(Survey::of(&componentize::component(bytes)?)?.imports)
}

/// What an import would allow a component here.
fn allowed_by(_: &str) -> &'static str {
    "nothing: the host does not offer it and refuses the component"
}
