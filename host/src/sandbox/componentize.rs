//! Telling what a file is, and turning a core module that has the contract embedded into a component.

use std::borrow::Cow;

use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

use super::survey::malformed;
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// What bindings generators call the custom section that embeds the contract in a core module.
const EMBEDDED_CONTRACT: &str = "component-type";

/// The import module of preview 1, for which an adapter would be needed.
const PREVIEW_1: &str = "wasi_snapshot_preview1";

/// The bytes of a component: as they are, or encoded from a core module.
///
/// # Errors
/// `not-a-component` for anything else, `forbidden-import` for a module that needs WASI preview 1,
/// `malformed` where the module and what is embedded in it do not fit.
pub(super) fn component(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    if Parser::is_component(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    if !Parser::is_core_wasm(bytes) {
        let found = if bytes.is_empty() { "it is empty" } else { "it does not begin as WebAssembly does" };
        return Err(not_a_component(&format!(
            "{found}: give a component, as `cargo build --target wasm32-unknown-unknown` with wit-bindgen makes it"
        )));
    }
    if !embeds_contract(bytes)? {
        return Err(not_a_component(
            "it is a core module without the contract embedded: build it with wit-bindgen for the contract's world, or make a component of it with `wasm-tools component new`",
        ));
    }
    let encoded = ComponentEncoder::default().module(bytes).and_then(|mut encoder| encoder.encode());
    encoded.map(Cow::Owned).map_err(|error| {
        Error::load(
            Code::Malformed,
            format!("it is a core module that does not fit the contract embedded in it ({}): build it again with one version of the tools", shown(&format!("{error:#}"))),
        )
    })
}

/// Whether a core module has the contract embedded.
fn embeds_contract(module: &[u8]) -> Result<bool> {
    let mut embeds = false;
    for payload in Parser::new(0).parse_all(module) {
        match payload.map_err(malformed)? {
            Payload::CustomSection(section) => embeds |= section.name().starts_with(EMBEDDED_CONTRACT),
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import.map_err(malformed)?;
                    if import.module == PREVIEW_1 {
                        return Err(Error::load(
                            Code::ForbiddenImport,
                            format!(
                                "it imports {PREVIEW_1}, which this host does not offer: build it for wasm32-unknown-unknown, which imports nothing"
                            ),
                        ));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(embeds)
}

fn not_a_component(message: &str) -> Error {
    Error::load(Code::NotAComponent, message)
}
