//! Telling what a file is, and turning a core module that has the contract embedded into a component.

use std::borrow::Cow;
use std::collections::HashSet;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME as PREVIEW1, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

use super::contract::{DECLARE, INTERFACE, RESOLVE};
use super::survey::malformed;
use crate::error::{Code, Error, Result};
use crate::text::{shown, shown_within};

/// What bindings generators call the custom section that embeds the contract in a core module.
const EMBEDDED_CONTRACT: &str = "component-type";

/// The most imports, and exports, of a core module: every one has a name to be kept.
const MAX_NAMES: usize = 10_000;

/// The most bytes of a name from a module in a message.
const MAX_NAME_BYTES: usize = 256;

/// The bytes of a component: as they are, or encoded from a core module.
///
/// # Errors
/// `not-a-component` for anything else; `forbidden-import`, `missing-export`, `wrong-type` or `malformed` where
/// the module and what is embedded in it do not fit.
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
    let module = Module::read(bytes)?;
    if !module.embeds_contract {
        return Err(not_a_component(
            "it is a core module without the contract embedded: build it with wit-bindgen for the contract's world, or make a component of it with `wasm-tools component new`",
        ));
    }
    let encoded = ComponentEncoder::default()
        .module(bytes)
        .and_then(|encoder| encoder.adapter(PREVIEW1, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER))
        .and_then(|mut encoder| encoder.encode());
    encoded.map(Cow::Owned).map_err(|error| module.refused(&format!("{error:#}")))
}

/// What a core module says at first sight.
#[derive(Default)]
struct Module {
    embeds_contract: bool,
    imports: Vec<String>,
    exports: HashSet<String>,
}

impl Module {
    fn read(bytes: &[u8]) -> Result<Self> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            module.take(payload.map_err(malformed)?).map_err(malformed)?;
            if module.imports.len() > MAX_NAMES || module.exports.len() > MAX_NAMES {
                return Err(Error::load(
                    Code::Malformed,
                    format!("it has more than {MAX_NAMES} imports or exports: build it with less"),
                ));
            }
        }
        Ok(module)
    }

    fn take(&mut self, payload: Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::CustomSection(section) => self.embeds_contract |= section.name().starts_with(EMBEDDED_CONTRACT),
            Payload::ImportSection(imports) => {
                for import in imports.into_imports().take(MAX_NAMES + 1) {
                    self.imports.push(import?.module.to_owned());
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports.into_iter().take(MAX_NAMES + 1) {
                    self.exports.insert(export?.name.to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Why no component could be made of it, given the encoder's words.
    fn refused(&self, words: &str) -> Error {
        let words = shown(words);
        if let Some(import) = self.imports.iter().find(|import| *import != PREVIEW1) {
            return Error::load(
                Code::ForbiddenImport,
                format!(
                    "it imports {}, which this host does not offer: build it for wasm32-unknown-unknown, where it imports nothing, or for WASI",
                    shown_within(import, MAX_NAME_BYTES)
                ),
            );
        }
        if let Some(missing) =
            [DECLARE, RESOLVE].into_iter().find(|name| !self.exports.contains(&format!("{INTERFACE}#{name}")))
        {
            return Error::load(
                Code::MissingExport,
                format!("it does not export {INTERFACE}#{missing} ({words}): build it with the contract's bindings"),
            );
        }
        if words.contains("mismatch") {
            return Error::load(
                Code::WrongType,
                format!(
                    "a function has another type than the contract's ({words}): build it with the contract's own WIT file"
                ),
            );
        }
        Error::load(
            Code::Malformed,
            format!(
                "it is a core module that does not fit the contract embedded in it ({words}): build it again with one version of the tools"
            ),
        )
    }
}

fn not_a_component(message: &str) -> Error {
    Error::load(Code::NotAComponent, message)
}
