//! Components made to order from `fixtures/guests/base.wat`.

use std::collections::BTreeMap;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A contributor whose parts a test chooses, as text of WebAssembly.
#[derive(Clone)]
pub struct Guest {
    parts: BTreeMap<&'static str, String>,
}

impl Guest {
    /// A contributor with which nothing is wrong.
    pub fn good() -> Self {
        let parts = [
            ("pages", "2"),
            ("extra", ""),
            ("realloc", "(call $allocate (local.get $size))"),
            ("declare", "(i32.const 1024)"),
            ("resolve", "(i32.const 1408)"),
            ("sensitive", "\\00"),
        ];
        Self { parts: parts.map(|(name, text)| (name, text.to_owned())).into() }
    }

    /// The same with one part replaced: `pages`, `extra`, `realloc`, `declare`, `resolve` or `sensitive`.
    pub fn with(mut self, part: &'static str, text: impl Into<String>) -> Self {
        assert!(self.parts.insert(part, text.into()).is_some(), "{part} is no part");
        self
    }

    /// The core module, with the contract embedded.
    pub fn core_module(&self) -> Vec<u8> {
        self.embedded(&std::fs::read_to_string(super::project().join("wit/contributor.wit")).unwrap())
    }

    /// The component.
    pub fn component(&self) -> Vec<u8> {
        componentize(&self.core_module())
    }

    /// The component for another text of the contract, whose module exports are renamed with `rename`.
    pub fn component_for(&self, wit: &str) -> Vec<u8> {
        componentize(&self.embedded(wit))
    }

    fn embedded(&self, wit: &str) -> Vec<u8> {
        let mut text = std::fs::read_to_string(super::fixtures().join("guests/base.wat")).unwrap();
        for (name, part) in &self.parts {
            text = text.replace(&format!("@{name}@"), part);
        }
        let version = wit.split_once("package dsh:shell-env").unwrap().1.split_once(';').unwrap().0;
        text = text.replace("@1.0.0", version);
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut resolve = Resolve::default();
        let package = resolve.push_str("contributor.wit", wit).unwrap();
        let world = resolve.select_world(&[package], None).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
        module
    }
}

/// A component of a core module that has its contract embedded.
pub fn componentize(module: &[u8]) -> Vec<u8> {
    ComponentEncoder::default().module(module).unwrap().encode().unwrap()
}
